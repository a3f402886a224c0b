import { exportSession } from '../../../landing/export.ts';
import { openPullRequest } from '../../../landing/pull-request.ts';
import { DRY_RUN_JSON, flag, withValue } from '../../command-line/command.ts';
import { defineSessionCommand } from '../../command-line/session-command.ts';
import { plural, verb } from '../../output/format.ts';

export const sessionExport = defineSessionCommand({
  name: 'session export',
  group: 'sessions',
  summary: 'push the work branch to a remote',
  description:
    'Push the work branch, and nothing else, and make it the upstream. Refuse if the sandbox has uncommitted changes, ' +
    'if its HEAD is not the work branch, if a commit to push contains a snapshot of the session folder, or if the ' +
    'target is the default branch of the remote.',
  options: {
    as: withValue('push to this branch (default: the name of the work branch)'),
    remote: withValue('push to this remote (default: the remote of the user branch)'),
    'allow-dirty': flag('push although the sandbox has uncommitted changes'),
    'force-default': flag('push although the branch is the default branch of the remote'),
    pr: flag('open a pull request with gh; title and body are the labels, or the messages of the commits'),
    ...DRY_RUN_JSON,
  },
  examples: [
    ['agt session export fix-login', 'push to the branch agt/fix-login'],
    ['agt session export fix-login --pr', 'push, and open a pull request'],
    ['agt session export --as fix/login --dry-run', 'show what would be pushed as fix/login'],
  ],
  run: async (args, context, session) => {
    const exported = await exportSession(session, {
      as: args.as,
      remote: args.remote,
      dryRun: args['dry-run'],
      allowDirty: args['allow-dirty'],
      forceDefault: args['force-default'],
      now: context.now(),
    });
    const { commits, remote, branch } = exported;
    const done = verb(args['dry-run'], 'exported', 'export');
    if (!args.json) context.out(`${done} ${plural(commits, 'commit')} to ${remote} as ${branch}\n`);
    const opens = args.pr && !args['dry-run'];
    const address = opens ? await openPullRequest(session, exported) : undefined;
    const report = { ...exported, pull_request: address ?? null, dry_run: args['dry-run'] };
    return { json: report, text: address === undefined ? '' : `opened ${address}\n` };
  },
});
