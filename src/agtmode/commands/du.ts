import { showSize } from '../../config/values.ts';
import { EXIT } from '../../errors.ts';
import { readChain } from '../../maintenance/retention/chain.ts';
import { diskUse } from '../../maintenance/retention/du.ts';
import { namedSession } from '../../session/find-session.ts';
import { listRecords } from '../../session/record.ts';
import { defineCommand, flag, JSON_OPTION, withValue } from '../command-line/command.ts';
import { givenSession, SESSION_OPTION } from '../command-line/session-command.ts';
import { printFolders } from '../output/folders.ts';
import { json, plural, table } from '../output/format.ts';
import { repositoryHere } from '../session-here.ts';

export const du = defineCommand({
  usage: 'du [id]',
  group: 'maintenance',
  summary: 'show the disk space that the snapshots of each session use',
  description:
    'Show two sizes for each session. Deleting its snapshots would free its "own" size; snapshots of other sessions use ' +
    'the "shared" size as well. Objects that your branches or the work branches need are not counted.',
  positionals: { id: withValue('session id (default: all sessions)') },
  options: {
    session: SESSION_OPTION,
    folders: flag('show all folders that have snapshots without a session (see: agt snapshot)'),
    json: JSON_OPTION,
  },
  examples: [['agt du', 'show every session, and the free disk space']],
  run: async (args, context) => {
    if (args.folders) return printFolders(context, args.json);
    const repository = await repositoryHere(context);
    const given = givenSession(args);
    const only = given === undefined ? undefined : namedSession(repository, given).session_id;
    const { each, total, free } = await diskUse(repository);
    const { records } = listRecords(repository);
    const wanted = records.filter(({ session_id }) => only === undefined || session_id === only);
    const sessions: SessionUse[] = [];
    for (const record of wanted) {
      const { session_id, state } = record;
      const { own = 0, shared = 0 } = each.get(session_id) ?? {};
      const snapshots = (await readChain(repository, record)).snapshots.length;
      sessions.push({ session_id, state, snapshots, own, shared });
    }
    const budget = repository.settings.budget ?? null;
    if (args.json) context.out(json({ sessions, total, budget, free }));
    else context.out(`${sessionTable(sessions)}${totalLine(total, budget, free)}`);
    return EXIT.done;
  },
});

interface SessionUse {
  readonly session_id: string;
  readonly state: string;
  readonly snapshots: number;
  /** Bytes. */
  readonly own: number;
  readonly shared: number;
}

function sessionTable(sessions: readonly SessionUse[]): string {
  return table(
    sessions.map(({ session_id, state, snapshots, own, shared }) => [
      session_id,
      state,
      plural(snapshots, 'snapshot'),
      `${showSize(own)} own`,
      shared === 0 ? '' : `${showSize(shared)} shared`,
    ]),
  );
}

function totalLine(total: number, budget: number | null, free: number): string {
  const limit = budget === null ? '' : ` of a budget of ${showSize(budget)}`;
  return `total ${showSize(total)}${limit}, ${Number.isFinite(free) ? showSize(free) : 'unknown'} free\n`;
}
