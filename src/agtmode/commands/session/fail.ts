import { AgtError, EXIT } from '../../../errors.ts';
import { isActive } from '../../../filter/session-file.ts';
import { isHalfEnded } from '../../../running/sweep.ts';
import { required } from '../../command-line/command.ts';
import { defineSessionCommand } from '../../command-line/session-command.ts';
import { reportFailure } from '../../sweeping.ts';

export const sessionFail = defineSessionCommand({
  name: 'session fail',
  group: 'sessions',
  summary: 'say that the agent of a session has failed',
  description:
    'For a harness whose agent has failed: mark the session as failed, with the reason, and revert it if agt.autoRevert ' +
    'says so, as agt session sweep does. Otherwise the session stays as it is, and is active again when its agent goes on.',
  options: { reason: required('why; agt session show prints it') },
  examples: [['agt session fail fix-login --reason "no memory"', 'the agent ended without a result']],
  run: async (args, context, { repository, record }) => {
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
