import { sep } from 'node:path';
import { AgtError, usageError } from '../../../errors.ts';
import { adoptSession } from '../../../lifecycle/adopt.ts';
import { checkId, type SessionId } from '../../../session/id.ts';
import { listUpstreamRecords } from '../../../session/upstream-record.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { givenSession, SESSION_ARGUMENT, SESSION_OPTION } from '../../command-line/session-command.ts';
import type { Context } from '../../context.ts';
import { describeNotCaptured, printNewSession, recordJson } from '../../output/session.ts';

export const sessionAdopt = defineCommand({
  usage: 'session adopt [id]',
  group: 'sessions',
  summary: 'take over a session that the agt of simbo1905 made',
  description:
    'Give a session of the agt of simbo1905 (0.2) a work branch and a shadow branch, and capture its files. The commits ' +
    'of the agent become the work branch, without the snapshots between them. The files stay as they are, and the old ' +
    'branch stays reachable from the first snapshot.',
  positionals: { id: SESSION_ARGUMENT },
  options: { session: SESSION_OPTION, json: JSON_OPTION },
  examples: [['agt session adopt session-1736000000000', 'take over one session']],
  run: async (args, context) => {
    const repository = await context.repository();
    const given = givenSession(args);
    const id = given === undefined ? await sessionHere(context) : checkId(given);
    const { record, commit, failed } = await adoptSession(repository, id, context.now());
    if (!args.json) await printNewSession(context, record, false);
    context.err(describeNotCaptured(record, failed));
    return { json: { ...recordJson(record), commit: commit ?? null, failed }, failed: failed.length > 0 };
  },
});

/** @throws AgtError if the current directory is in no such session. */
async function sessionHere(context: Context): Promise<SessionId> {
  const found = listUpstreamRecords(await context.repository());
  const here = found.find(({ sandbox }) => `${context.cwd}${sep}`.startsWith(`${sandbox}${sep}`));
  if (here !== undefined) return here.session_id;
  if (found.length === 0) throw new AgtError('there is no session to adopt: all have their two branches');
  throw usageError('no session given', `sessions to adopt: ${found.map((one) => one.session_id).join(', ')}`);
}
