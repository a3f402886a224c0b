/** The tree that `git merge --squash` makes of a session's work in a clean clone. */
import { copyFileSync, existsSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitDirOf, readCheckout } from './checkout-facts.ts';
import type { Facts } from './facts.ts';
import { makeDirectory, ok, REAL_GIT, run } from './programs.ts';
import { zeroed } from './worktree.ts';

export interface Work {
  /** Where the agent works. */
  readonly worktree: string;
  /** Paths of repositories inside that are not the agent's work. */
  readonly notTheirs: ReadonlySet<string>;
  readonly committedOnly: boolean;
  /** Without new files that the agent has not added. */
  readonly trackedOnly?: boolean;
}

/** A commit with the agent's commits and uncommitted files, on top of its HEAD. Undefined if git cannot add them. */
export function commitOf({
  worktree,
  notTheirs,
  committedOnly,
  trackedOnly = false,
}: Work): string | undefined {
  const head = ok(REAL_GIT, ['rev-parse', 'HEAD'], worktree).trim();
  if (committedOnly) return head;
  const index = join(makeDirectory('index'), 'index');
  const own = join(gitDirOf(worktree), 'index');
  if (existsSync(own)) {
    copyFileSync(own, index);
    const { atimeMs, mtimeMs } = statSync(own);
    utimesSync(index, atimeMs / 1000, Math.floor(mtimeMs / 1000));
  }
  const env = { GIT_INDEX_FILE: index };
  const tracked = new Set(zeroed(ok(REAL_GIT, ['ls-files', '-z'], worktree)));
  // git refuses one without a commit, and an ignored path that is named.
  const empty = [...notTheirs].filter(
    (path) =>
      existsSync(join(worktree, path, '.git')) &&
      run(REAL_GIT, ['rev-parse', '-q', '--verify', 'HEAD'], join(worktree, path)).exitCode !== 0 &&
      run(REAL_GIT, ['check-ignore', '-q', '--', path], worktree).exitCode !== 0,
  );
  const others = empty.map((path) => `:(top,exclude,literal)${path}`);
  const add = ['-c', 'advice.addEmbeddedRepo=false', 'add', '-A', '--', ':/', ...others];
  if (run(REAL_GIT, add, worktree, '', env).exitCode !== 0) return undefined;
  if (trackedOnly) {
    const added = [
      'diff-index',
      '--cached',
      '--name-only',
      '-z',
      '--no-renames',
      '--diff-filter=A',
      'HEAD',
      '--',
    ];
    const unwanted = zeroed(run(REAL_GIT, added, worktree, '', env).stdout).filter(
      (one) => !tracked.has(one),
    );
    const lines = unwanted.map((path) => `0 ${'0'.repeat(40)}\t${path}\0`).join('');
    run(REAL_GIT, ['update-index', '-z', '--index-info'], worktree, Buffer.from(lines, 'latin1'), env);
  }
  for (const path of notTheirs) {
    const entry = ok(REAL_GIT, ['ls-tree', '-z', 'HEAD', '--', path], worktree);
    const line = entry === '' ? `0 ${'0'.repeat(40)}\t${path}\0` : entry;
    run(REAL_GIT, ['update-index', '-z', '--index-info'], worktree, Buffer.from(line, 'latin1'), env);
  }
  const written = run(REAL_GIT, ['write-tree'], worktree, '', env);
  if (written.exitCode !== 0) return undefined;
  return ok(REAL_GIT, ['commit-tree', '-p', head, '-m', 'work', written.stdout.trim()], worktree).trim();
}

/**
 * Undefined if git reports conflicts. `base` is for commits whose common history does not say what has landed; `had`: commits
 * that the branch has in another form, as if it had merged them.
 */
export function squashed(
  repository: string,
  branch: string,
  theirs: string,
  { base, had = [] }: { base?: string | undefined; had?: readonly string[] } = {},
): string | undefined {
  const clone = makeClone(repository, branch);
  ok(REAL_GIT, ['reset', '-q', '--hard', withParents(clone, 'HEAD', had)], clone);
  if (base !== undefined) {
    const onBase = (commit: string) =>
      ok(REAL_GIT, ['commit-tree', '-p', base, '-m', 'on base', `${commit}^{tree}`], clone).trim();
    const [ours, other] = [onBase('HEAD'), onBase(theirs)];
    ok(REAL_GIT, ['reset', '-q', '--hard', ours], clone);
    return run(REAL_GIT, ['merge', '-q', '--squash', other], clone).exitCode === 0
      ? writeTree(clone)
      : undefined;
  }
  return run(REAL_GIT, ['merge', '-q', '--squash', theirs], clone).exitCode === 0
    ? writeTree(clone)
    : undefined;
}

