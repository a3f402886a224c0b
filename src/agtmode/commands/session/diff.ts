import { EXIT, usageError } from '../../../errors.ts';
import { namedSession } from '../../../session/find-session.ts';
import { idProblem, type SessionId } from '../../../session/id.ts';
import { readRecord, snapshotRefs } from '../../../session/record.ts';
import { Session } from '../../../session/session.ts';
import { resolveSnapshot } from '../../../snapshot/resolve-snapshot.ts';
import { type DiffRequest, listDiff, showDiff } from '../../../timetravel/diff/diff.ts';
import {
  type AmbiguousFolders,
  parsePathspec,
  pathInSession,
  relativeToSandbox,
  shownPath,
} from '../../../timetravel/session-paths.ts';
import {
  type Arguments,
  camelCase,
  defineCommand,
  option,
  SESSION_ARGUMENT,
  SNAPSHOT_FORMS,
} from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { changeStatus, fileStatus, showPath } from '../../output/format.ts';
import { sessionHere, sessionIfAny } from '../../session-here.ts';

/** Options that git handles. */
const GIT_OPTIONS = {
  stat: option.flag('show the number of changed lines of each file'),
  'name-status': option.flag('show only names, and whether a file was added, changed or deleted'),
  'name-only': option.flag('show only names'),
  'exit-code': option.flag('exit with 1 if there are differences'),
} as const;

export const sessionDiff = defineCommand({
  usage: 'session diff [id] [a] [b]',
  takesRest: true,
  summary: 'compare snapshots, the files on disk, the user branch, two sessions',
  description:
    'Compare snapshot <a> with snapshot <b>. Without <b>, compare <a> with the files on disk; without both, compare the ' +
    'last snapshot with the files on disk. --base compares the commit where the session left the user branch with the ' +
    'sandbox as it is: everything that the session would bring home, with uncommitted and untracked files, without ' +
    'ignored ones. --with compares the sandbox with that of another session, or <a> of this one with <b> of that one. git prints the differences, with your colours, pager and settings; changed ' +
    'permissions and empty directories follow, which git does not track. If a file cannot be read, warn and exit with 1. ' +
    'Paths after -- are relative to the sandbox; xdg/log (or ../xdg/log) is in another folder of the session. The ' +
    'session stays as it is.',
  positionals: {
    id: SESSION_ARGUMENT,
    a: option.value(`snapshot: ${SNAPSHOT_FORMS}`),
    b: option.value('snapshot to compare with <a>'),
  },
  options: {
    ...option.shared('session'),
    base: option.flag('compare the sandbox as it is with the commit where it left the user branch'),
    with: option.value('compare with this other session'),
    ...GIT_OPTIONS,
    ...option.shared('json'),
  },
  examples: [
    ['agt session diff fix-login --base --stat', 'show what the session would bring home'],
    ['agt session diff try-1 --with try-2 -- src', 'compare two sandboxes'],
    ['agt session diff', 'show changes since the last autocommit'],
    ['agt session diff fix-login "tests pass" --stat', 'show changes since the snapshot with this label'],
    ['agt session diff fix-login @{3} @{1} -- src', 'compare src in two snapshots'],
  ],
  run: async (args, context) => {
    const words = [args.id, args.a, args.b].filter((word) => word !== undefined);
    const { session, snapshots } = await chooseSession(context, words, args.session);
    const request = {
      ...(await chooseEnds(session, snapshots, args, context.now())),
      pathspecs: (ambiguous: AmbiguousFolders) => {
        const inFolder = (path: string) => pathInSession(session.record, path, context.cwd, ambiguous);
        return args.rest.map((spec) => parsePathspec(spec, inFolder));
      },
    };
    if (!args.json) return printDiff(context, session, request, args);
    const { entries, metadata, ambiguous, uncompared } = await listDiff(session, request);
    warnNotCompared(context, uncompared, ambiguous);
    const list = [
      ...entries.map(({ path, before, after }) => ({
        path: shownPath(path, ambiguous),
        status: changeStatus({ before, after }),
        old_mode: before?.mode ?? null,
        new_mode: after?.mode ?? null,
      })),
      ...metadata.map(({ path, status, before = null, after = null }) => ({
        path: shownPath(path, ambiguous),
        status: fileStatus(status),
        old_permissions: before,
        new_permissions: after,
      })),
    ];
    return { json: list, failed: (args.exitCode && list.length > 0) || uncompared.length > 0 };
  },
});

