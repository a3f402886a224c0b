import { AgtError, EXIT } from '../../../errors.ts';
import { isActive } from '../../../filter/session-file.ts';
import { isHalfEnded } from '../../../running/sweep.ts';
import { findSession } from '../../../session/find-session.ts';
import { defineCommand } from '../../command-line/command.ts';
import { givenSession, SESSION_ARGUMENT, SESSION_OPTION } from '../../command-line/session-argument.ts';
import { reportFailure } from '../../sweeping.ts';

export const sessionFail = defineCommand({
  usage: 'session fail [id]',
  group: 'sessions',
  summary: 'say that the agent of a session has failed',
  description:
    'For a harness whose agent has failed: mark the session as failed, with the reason, and revert it if agt.autoRevert ' +
    'says so, as agt session sweep does. Otherwise the session stays as it is, and is active again when its agent goes on.',
  positionals: { id: SESSION_ARGUMENT },
  options: {
    session: SESSION_OPTION,
    reason: { type: 'string', demandOption: true, describe: 'why; agt session show prints it' },
  },
  examples: [['agt session fail fix-login --reason "no memory"', 'the agent ended without a result']],
  run: async (args, context) => {
    const repository = await context.repository();
    const record = findSession(repository, givenSession(args), context.cwd);
    if (!isActive(record) && !isHalfEnded(record)) {
      throw new AgtError(`session "${record.session_id}" is already ${record.state}`, {
        hints:
          record.intent === undefined
            ? []
            : ['an agt was killed meanwhile; finish its work: agt doctor --fix'],
      });
    }
    await reportFailure(context, repository, record, args.reason);
    return EXIT.done;
  },
});
