/** agt session resume: starts the agent of a session again, with its conversation. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { AgtError, usageError } from '../../../errors.ts';
import { shownId } from '../../../folders/store.ts';
import { shortOid } from '../../../git/files/ref-files.ts';
import { INTEGRATIONS } from '../../../integrations/tools.ts';
import { copyTranscript } from '../../../integrations/transcript.ts';
import { shellQuote } from '../../../process/shell-quote.ts';
import { endAs, withCommand } from '../../../running/command.ts';
import { commandToRestore } from '../../../session/advised-commands.ts';
import type { SessionId } from '../../../session/id.ts';
import { isAttached, readRecord, type SessionRecord } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { defineSessionCommand, option, SNAPSHOT_FORMS } from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { environmentFor } from '../../running.ts';
import { sessionRun } from './run.ts';

export const sessionResume = defineSessionCommand({
  name: 'session resume',
  alsoFolders: true,
  takesRest: 'command',
  summary: 'start the agent of a session again, with its conversation',
  description:
    'Start the agent that worked in a session, or in a folder with snapshots, with its conversation there. With --at, ' +
    'the conversation ends at that snapshot: before its prompt, or after its call of a tool. agt writes a copy of the ' +
    "transcript for that; the agent's own stays as it is. So do the files: agt restore brings them back. agt can cut the " +
    'transcripts of Claude Code, Codex, Qwen Code and pi. Words after -- go to the agent.',
  options: {
    at: option.value(`end the conversation at this snapshot: ${SNAPSHOT_FORMS}`),
    whole: option.flag('resume the whole conversation, also of an agent whose transcript agt cannot cut'),
    ...option.shared('dry-run'),
  },
  runsLong: true,
  examples: [
    ['agt resume fix-login', 'go on where the agent has stopped'],
    [
      'agt restore fix-login @{3} && agt resume fix-login --at @{4}',
      'go back in the files and in the conversation',
    ],
    ['agt session fork fix-login --at @{3} --resume', 'the same in a sandbox of its own'],
  ],
  run: async (args, context, session) => {
    const found = await conversationAt(context, session, args.at);
    return resume(context, session, args.whole ? { ...found, at: undefined } : found, args.rest, args);
  },
});

type Found = Awaited<ReturnType<typeof conversationAt>>;

/** The conversation that a session had at a snapshot, or now. @throws AgtError */
export async function conversationAt(context: Context, session: Session, spec: string | undefined) {
  const { repository, record } = session;
  const history = await session.history();
  const at = spec && (await session.find(spec, context.now(), history));
  const start = at ? history.findIndex(({ commit }) => commit === at.commit) : 0;
  const named = history.slice(start).find(({ conversation }) => conversation !== undefined);
  const agent = INTEGRATIONS.find(({ program, name }) => [program, name].includes(named?.agent ?? ''));
  if (named?.conversation === undefined || agent?.resume === undefined)
    throw new AgtError(`no snapshot of "${shownId(record)}" names a conversation that agt can resume`, {
      hints: ['agents with hooks of agt leave one: agt hooks install --all'],
    });
  const of = readRecord(repository, named.session as SessionId) ?? record;
  const hasMoved = of.moved !== undefined && named.time.toISOString() < of.moved.at;
  const place = hasMoved ? (of.moved?.from ?? '') : placeOf(of);
  // In a fork, it ends where the fork began.
  const end = at || (place === placeOf(record) || hasMoved ? undefined : named);
  return { agent, resuming: agent.resume, id: named.conversation, place, at: end };
}

/** Returns the exit code of the agent. */
export async function resume(
  context: Context,
  session: Session,
  { agent, resuming: { words, transcript }, id, place, at }: Found,
  rest: readonly string[],
  { whole = false, dryRun = false } = {},
) {
  const { record } = session;
  const env = isAttached(record) ? context.env : await environmentFor(context, record, undefined);
  const to = placeOf(record);
  const isCopy = at !== undefined || place !== to;
  if (isCopy && transcript === undefined && !whole)
    throw usageError(
      `agt cannot cut or move conversations of ${agent.title}`,
      'to resume all of it: --whole',
    );
  const copy = { id, newId: randomUUID(), at, from: place, to };
  // The session brings the copy of integrations/record-event.ts along.
  const kept = join(session.folder, 'xdg', agent.name);
  const path = isCopy && transcript ? copyTranscript({ ...transcript, kept }, env, copy, dryRun) : undefined;
  const line = [agent.program, ...words(path === undefined ? id : copy.newId, path), ...rest];
  if (dryRun) return `would run ${line.map(shellQuote).join(' ')}\n`;
  if (at !== undefined && place === to)
    context.err(
      `note: the files stay as they are; to go back: ${commandToRestore(record, shortOid(at.commit))}\n`,
    );
  if (isAttached(record))
    return endAs(await withCommand({ words: line, cwd: to, env }, ({ ended }) => ended));
  const run = { ids: [record.session_id], rest: line, new: false, ifRepo: false, everyMs: EVERY_MS };
  return sessionRun.run(run as never, { ...context, cwd: record.checkout ?? record.sandbox });
}

const EVERY_MS = 60_000;

/** As the agent sees it. */
function placeOf({ stands_at, checkout, sandbox }: SessionRecord): string {
  return stands_at ?? checkout ?? sandbox;
}
