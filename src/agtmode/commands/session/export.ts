import { EXIT } from '../../../errors.ts';
import { findSession } from '../../../session/find-session.ts';
import { exportSession } from '../../../session/lifecycle/export.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import {
  givenSession,
  OLD_SESSION_OPTIONS,
  SESSION_ARGUMENT,
  SESSION_OPTION,
} from '../../command-line/session-argument.ts';
import { json, plural } from '../../output/format.ts';

export const sessionExport = defineCommand({
  usage: 'session export [id]',
  group: 'sessions',
  summary: 'push the work branch to a remote',
  description:
    'Push the work branch, and nothing else. Refuse if the sandbox has uncommitted changes, if its HEAD is not the work ' +
    'branch, or if a commit to push contains a snapshot of the session folder.',
  positionals: { id: SESSION_ARGUMENT },
  options: {
    session: SESSION_OPTION,
    as: { type: 'string', describe: 'push to this branch (default: the name of the work branch)' },
    remote: { type: 'string', describe: 'push to this remote (default: the remote of the user branch)' },
    'allow-dirty': {
      type: 'boolean',
      default: false,
      describe: 'push although the sandbox has uncommitted changes',
    },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  oldOptions: OLD_SESSION_OPTIONS,
  examples: [
    ['agt session export fix-login', 'push to the branch agt/fix-login'],
    ['agt session export --as fix/login --dry-run', 'show what would be pushed as fix/login'],
  ],
  run: async (args, context) => {
    const repository = await context.repository();
    const record = findSession(repository, givenSession(args), context.cwd);
    const exported = await exportSession(repository, record, {
      as: args.as,
      remote: args.remote,
      dryRun: args['dry-run'],
      allowDirty: args['allow-dirty'],
    });
    if (args.json) context.out(json({ ...exported, dry_run: args['dry-run'] }));
    else context.out(describeExport(exported, args['dry-run']));
    return EXIT.done;
  },
});

function describeExport(
  { commits, remote, branch }: Awaited<ReturnType<typeof exportSession>>,
  dryRun: boolean,
): string {
  const verb = dryRun ? 'would export' : 'exported';
  return `${verb} ${plural(commits, 'commit')} to ${remote} as ${branch}\n`;
}
