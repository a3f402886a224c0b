import { EXIT } from '../../../errors.ts';
import { syncSession } from '../../../landing/sync.ts';
import { findSession } from '../../../session/find-session.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION, WAIT_OPTION } from '../../command-line/command.ts';
import { parseDuration } from '../../command-line/duration.ts';
import { givenSession, SESSION_ARGUMENT, SESSION_OPTION } from '../../command-line/session-argument.ts';
import { interruptible } from '../../output/interrupted.ts';
import { printSync } from '../../output/landing.ts';

export const sessionSync = defineCommand({
  usage: 'session sync [id]',
  group: 'sessions',
  summary: 'bring your branch into a sandbox',
  description:
    'Autocommit the session, then let git merge the user branch into the branch of the sandbox, or rebase it. Conflicts ' +
    'stay in the sandbox, for you or the agent to solve; agt session undo goes back to the snapshot before. Exit with 1 ' +
    'if there are conflicts; --dry-run finds them without touching the sandbox.',
  positionals: { id: SESSION_ARGUMENT },
  options: {
    session: SESSION_OPTION,
    rebase: {
      type: 'boolean',
      default: false,
      describe: 'rebase the commits of the sandbox instead of merging',
    },
    from: { type: 'string', describe: 'the branch to bring in (default: the user branch)' },
    wait: WAIT_OPTION,
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt sync fix-login', 'merge your branch into the sandbox'],
    ['agt sync fix-login --rebase', "rebase the agent's commits onto your branch"],
  ],
  run: async (args, context) => {
    const repository = await context.repository();
    const record = findSession(repository, givenSession(args), context.cwd);
    const request = {
      rebase: args.rebase,
      from: args.from,
      waitMs: parseDuration('wait', args.wait),
      dryRun: args['dry-run'],
      now: context.now(),
    };
    const result = await interruptible(context, repository, record, () =>
      syncSession(repository, record, request),
    );
    printSync(context, result, args);
    return result.conflicts.length > 0 ? EXIT.failed : EXIT.done;
  },
});
