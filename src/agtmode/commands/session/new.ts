/** agt session new, fork and adopt: the ways to get a session. */
import { sep } from 'node:path';
import { AgtError, EXIT, usageError } from '../../../errors.ts';
import { adoptSession } from '../../../lifecycle/adopt.ts';
import { fetchStart } from '../../../lifecycle/fetch-start.ts';
import { checkId, type SessionId } from '../../../session/id.ts';
import { isAttached } from '../../../session/record.ts';
import { Session } from '../../../session/session.ts';
import { listUpstreamRecords } from '../../../session/upstream-record.ts';
import { forkFolder, forkSession } from '../../../timetravel/fork/fork.ts';
import {
  defineCommand,
  givenSession,
  option,
  SESSION_ARGUMENT,
  SNAPSHOT_FORMS,
} from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { createWanted, overlayPath, printNewSession } from '../../creating.ts';
import { describeNotCaptured, recordJson } from '../../output/session.ts';
import { sessionHere } from '../../session-here.ts';
import { runSetup } from '../../setup.ts';
import { sweepFirst } from '../../sweeping.ts';
import { conversationAt, resume } from './resume.ts';

export const sessionNew = defineCommand({
  usage: 'session new [name]',
  elsewhere: { '--in-place': '--working-copy in-place' },
  summary: 'create a session: a sandbox, a work branch and a shadow branch',
  description:
    'Create a session folder with three parts: sandbox/ is a git worktree with the work branch agt/<id> checked out, ' +
    'for the agent to edit and commit in; xdg/ and config/ are for its XDG_DATA_HOME and XDG_CONFIG_HOME. Autocommits ' +
    'go to the shadow branch agtsessions/<id>. Files that git ignores are copied into the sandbox if the file ' +
    '.worktreeinclude (gitignore patterns, at the top of your worktree) lists them. agt says what uncommitted work of ' +
    'yours it leaves behind; --with-changes takes it along. Then it runs the command of the setting agt.setup in the ' +
    'sandbox; if that fails, the session is there all the same, and the exit code is 1.',
  positionals: { name: option.value('session id (default: sess-<date>-<time>-<random>)') },
  options: {
    id: option.value('session id, in place of the argument'),
    from: option.value('start from this session, commit or branch to land on (default: HEAD)'),
    fetch: option.flag('fetch the branch of --from REMOTE/BRANCH first'),
    pr: option.value(
      'start from this pull request or merge request, by its number, of origin or of --from REMOTE',
    ),
    profile: option.value('store this name with the session, for tools that start agents'),
    'with-changes': option.flag('take along the uncommitted work of your worktree, which stays as it is'),
    setup: option.on('run agt.setup in the sandbox (--no-setup: do not)'),
    ...option.shared('quiet'),
    'working-copy': option.choice(
      ['auto', 'worktree', 'in-place', 'cow-overlay'],
      'in-place: work in your own checkout; cow-overlay: commands of agt session run see the sandbox at the path of ' +
        'your checkout (default: fs.workingCopy)',
    ),
    ...option.shared('fs-snapshots'),
    replace: option.on('in place: revert an earlier session in the same checkout; --no-replace: refuse'),
    'if-repo': option.flag('outside a repository, say that sessions are off, and exit with 0'),
    ...option.shared('json'),
  },
  examples: [
    ['agt session new fix-login', 'start from the current branch'],
    ['agt session new fix-login --with-changes', 'take uncommitted work along'],
    ['agt session new --from v2.1', 'start from a tag, with a generated id'],
    ['agt session new review --pr 12', 'start from a pull request'],
    ['cd "$(agt session path fix-login)"', 'go to the sandbox'],
  ],
  run: async (args, context) => {
    const checked = context.git(); // fails if git is too old
    checked.catch(() => {}); // agt waits for it before the first change
    if (args.ifRepo && (await context.repositoryIfAny()) === undefined)
      return { json: null, text: 'sessions are off here: this is no git repository\n' };
    const repository = await context.repository();
    await sweepFirst(context, repository);
    const from = await fetchStart(repository, args);
    const { record, files } = await createWanted(context, repository, {
      ...args,
      from,
      checked,
      id: givenSession({ id: args.name, session: args.id }),
      showProgress: context.interactive && !args.json && !args.quiet,
      looksForWork: args.json || !args.quiet,
      snapshots: args.fsSnapshots,
    });
    await printNewSession(context, record, args.json, files);
    return args.setup && record.checkout === undefined ? runSetup(context, record) : EXIT.done;
  },
});

