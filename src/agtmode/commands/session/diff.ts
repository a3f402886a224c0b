import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { displayPath } from '../../../disk/path-bytes.ts';
import { EXIT, isAgtError, usageError } from '../../../errors.ts';
import { shortBranch, shortOid } from '../../../git/files/ref-files.ts';
import { quotedPathspec, shellQuote } from '../../../process/shell-quote.ts';
import { namedSession } from '../../../session/find-session.ts';
import { idProblem } from '../../../session/id.ts';
import { isAttached, recordNamed } from '../../../session/record.ts';
import type { Session } from '../../../session/session.ts';
import { isEnded } from '../../../session/state.ts';
import { isBroughtIn } from '../../../snapshot/format.ts';
import type { Snapshot } from '../../../snapshot/history.ts';
import { unquoted } from '../../../timetravel/blame/porcelain.ts';
import { type DiffRequest, listDiff, showDiff } from '../../../timetravel/diff/diff.ts';
import {
  type AmbiguousFolders,
  parsePathspec,
  pathInSession,
  relativeToSandbox,
  shownPath,
} from '../../../timetravel/session-paths.ts';
import { compareWithPrevious } from '../../../timetravel/timeline.ts';
import { spansOf } from '../../../timetravel/turn-files.ts';
import { readAuthors, turnNumbered } from '../../../timetravel/turns.ts';
import {
  type Arguments,
  camelCase,
  defineSessionCommand,
  option,
  SNAPSHOT_FORMS,
} from '../../command-line/command.ts';
import type { Context } from '../../context.ts';
import { changeStatus, FILE_STATUS, orNull, showPath } from '../../output/format.ts';

/** Options that git handles, and agt looks at. */
const GIT_OPTIONS = {
  stat: option.flag('show the number of changed lines of each file'),
  'name-status': option.flag('show only names, and whether a file was added, changed or deleted'),
  'name-only': option.flag('show only names'),
  'exit-code': option.flag('exit with 1 if there are differences'),
} as const;

/** Those that choose other trees or paths than agt does are not among them, nor those that write files or start programs. */
const OTHER_GIT_OPTIONS = new Set(
  `-a -b -p -s -u -w -R -W -B -M -D -G= -I= -S= -U -l= --patch-with-stat --patch-with-raw --no-patch --raw --numstat
  --shortstat --dirstat --cumulative --dirstat-by-file --check --summary --compact-summary --stat-width= --stat-count=
  --stat-name-width= --stat-graph-width= --unified --function-context --inter-hunk-context= --binary --full-index
  --abbrev --no-abbrev --color --no-color --color-moved --no-color-moved --color-moved-ws= --ws-error-highlight=
  --word-diff --word-diff-regex= --color-words --src-prefix= --dst-prefix= --line-prefix= --no-prefix --default-prefix
  --break-rewrites --find-renames --find-copies --find-copies-harder --no-renames --irreversible-delete --minimal
  --patience --histogram --diff-algorithm= --anchored= --indent-heuristic --no-indent-heuristic --ignore-all-space
  --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines --ignore-matching-lines= --text
  --no-ext-diff --no-textconv --ignore-submodules --submodule --pickaxe-all --pickaxe-regex --find-object=
  --diff-filter= --quiet --stat`.split(/\s+/),
);

