import { EXIT } from '../../../errors.ts';
import { unacceptSession } from '../../../landing/unaccept.ts';
import { findSession } from '../../../session/find-session.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { givenSession, SESSION_ARGUMENT, SESSION_OPTION } from '../../command-line/session-argument.ts';
import { interruptible } from '../../output/interrupted.ts';
import { printUnaccept } from '../../output/landing.ts';

export const sessionUnaccept = defineCommand({
  usage: 'session unaccept [id]',
  group: 'sessions',
  summary: 'take back agt session accept',
  description:
    'Move the branch back to the commit before the acceptance, let the worktree follow, and bring the session back. If ' +
    'the branch has newer commits, or a remote has the commit already, change nothing and print the git command that ' +
    'undoes it by a new commit.',
  positionals: { id: SESSION_ARGUMENT },
  options: { session: SESSION_OPTION, 'dry-run': DRY_RUN_OPTION, json: JSON_OPTION },
  examples: [['agt session unaccept fix-login', 'the branch and the session are as before']],
  run: async (args, context) => {
    const repository = await context.repository();
    const record = findSession(repository, givenSession(args), context.cwd);
    const request = { dryRun: args['dry-run'], now: context.now() };
    const result = await interruptible(context, repository, record, () =>
      unacceptSession(repository, record, request),
    );
    printUnaccept(context, result, args);
    return EXIT.done;
  },
});