export const sessionFork = defineCommand({
  usage: 'session fork [source]',
  summary: 'create a session from a snapshot of another session',
  description:
    'Create a session that continues from a snapshot of another session: same commits, index, uncommitted and ignored ' +
    'files, xdg/ and config/. Without --at, autocommit the other session first and fork that snapshot. The other ' +
    'session stays as it is; it may have been removed. In a folder with snapshots of its own (agt snapshot), fork those.',
  excess: 'the id of the new session: --id ID, its snapshot: --at SNAPSHOT',
  positionals: { source: option.value('session to fork (default: the session of the current directory)') },
  options: {
    session: option.value('session to fork, in place of the argument'),
    id: option.value('id of the new session (default: sess-<date>-<time>-<random>)'),
    at: option.value(`fork this snapshot: ${SNAPSHOT_FORMS}`),
    count: option.value('create this many sessions, named <id>-1, <id>-2, …'),
    ...option.shared('fs-snapshots'),
    'working-copy': option.choice(
      ['worktree', 'cow-overlay'],
      'cow-overlay: commands of agt session run see the sandbox at the path of your checkout',
    ),
    resume: option.flag('start the agent there, with its conversation as of that snapshot (agt resume)'),
    ...option.shared('quiet', 'json'),
  },
  examples: [
    ['agt session fork fix-login --id fix-login-2', 'try another way from here'],
    ['agt session fork fix-login --at "tests pass"', 'continue from where the tests still passed'],
    ['agt session fork fix-login --id try --count 3', 'create try-1, try-2 and try-3'],
  ],
  run: async (args, context) => {
    const given = givenSession({ id: args.source, session: args.session });
    const source = await sessionHere(context, given);
    if (args.resume && args.count !== undefined)
      throw usageError('--resume starts one agent', 'leave out --count, or --resume');
    const resumed = args.resume ? await conversationAt(context, source, args.at) : undefined;
    const request = {
      id: args.id,
      snapshot: args.at,
      now: context.now(),
      snapshots: args.fsSnapshots ?? (await context.setting('fs.snapshots')),
    };
    const { stands_at: there } = source.record;
    const asked = args.workingCopy;
    const { records, warnings } = isAttached(source.record)
      ? await forkHere(context, source, request, args.count)
      : await forkSession(source, {
          ...request,
          count: args.count === undefined ? undefined : parseCount(args.count),
          // A fork stands where its source does, unless the user asks for something else.
          standsAt: (asked === undefined && there) || (await overlayPath(context, source.repository, asked)),
        });
    for (const warning of warnings) context.err(`warning: ${warning}\n`);
    if (args.json && args.count !== undefined) return { json: records.map(recordJson) };
    const { checkout } = source.record;
    const origin = (isAttached(source.record) && checkout) || source.id;
    for (const record of records) await printNewSession(context, record, args.json, undefined, origin);
    const [fork] = records;
    if (resumed === undefined || fork === undefined) return EXIT.done;
    return resume(context, new Session(await context.repository(), fork), resumed, []);
  },
});

/** A folder with snapshots of its own: the fork is a session of the repository that the folder belongs to. */
async function forkHere(
  context: Context,
  source: Session,
  request: Parameters<typeof forkFolder>[2],
  count: string | undefined,
) {
  if (count !== undefined) throw usageError('--count is for forks of sessions', 'leave it out');
  const user = await context.repositoryIfAny();
  if (user === undefined) {
    throw new AgtError(`${source.record.checkout} is in no git repository, and a sandbox needs one`, {
      hints: [
        'to go back in the folder itself: agt snapshot restore SNAPSHOT',
        'or make a repository: git init',
      ],
    });
  }
  const { record, warnings } = await forkFolder(user, source, request);
  return { records: [record], warnings };
}

/** Nobody races that many agents: a larger number is a mistake. */
const MOST_FORKS = 100;

function parseCount(text: string): number {
  const count = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  if (count <= MOST_FORKS) return count;
  throw usageError(`invalid number of forks "${text}"`, `give a number from 1 to ${MOST_FORKS}`);
}

export const sessionAdopt = defineCommand({
  usage: 'session adopt [id]',
  summary: 'take over a session that the agt of simbo1905 made',
  description:
    'Give a session of the agt of simbo1905 (0.2) a work branch and a shadow branch, and capture its files. The commits ' +
    'of the agent become the work branch, without the snapshots between them. The files stay as they are, and the old ' +
    'branch stays reachable from the first snapshot.',
  positionals: { id: SESSION_ARGUMENT },
  options: option.shared('session', 'json'),
  examples: [['agt session adopt session-1736000000000', 'take over one session']],
  run: async (args, context) => {
    const repository = await context.repository();
    const given = givenSession(args);
    const id = given === undefined ? await upstreamHere(context) : checkId(given);
    const { record, commit, failed } = await adoptSession(repository, id, context.now());
    if (!args.json) await printNewSession(context, record, false);
    context.err(describeNotCaptured(record, failed));
    return { json: { ...recordJson(record), commit: commit ?? null, failed }, failed: failed.length > 0 };
  },
});

/** @throws AgtError if the current directory is in no such session. */
async function upstreamHere(context: Context): Promise<SessionId> {
  const found = listUpstreamRecords(await context.repository());
  const here = found.find(({ sandbox }) => `${context.cwd}${sep}`.startsWith(`${sandbox}${sep}`));
  if (here !== undefined) return here.session_id;
  if (found.length === 0) throw new AgtError('there is no session to adopt: all have their two branches');
  throw usageError('no session given', `sessions to adopt: ${found.map((one) => one.session_id).join(', ')}`);
}
