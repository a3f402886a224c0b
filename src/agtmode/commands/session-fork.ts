import { forkSession } from '../../session/fork.ts';
import { namedSession } from '../../session/locate.ts';
import { defineCommand, JSON_OPTION } from '../command.ts';
import { printCreated } from './printed-session.ts';

export const sessionFork = defineCommand({
  usage: 'session fork',
  group: 'sessions',
  summary: 'make a session that goes on from the state of another',
  description:
    'The other session is captured first. The new one gets its work branch, index, uncommitted and ignored files, ' +
    'xdg/ and config/; the other one stays as it is.',
  options: {
    from: { type: 'string', demandOption: true, describe: 'the session to fork' },
    id: { type: 'string', describe: 'the new id; by default sess-<date>-<time>-<xxxx>' },
    json: JSON_OPTION,
  },
  examples: [['agt session fork --from fix-login --id fix-login-2', 'try another way from here']],
  run: async (args, program) => {
    const repository = await program.repository();
    const { record, warnings } = await forkSession(repository, namedSession(repository, args.from), {
      id: args.id,
      now: program.now(),
    });
    for (const warning of warnings) program.err(`warning: ${warning}\n`);
    printCreated(program, record, args.json, []);
    return 0;
  },
});