/** The commit, with more parents. */
export function withParents(repository: string, commit: string, more: readonly string[]): string {
  const parents = [commit, ...more].flatMap((one) => ['-p', one]);
  const words = ['commit-tree', ...parents, '-m', 'with more parents', `${commit}^{tree}`];
  return ok(REAL_GIT, more.length === 0 ? ['rev-parse', commit] : words, repository).trim();
}

/** The tree after a cherry-pick of one commit. Undefined if git reports conflicts. */
export function picked(repository: string, branch: string, commit: string): string | undefined {
  const clone = makeClone(repository, branch);
  const isMerge = run(REAL_GIT, ['rev-parse', '--verify', '-q', `${commit}^2`], clone).exitCode === 0;
  const args = ['cherry-pick', '--no-commit', ...(isMerge ? ['-m', '1'] : []), commit];
  return run(REAL_GIT, args, clone).exitCode === 0 ? writeTree(clone) : undefined;
}

interface Bring {
  readonly way: 'merge' | 'rebase';
  readonly head: string;
  readonly branch: string;
}

/** The tree after a merge of `branch` into `head`, or a rebase onto it. Undefined if git reports conflicts. */
export function brought(repository: string, { way, head, branch }: Bring): string | undefined {
  const clone = makeClone(repository, 'main', '--no-checkout');
  // git refuses to rebase where attributes give a clean checkout other ends of lines.
  writeFileSync(join(clone, '.git/info/attributes'), '* -text -eol -ident\n');
  ok(REAL_GIT, ['checkout', '-q', '-B', 'work', head], clone);
  const { stdout: fork } = run(REAL_GIT, ['merge-base', '--fork-point', 'main', head], repository);
  // What main has dropped since does not come along; the clone has no reflog.
  const isUsual = ['', mergeBase(clone, head, branch)].includes(fork.trim());
  const onto = isUsual ? [branch] : ['--onto', branch, fork.trim()];
  const args = way === 'merge' ? ['merge', '-q', '--no-edit', branch] : ['rebase', '-q', ...onto];
  return run(REAL_GIT, args, clone).exitCode === 0
    ? ok(REAL_GIT, ['rev-parse', 'HEAD^{tree}'], clone).trim()
    : undefined;
}

export function mergeBase(repository: string, one: string, ...others: string[]): string {
  return ok(REAL_GIT, ['merge-base', one, ...others], repository).trim();
}

function makeClone(repository: string, branch: string, ...options: string[]): string {
  const clone = join(makeDirectory('clone'), 'clone');
  ok(REAL_GIT, ['clone', '-q', '--shared', ...options, '-b', branch, repository, clone], repository);
  return clone;
}

function writeTree(clone: string): string {
  const tree = ok(REAL_GIT, ['write-tree'], clone).trim();
  madeIn.set(tree, clone);
  return tree;
}

/** The clone has the objects of its tree. */
const madeIn = new Map<string, string>();

/** For people: how a tree differs from the one that git has made, if it has. */
export function otherThanGits(repository: string, expected: string | undefined, tree: string): string {
  if (expected === undefined) return 'conflicts';
  const objects = join(madeIn.get(expected) ?? repository, '.git/objects');
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: objects };
  return run(REAL_GIT, ['diff', expected, tree], repository, '', env).stdout;
}

/** `tree` with only those changes against `base` that the filter takes. */
export function chosen(
  repository: string,
  base: string,
  tree: string,
  takes: (path: string) => boolean,
): string {
  const env = { GIT_INDEX_FILE: join(makeDirectory('index'), 'index') };
  run(REAL_GIT, ['read-tree', base], repository, '', env);
  const args = ['diff-tree', '-r', '-z', '--no-renames', base, tree];
  const parts = zeroed(ok(REAL_GIT, args, repository));
  const lines: string[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [, mode, , oid] = (parts[i] as string).split(' ');
    if (takes(parts[i + 1] as string))
      lines.push(`${mode === '000000' ? '0' : mode} ${oid}\t${parts[i + 1]}\0`);
  }
  run(
    REAL_GIT,
    ['update-index', '-z', '--index-info'],
    repository,
    Buffer.from(lines.join(''), 'latin1'),
    env,
  );
  const written = run(REAL_GIT, ['write-tree'], repository, '', env);
  if (written.exitCode !== 0) throw new Error(written.stderr);
  return written.stdout.trim();
}

/** The facts of a clean checkout of a branch. */
export function cleanCheckout(repository: string, branch: string): Facts {
  const clone = join(makeDirectory('clone'), 'project');
  ok(REAL_GIT, ['clone', '-q', '--shared', '--no-checkout', '-b', branch, repository, clone], repository);
  const fileMode = run(REAL_GIT, ['config', 'core.fileMode'], repository).stdout.trim();
  ok(REAL_GIT, ['config', 'core.fileMode', fileMode || 'true'], clone);
  ok(REAL_GIT, ['checkout', '-q', branch], clone);
  return readCheckout(clone);
}
