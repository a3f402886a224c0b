import { EXIT } from '../../../errors.ts';
import { exportSession } from '../../../landing/export.ts';
import { openPullRequest } from '../../../landing/pull-request.ts';
import { findSession } from '../../../session/find-session.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION } from '../../command-line/command.ts';
import { givenSession, SESSION_ARGUMENT, SESSION_OPTION } from '../../command-line/session-argument.ts';
import { json, plural } from '../../output/format.ts';

export const sessionExport = defineCommand({
  usage: 'session export [id]',
  group: 'sessions',
  summary: 'push the work branch to a remote',
  description:
    'Push the work branch, and nothing else, and make it the upstream. Refuse if the sandbox has uncommitted changes, ' +
    'if its HEAD is not the work branch, if a commit to push contains a snapshot of the session folder, or if the ' +
    'target is the default branch of the remote.',
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
    'force-default': {
      type: 'boolean',
      default: false,
      describe: 'push although the branch is the default branch of the remote',
    },
    pr: {
      type: 'boolean',
      default: false,
      describe: 'open a pull request with gh; title and body are the labels, or the messages of the commits',
    },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt session export fix-login', 'push to the branch agt/fix-login'],
    ['agt session export fix-login --pr', 'push, and open a pull request'],
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
      forceDefault: args['force-default'],
      now: context.now(),
    });
    if (!args.json) context.out(describeExport(exported, args['dry-run']));
    const opens = args.pr && !args['dry-run'];
    const address = opens ? await openPullRequest(repository, record, exported) : undefined;
    if (args.json)
      context.out(json({ ...exported, pull_request: address ?? null, dry_run: args['dry-run'] }));
    else if (address !== undefined) context.out(`opened ${address}\n`);
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
