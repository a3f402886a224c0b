import { usageError } from '../../../errors.ts';
import { namedSession } from '../../../session/locate.ts';
import { forkSession } from '../../../timetravel/fork/fork.ts';
import { defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { json } from '../../output/print.ts';
import { printCreated } from '../../output/session.ts';

export const sessionFork = defineCommand({
  usage: 'session fork',
  group: 'sessions',
  summary: 'make a session that goes on from the state of another',
  description:
    'The other session is captured first, unless --at names a state of it; that works too when it was removed. The new ' +
    'one gets its work branch, index, uncommitted and ignored files, xdg/ and config/; the other one stays as it is.',
  options: {
    from: { type: 'string', demandOption: true, describe: 'the session to fork' },
    id: { type: 'string', describe: 'the new id; by default sess-<date>-<time>-<xxxx>' },
    at: {
      type: 'string',
      describe:
        'fork this state: a commit of the shadow branch, @{n} (n autocommits ago), a time, or a label',
    },
    count: { type: 'string', describe: 'so many forks that race, named <id>-1, <id>-2, …' },
    json: JSON_OPTION,
  },
  examples: [
    ['agt session fork --from fix-login --id fix-login-2', 'try another way from here'],
    ['agt session fork --from fix-login --at "tests pass"', 'go on from where it still worked'],
    ['agt session fork --from fix-login --id try --count 3', 'try-1, try-2 and try-3'],
  ],
  run: async (args, program) => {
    const repository = await program.repository();
    const { records, warnings } = await forkSession(repository, namedSession(repository, args.from), {
      id: args.id,
      snapshot: args.at,
      count: args.count === undefined ? undefined : parseCount(args.count),
      now: program.now(),
    });
    for (const warning of warnings) program.err(`warning: ${warning}\n`);
    if (args.json && args.count !== undefined) program.out(json(records));
    else for (const record of records) printCreated(program, record, args.json, []);
    return 0;
  },
});

function parseCount(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw usageError(`'${text}' is not a number of forks`);
}
