import { EXIT } from '../../../errors.ts';
import { findSession } from '../../../session/find-session.ts';
import { defineCommand, SESSION_ID_OPTION } from '../../command-line/command.ts';

export const sessionPath = defineCommand({
  usage: 'session path [id]',
  group: 'sessions',
  summary: 'print the path of the sandbox',
  positionals: { id: SESSION_ID_OPTION },
  examples: [['cd "$(agt session path fix-login)"', 'go to the sandbox']],
  run: async (args, context) => {
    const repository = await context.repository();
    context.out(`${findSession(repository, args.id, context.cwd).sandbox}\n`);
    return EXIT.done;
  },
});
