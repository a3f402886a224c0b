import { EXIT } from '../../../errors.ts';
import { findSession } from '../../../session/find-session.ts';
import { defineCommand } from '../../command-line/command.ts';
import { givenSession, SESSION_ARGUMENT, SESSION_OPTION } from '../../command-line/session-argument.ts';

export const sessionPath = defineCommand({
  usage: 'session path [id]',
  group: 'sessions',
  summary: 'print the path of the sandbox',
  positionals: { id: SESSION_ARGUMENT },
  options: { session: SESSION_OPTION },
  examples: [['cd "$(agt session path fix-login)"', 'go to the sandbox']],
  run: async (args, context) => {
    const repository = await context.repository();
    const { sandbox, checkout } = findSession(repository, givenSession(args), context.cwd);
    context.out(`${checkout ?? sandbox}\n`);
    return EXIT.done;
  },
});
