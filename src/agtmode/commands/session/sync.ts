import { syncSession } from '../../../landing/sync.ts';
import { DRY_RUN_JSON, flag, WAIT_OPTION, withValue } from '../../command-line/command.ts';
import { parseDuration } from '../../command-line/duration.ts';
import { defineSessionCommand } from '../../command-line/session-command.ts';
import { interruptible } from '../../output/interrupted.ts';
import { reportSync } from '../../output/landing.ts';

export const sessionSync = defineSessionCommand({
  name: 'session sync',
  group: 'sessions',
  summary: 'bring your branch into a sandbox',
  description:
    'Autocommit the session, then let git merge the user branch into the branch of the sandbox, or rebase it. Conflicts ' +
    'stay in the sandbox, for you or the agent to solve; agt session undo goes back to the snapshot before. Exit with 1 ' +
    'if there are conflicts; --dry-run finds them without touching the sandbox.',
  options: {
    rebase: flag('rebase the commits of the sandbox instead of merging'),
    from: withValue('the branch to bring in (default: the user branch)'),
    wait: WAIT_OPTION,
    ...DRY_RUN_JSON,
  },
  examples: [
    ['agt sync fix-login', 'merge your branch into the sandbox'],
    ['agt sync fix-login --rebase', "rebase the agent's commits onto your branch"],
  ],
  run: async (args, context, session) => {
    const request = {
      rebase: args.rebase,
      from: args.from,
      waitMs: parseDuration('wait', args.wait),
      dryRun: args['dry-run'],
      now: context.now(),
    };
    const result = await interruptible(context, session, syncSession, request);
    return reportSync(context, result, args);
  },
});
