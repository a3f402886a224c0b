import { AgtError, EXIT, usageError } from '../../../errors.ts';
import { isAttached } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { forkSession } from '../../../timetravel/fork/fork.ts';
import { forkFolder } from '../../../timetravel/fork/fork-folder.ts';
import {
  defineCommand,
  FS_SNAPSHOTS_OPTION,
  JSON_OPTION,
  QUIET_OPTION,
  SNAPSHOT_FORMS,
  withValue,
} from '../../command-line/command.ts';
import { givenSession } from '../../command-line/session-command.ts';
import type { Context } from '../../context.ts';
import { overlayPath } from '../../creating.ts';
import { printNewSession, recordJson } from '../../output/session.ts';
import { sessionHere } from '../../session-here.ts';

export const sessionFork = defineCommand({
  usage: 'session fork [source]',
  group: 'sessions',
  summary: 'create a session from a snapshot of another session',
  description:
    'Create a session that continues from a snapshot of another session: same commits, index, uncommitted and ignored ' +
    'files, xdg/ and config/. Without --at, autocommit the other session first and fork that snapshot. The other ' +
    'session stays as it is; it may have been removed. In a folder with snapshots of its own (agt snapshot), fork those.',
  positionals: { source: withValue('session to fork (default: the session of the current directory)') },
  options: {
    session: withValue('session to fork, in place of the argument'),
    id: withValue('id of the new session (default: sess-<date>-<time>-<random>)'),
    at: withValue(`fork this snapshot: ${SNAPSHOT_FORMS}`),
    count: withValue('create this many sessions, named <id>-1, <id>-2, …'),
    'fs-snapshots': FS_SNAPSHOTS_OPTION,
    'working-copy': {
      choices: ['worktree', 'cow-overlay'],
      describe: 'cow-overlay: commands of agt session run see the sandbox at the path of your checkout',
    },
    quiet: QUIET_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt session fork fix-login --id fix-login-2', 'try another way from here'],
    ['agt session fork fix-login --at "tests pass"', 'continue from where the tests still passed'],
    ['agt session fork fix-login --id try --count 3', 'create try-1, try-2 and try-3'],
  ],
  run: async (args, context) => {
    const given = givenSession({ id: args.source, session: args.session });
    const source = await sessionHere(context, given);
    const request = {
      id: args.id,
      snapshot: args.at,
      now: context.now(),
      snapshots: args['fs-snapshots'] ?? (await context.setting('fs.snapshots')),
    };
    const { records, warnings } = isAttached(source.record)
      ? await forkHere(context, source, request, args.count)
      : await forkSession(source, {
          ...request,
          count: args.count === undefined ? undefined : parseCount(args.count),
          standsAt: await standsAt(context, source, args['working-copy']),
        });
    for (const warning of warnings) context.err(`warning: ${warning}\n`);
    if (args.json && args.count !== undefined) return { json: records.map(recordJson) };
    for (const record of records) await printNewSession(context, record, args.json);
    return EXIT.done;
  },
});

/** A fork stands where its source does, unless the user asks for something else. */
async function standsAt(
  context: Context,
  { repository, record: { stands_at } }: Session,
  asked: string | undefined,
): Promise<string | undefined> {
  return asked === undefined && stands_at !== undefined ? stands_at : overlayPath(context, repository, asked);
}

/** A folder with snapshots of its own: the fork is a session of the repository that the folder belongs to. */
async function forkHere(
  context: Context,
  source: Session,
  request: Parameters<typeof forkFolder>[2],
  count: string | undefined,
) {
  if (count !== undefined) throw usageError('--count is for forks of sessions', 'leave it out');
  const user = await context.repositoryIfAny();
  if (user === undefined) {
    throw new AgtError(`${source.record.checkout} is in no git repository, and a sandbox needs one`, {
      hints: ['to go back in the folder itself: agt snapshot restore', 'or make a repository: git init'],
    });
  }
  const { record, warnings } = await forkFolder(user, source, request);
  return { records: [record], warnings };
}

/** Nobody races that many agents: a larger number is a mistake. */
const MOST_FORKS = 100;

function parseCount(text: string): number {
  const count = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  if (count <= MOST_FORKS) return count;
  throw usageError(`invalid number of forks "${text}"`, `give a number from 1 to ${MOST_FORKS}`);
}
