import { EXIT, usageError } from '../../../errors.ts';
import { findSession } from '../../../session/find-session.ts';
import { forkSession } from '../../../timetravel/fork/fork.ts';
import { defineCommand, JSON_OPTION, QUIET_OPTION, SNAPSHOT_FORMS } from '../../command-line/command.ts';
import { givenSession } from '../../command-line/session-argument.ts';
import { json } from '../../output/format.ts';
import { printNewSession, recordJson } from '../../output/session.ts';

export const sessionFork = defineCommand({
  usage: 'session fork [source]',
  group: 'sessions',
  summary: 'create a session from a snapshot of another session',
  description:
    'Create a session that continues from a snapshot of another session: same commits, index, uncommitted and ignored ' +
    'files, xdg/ and config/. Without --at, autocommit the other session first and fork that snapshot. The other ' +
    'session stays as it is; it may have been removed.',
  positionals: {
    source: { type: 'string', describe: 'session to fork (default: the session of the current directory)' },
  },
  options: {
    session: { type: 'string', describe: 'session to fork, in place of the argument' },
    id: { type: 'string', describe: 'id of the new session (default: sess-<date>-<time>-<random>)' },
    at: {
      type: 'string',
      describe: `fork this snapshot: ${SNAPSHOT_FORMS}`,
    },
    count: { type: 'string', describe: 'create this many sessions, named <id>-1, <id>-2, …' },
    quiet: QUIET_OPTION,
    json: JSON_OPTION,
  },
  oldOptions: { from: 'session', 'session-id': 'session' },
  examples: [
    ['agt session fork fix-login --id fix-login-2', 'try another way from here'],
    ['agt session fork fix-login --at "tests pass"', 'continue from where the tests still passed'],
    ['agt session fork fix-login --id try --count 3', 'create try-1, try-2 and try-3'],
  ],
  run: async (args, context) => {
    const repository = await context.repository();
    const given = givenSession({ id: args.source, session: args.session });
    const source = findSession(repository, given, context.cwd);
    const { records, warnings } = await forkSession(repository, source, {
      id: args.id,
      snapshot: args.at,
      count: args.count === undefined ? undefined : parseCount(args.count),
      now: context.now(),
    });
    for (const warning of warnings) context.err(`warning: ${warning}\n`);
    if (args.json && args.count !== undefined) context.out(json(records.map(recordJson)));
    else for (const record of records) printNewSession(context, record, args.json);
    return EXIT.done;
  },
});

/** Nobody races that many agents: a larger number is a mistake. */
const MOST_FORKS = 100;

function parseCount(text: string): number {
  const count = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  if (count <= MOST_FORKS) return count;
  throw usageError(`invalid number of forks "${text}"`, `give a number from 1 to ${MOST_FORKS}`);
}
