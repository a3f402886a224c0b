import { findSession } from '../../../session/find-session.ts';
import { exportSession } from '../../../session/lifecycle/export.ts';
import { DRY_RUN_OPTION, defineCommand, JSON_OPTION, SESSION_ID_OPTION } from '../../command-line/command.ts';
import { json, plural } from '../../output/print.ts';

export const sessionExport = defineCommand({
  usage: 'session export [session-id]',
  group: 'sessions',
  summary: 'push what the agent committed to a remote',
  description:
    'Pushes the work branch and nothing else. Refuses uncommitted changes, a HEAD that is not on the work branch, and ' +
    'any commit that holds a whole session folder.',
  positionals: { 'session-id': SESSION_ID_OPTION },
  options: {
    as: { type: 'string', describe: "the branch's name at the remote; by default that of the work branch" },
    remote: { type: 'string', describe: "the remote; by default the user branch's, or the only one" },
    'allow-dirty': { type: 'boolean', default: false, describe: 'leave uncommitted changes behind' },
    'dry-run': DRY_RUN_OPTION,
    json: JSON_OPTION,
  },
  examples: [
    ['agt session export --session-id fix-login', 'to the branch agt/fix-login'],
    ['agt session export --as fix/login --dry-run', 'what would be pushed from here'],
  ],
  run: async (args, program) => {
    const repository = await program.repository();
    const record = findSession(repository, args['session-id'], program.cwd);
    const exported = await exportSession(repository, record, {
      as: args.as,
      remote: args.remote,
      dryRun: args['dry-run'],
      allowDirty: args['allow-dirty'],
    });
    const verb = args['dry-run'] ? 'would export' : 'exported';
    if (args.json) program.out(json({ ...exported, dry_run: args['dry-run'] }));
    else
      program.out(
        `${verb} ${plural(exported.commits, 'commit')} to ${exported.remote} as ${exported.branch}\n`,
      );
    return 0;
  },
});
