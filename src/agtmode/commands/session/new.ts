import { EXIT } from '../../../errors.ts';
import {
  defineCommand,
  FS_SNAPSHOTS_OPTION,
  flag,
  JSON_OPTION,
  QUIET_OPTION,
  withValue,
} from '../../command-line/command.ts';
import { givenSession } from '../../command-line/session-command.ts';
import { createWanted } from '../../creating.ts';
import { printNewSession } from '../../output/session.ts';
import { runSetup } from '../../setup.ts';
import { sweepFirst } from '../../sweeping.ts';

export const sessionNew = defineCommand({
  usage: 'session new [name]',
  group: 'sessions',
  summary: 'create a session: a sandbox, a work branch and a shadow branch',
  description:
    'Create a session folder with three parts: sandbox/ is a git worktree with the work branch agt/<id> checked out, ' +
    'for the agent to edit and commit in; xdg/ and config/ are for its XDG_DATA_HOME and XDG_CONFIG_HOME. Autocommits ' +
    'go to the shadow branch agtsessions/<id>. Files that git ignores are copied into the sandbox if the file ' +
    '.worktreeinclude (gitignore patterns, at the top of your worktree) lists them. agt says what uncommitted work of ' +
    'yours it leaves behind; --with-changes takes it along. Then it runs the command of the setting agt.setup in the ' +
    'sandbox; if that fails, the session is there all the same, and the exit code is 1.',
  positionals: { name: withValue('session id (default: sess-<date>-<time>-<random>)') },
  options: {
    id: withValue('session id, in place of the argument'),
    from: withValue('start from this session, branch or commit (default: HEAD)'),
    profile: withValue('store this name with the session, for tools that start agents'),
    'with-changes': flag('take along the uncommitted work of your worktree, which stays as it is'),
    setup: { type: 'boolean', default: true, describe: 'run agt.setup in the sandbox (--no-setup: do not)' },
    quiet: QUIET_OPTION,
    'working-copy': {
      choices: ['auto', 'worktree', 'in-place', 'cow-overlay'],
      describe:
        'in-place: work in your own checkout; cow-overlay: commands of agt session run see the sandbox at the path of ' +
        'your checkout (default: fs.workingCopy)',
    },
    'fs-snapshots': FS_SNAPSHOTS_OPTION,
    replace: {
      type: 'boolean',
      default: true,
      describe: 'in place: revert an earlier session in the same checkout; --no-replace: refuse',
    },
    'if-repo': flag('outside a repository, say that sessions are off, and exit with 0'),
    json: JSON_OPTION,
  },
  examples: [
    ['agt session new fix-login', 'start from the current branch'],
    ['agt session new fix-login --with-changes', 'take uncommitted work along'],
    ['agt session new --from v2.1', 'start from a tag, with a generated id'],
    ['cd "$(agt session path fix-login)"', 'go to the sandbox'],
  ],
  run: async (args, context) => {
    const checked = context.git(); // fails if git is too old
    checked.catch(() => {}); // agt waits for it before the first change
    if (args['if-repo'] && (await context.repositoryIfAny()) === undefined)
      return { json: null, text: 'sessions are off here: this is no git repository\n' };
    const repository = await context.repository();
    await sweepFirst(context, repository);
    const { record, files } = await createWanted(context, repository, {
      checked,
      id: givenSession({ id: args.name, session: args.id }),
      from: args.from,
      profile: args.profile,
      showProgress: context.interactive && !args.json && !args.quiet,
      looksForWork: args.json || !args.quiet,
      withChanges: args['with-changes'],
      replace: args.replace,
      workingCopy: args['working-copy'],
      snapshots: args['fs-snapshots'],
    });
    await printNewSession(context, record, args.json, files);
    return args.setup && record.checkout === undefined ? runSetup(context, record) : EXIT.done;
  },
});
