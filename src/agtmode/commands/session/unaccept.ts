import { unacceptSession } from '../../../landing/unaccept.ts';
import { DRY_RUN_JSON } from '../../command-line/command.ts';
import { defineSessionCommand } from '../../command-line/session-command.ts';
import { interruptible } from '../../output/interrupted.ts';
import { reportUnaccept } from '../../output/landing.ts';

export const sessionUnaccept = defineSessionCommand({
  name: 'session unaccept',
  group: 'sessions',
  summary: 'take back agt session accept',
  description:
    'Move the branch back to the commit before the acceptance, let the worktree follow, and bring the session back. If ' +
    'the branch has newer commits, or a remote has the commit already, change nothing and print the git command that ' +
    'undoes it by a new commit.',
  options: DRY_RUN_JSON,
  examples: [['agt session unaccept fix-login', 'the branch and the session are as before']],
  run: async (args, context, session) => {
    const request = { dryRun: args['dry-run'], now: context.now() };
    const result = await interruptible(context, session, unacceptSession, request);
    return reportUnaccept(result, args['dry-run']);
  },
});