export const sessionDiff = defineSessionCommand({
  name: 'session diff',
  takesRest: 'paths',
  summary: 'compare snapshots, the files on disk, the user branch, two sessions',
  description:
    'Compare snapshot <a> with snapshot <b>. Without <b>, compare <a> with the files on disk; without both, compare the ' +
    'last snapshot with the files on disk. An ended session has its last snapshot in place of these; without both, show ' +
    'all that it did. --base shows what agt accept would bring home: the sandbox as it is, with uncommitted and ' +
    'untracked files, without ignored ones, against the start of its work and what has landed of it. --with compares the sandbox with that of another session, or <a> of this one with <b> of that one. ' +
    'git prints the differences, with your colours, pager and settings, and takes its usual options, such as ' +
    '--shortstat, --word-diff, -w and --stat=120. Changed permissions and empty directories follow, which git does not ' +
    'track. If a file cannot be read, warn and exit with 1. Paths after -- are relative to the sandbox; xdg/log (or ../xdg/log) is in another folder of the session. The ' +
    'session stays as it is.',
  more: {
    a: option.value(`snapshot: ${SNAPSHOT_FORMS}`),
    b: option.value('snapshot to compare with <a>'),
  },
  gitOptions: OTHER_GIT_OPTIONS,
  options: {
    base: option.flag('show what the session would bring home: what it has done, less what has landed of it'),
    with: option.value('compare with this other session'),
    turn: option.value('show what a turn of an agent changed: its number in agt log --turns'),
    patch: option.flag('with --json: also what git prints of each file'),
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
  check: ({ json, gitOptions: [option] }) => {
    if (json && option !== undefined)
      throw usageError(`${option} is for what git prints, and --json prints a list`, 'give one of them');
  },
  run: async (args, context, session) => {
    const pathspecs = (ambiguous: AmbiguousFolders) => {
      const inFolder = (path: string) => pathInSession(session.record, path, context.cwd, ambiguous);
      return args.rest.map((spec) => parsePathspec(spec, inFolder));
    };
    const pairs =
      args.turn === undefined
        ? [{ ...(await chooseEnds(session, args, context.now())), without: [] }]
        : await endsOfTurn(session, args, args.turn);
    const requests = pairs.map(({ without, ...ends }) => ({
      ...ends,
      pathspecs: (ambiguous: AmbiguousFolders) => [...pathspecs(ambiguous), ...without],
    }));
    const list: unknown[] = [];
    let exitCode: number = EXIT.done;
    for (const request of requests) {
      if (!args.json) exitCode = Math.max(exitCode, await printDiff(context, session, request, args));
      else exitCode = Math.max(exitCode, await addToList(context, session, request, list, args));
    }
    if (!args.json) return exitCode;
    return { json: list, failed: (args.exitCode && list.length > 0) || exitCode !== EXIT.done };
  },
});

/** One comparison, unless others have changed the same files between the steps of the turn. */
async function endsOfTurn(session: Session, { a, base, with: other }: Ends, number: string) {
  if (base || other !== undefined || a !== undefined)
    throw usageError('--turn compares by itself', 'leave out the snapshots, --base and --with');
  const authored = await readAuthors(session);
  const { steps } = turnNumbered(session, authored, number);
  const all = authored.steps.map(({ snapshot }) => snapshot);
  const before = (one: Snapshot) => all.find(({ commit }) => commit === one.previous) ?? ('start' as const);
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return [];
  const since = all.slice(all.indexOf(first), all.indexOf(last) + 1);
  const changes = await compareWithPrevious(session.git, since);
  const pathsOf = (some: readonly Snapshot[]) =>
    new Set(some.flatMap(({ commit }) => changes.get(commit)?.map(({ path }) => path) ?? []));
  const others = pathsOf(since.filter((one) => !steps.includes(one)));
  if (before(first) === 'start' || !pathsOf(steps).isDisjointFrom(others))
    return spansOf({ steps }).map((after) => ({ before: before(after), after, without: [] }));
  const without = [...others].map((path) => ({ magic: ':(exclude,literal)', path: displayPath(path) }));
  return [{ before: before(first), after: last, without }];
}

/** Bytes of a patch that a person can read. */
const LONGEST_PATCH = 1_000_000;

/** By path. The first line of each part has the name twice, both times in quotes if it is odd. */
function patchesIn(printed: string): Map<string, string> {
  const parts = printed.split(/^(?=diff --git )/m).filter((part) => part.length <= LONGEST_PATCH);
  return new Map(
    parts.map((part) => {
      const [line = ''] = part.split('\n', 1);
      const names = line.slice('diff --git '.length);
      const name = names.slice((names.length + 1) / 2);
      const path = name.startsWith('"') ? displayPath(unquoted(name)) : name;
      return [path.slice('b/'.length), part];
    }),
  );
}

async function addToList(
  context: Context,
  session: Session,
  request: DiffRequest,
  list: unknown[],
  { patch, stat }: { readonly patch: boolean; readonly stat: boolean },
) {
  const options = { patch, countLines: stat };
  const { entries, metadata, ambiguous, uncompared, ...printed } = await listDiff(session, request, options);
  const patches = patchesIn(printed.patch);
  const patchOf = (path: string) => (patch ? { patch: patches.get(path) ?? null } : {});
  warnNotCompared(context, uncompared, ambiguous);
  list.push(
    ...entries.map(({ path, before, after, insertions, removals: deletions }) => ({
      path: shownPath(path, ambiguous),
      status: changeStatus({ before, after }),
      old_mode: before?.mode ?? null,
      new_mode: after?.mode ?? null,
      ...(stat && orNull({ insertions, deletions })),
      ...patchOf(shownPath(path, ambiguous)),
    })),
    ...metadata.map(({ path, status, before = null, after = null }) => ({
      path: shownPath(path, ambiguous),
      status: FILE_STATUS[status],
      old_permissions: before,
      new_permissions: after,
    })),
  );
  return uncompared.length > 0 ? EXIT.failed : EXIT.done;
}

interface Ends {
  readonly a: string | undefined;
  readonly b: string | undefined;
  readonly base: boolean;
  readonly with: string | undefined;
}

async function chooseEnds(
  session: Session,
  { id, a, b, base, with: otherId }: Ends & { readonly id?: string | undefined },
  now: Date,
): Promise<Pick<DiffRequest, 'before' | 'after' | 'other'>> {
  if (base && (otherId !== undefined || a !== undefined)) {
    const alone = '--base compares the sandbox as it is, and nothing else';
    if (a !== undefined && a === id && idProblem(a) === undefined && !isAttached(session.record))
      await session.find(a, now).catch(() => namedSession(session.repository, a, alone));
    throw usageError(alone, 'leave out the snapshots and --with');
  }
  if (base) return { before: 'base', after: 'work' };
  if (otherId !== undefined && isAttached(session.record))
    throw usageError(
      '--with compares two sessions, and this folder has snapshots without one',
      `what session "${otherId}" would bring home: agt session diff ${otherId} --base`,
    );
  const other = otherId === undefined ? undefined : namedSession(session.repository, otherId);
  if (other !== undefined && a === undefined) return { before: 'work', after: 'work', other };
  const history = await session.history();
  const find = async (owner: Session, spec: string) => {
    const known = owner === session ? history : await owner.history();
    return owner.find(spec, now, known).catch((error) => {
      if (isAgtError(error)) error.hints.unshift(...whatElse(session, spec, spec === b ? a : undefined));
      throw error;
    });
  };
  const owner = other === undefined ? session : session.with(other);
  // The folder of an ended session is gone.
  const last = isEnded(owner.record) ? (await owner.history())[0] : undefined;
  if (a === undefined && last === undefined) return { before: history[0] ?? 'start', after: 'disk' };
  const first = history.findLast((one) => one.session === session.id && !isBroughtIn(one.label));
  const began = history.find(({ commit }) => commit === first?.previous);
  const begun = session.record.synced === undefined ? (began ?? 'start') : 'begun';
  return {
    before: a === undefined ? begun : await find(session, a),
    after: b === undefined ? (last ?? 'disk') : await find(owner, b),
    other,
  };
}

/** Hints for a word that is no snapshot. */
function whatElse({ repository, id, record }: Session, word: string, before?: string): string[] {
  const diff = `agt session diff ${id}${before === undefined ? '' : ` ${shellQuote(before)}`}`;
  if (recordNamed(repository, word))
    return [`to compare two sessions: agt session diff ${id} --with ${word}`];
  const isBranch =
    record.user_branch !== undefined && [record.user_branch, shortBranch(record.user_branch)].includes(word);
  if (isBranch) return [`to compare with the branch: agt session diff ${id} --base`];
  const isPath = existsSync(join(record.sandbox, word));
  return isPath ? [`to compare one path: ${diff} -- ${quotedPathspec(word)}`] : [];
}

/** git prints the differences of files, agt those of permissions and empty directories. Returns the exit code. */
async function printDiff(
  context: Context,
  session: Session,
  request: DiffRequest,
  args: Arguments<typeof GIT_OPTIONS>,
) {
  const given = Object.entries(GIT_OPTIONS).filter(([name]) => args[camelCase(name) as keyof typeof args]);
  const options = [...given.map(([name]) => `--${name}`), ...args.gitOptions];
  const { exitCode, isSame, metadata, ambiguous, uncompared } = await showDiff(session, request, options);
  const since = typeof request.before === 'string' ? undefined : shortOid(request.before.commit);
  if (isSame && since && request.after === 'disk' && options.length === 0 && !isAttached(session.record))
    context.err(`note: no change since snapshot ${since}; its work: agt session diff ${session.id} --base\n`);
  for (const { path, status, before, after } of metadata) {
    const shown = showPath(shownPath(path, ambiguous));
    const change =
      status === 'M'
        ? `permissions of ${shown}: ${before} before, ${after} after`
        : `empty directory ${FILE_STATUS[status]}: ${shown}`;
    if (args.nameStatus) context.out(`${status}\t${shown}\n`);
    else if (args.nameOnly) context.out(`${shown}\n`);
    else context.err(`note: ${change}\n`);
  }
  warnNotCompared(context, uncompared, ambiguous);
  const differs = (args.exitCode || args.gitOptions.includes('--quiet')) && metadata.length > 0;
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