/** The first word is the id of a session if there is one; otherwise a snapshot of the current directory's session. */
async function chooseSession(context: Context, words: readonly string[], id: string | undefined) {
  const [first, ...rest] = words;
  if (id !== undefined && first !== id) return { session: await sessionHere(context, id), snapshots: words };
  if (first === undefined) return { session: await sessionHere(context), snapshots: [] };
  const user = await context.repositoryIfAny();
  const named = user && idProblem(first) === undefined ? readRecord(user, first as SessionId) : undefined;
  if (user && named) return { session: new Session(user, named), snapshots: rest };
  const current = await sessionIfAny(context);
  if (current === undefined || current.record.session_id === first)
    return { session: await sessionHere(context, first), snapshots: rest };
  if (words.length > 2) throw usageError(`no session "${first}"`, 'usage: agt session diff [id] [a] [b]');
  return { session: current, snapshots: words };
}

async function chooseEnds(
  session: Session,
  snapshots: readonly string[],
  { base, with: otherId }: { readonly base: boolean; readonly with: string | undefined },
  now: Date,
): Promise<Pick<DiffRequest, 'before' | 'after' | 'other'>> {
  if (base && (otherId !== undefined || snapshots.length > 0))
    throw usageError(
      '--base compares the sandbox as it is, and nothing else',
      'leave out the snapshots and --with',
    );
  if (base) return { before: 'base', after: 'work' };
  const other = otherId === undefined ? undefined : namedSession(session.repository, otherId);
  const [a, b] = snapshots;
  if (other !== undefined && a === undefined) return { before: 'work', after: 'work', other };
  const find = async (owner: Session, spec: string) =>
    resolveSnapshot(session.git, snapshotRefs(owner.record), spec, now, await owner.history());
  if (a === undefined) return { before: (await session.history())[0] ?? 'start', after: 'disk' };
  const before = await find(session, a);
  return {
    before,
    after: b === undefined ? 'disk' : await find(session.with(other ?? session.record), b),
    other,
  };
}

/** git prints the differences of files, agt those of permissions and empty directories. Returns the exit code. */
async function printDiff(
  context: Context,
  session: Session,
  request: DiffRequest,
  args: Arguments<typeof GIT_OPTIONS>,
) {
  const given = Object.entries(GIT_OPTIONS).filter(([name]) => args[camelCase(name) as keyof typeof args]);
  const options = given.map(([name]) => `--${name}`);
  const { exitCode, metadata, ambiguous, uncompared } = await showDiff(session, request, options);
  for (const { path, status, before, after } of metadata) {
    const shown = showPath(shownPath(path, ambiguous));
    const change =
      status === 'M'
        ? `permissions of ${shown}: ${before} before, ${after} after`
        : `empty directory ${fileStatus(status)}: ${shown}`;
    if (args.nameStatus) context.out(`${status}\t${shown}\n`);
    else if (args.nameOnly) context.out(`${shown}\n`);
    else context.err(`note: ${change}\n`);
  }
  warnNotCompared(context, uncompared, ambiguous);
  const differs = args.exitCode && metadata.length > 0;
  return exitCode === EXIT.done && (differs || uncompared.length > 0) ? EXIT.failed : exitCode;
}

function warnNotCompared(
  context: Context,
  files: Awaited<ReturnType<typeof listDiff>>['uncompared'],
  ambiguous: AmbiguousFolders,
) {
  for (const { path, reason } of files)
    context.err(`warning: not compared: ${showPath(relativeToSandbox(path, ambiguous))}: ${reason}\n`);
}
