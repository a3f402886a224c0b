/**
 * Indexes of git that agt makes for one command: a copy in which the files of a worktree are added as git would commit
 * them, or a tree in which some entries are others. The index of the worktree stays as it is.
 */
import { randomUUID } from 'node:crypto';
import { copyFileSync, lstatSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { statOrUndefined } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';
import { gitDirOf } from '../files/discover-repository.ts';
import { submoduleHead } from '../files/head-file.ts';
import { SUBMODULE } from '../modes.ts';
import { withSettings } from '../run/environment.ts';
import {
  FSYNC_ARGS,
  fieldsOf,
  type Git,
  type GitRun,
  gitAnswer,
  gitBytes,
  gitText,
  resolveObject,
  runGit,
} from '../run/git.ts';

/** The user's settings change neither the kind of index nor what is added. */
const SETTINGS = {
  'core.splitIndex': 'false',
  'index.sparse': 'false',
  'add.ignoreErrors': 'false',
  'advice.addEmbeddedRepo': 'false',
};

/** A git whose index is the file. */
export function withIndex(git: Git, file: string): Git {
  return withSettings({ ...git, env: { ...git.env, GIT_INDEX_FILE: file } }, SETTINGS);
}

/** For a git that compares trees: it reads the index of the checkout all the same, and fails if that is damaged. */
export function withoutIndex(git: Git): Git {
  return { ...git, env: { ...git.env, GIT_INDEX_FILE: join(git.cwd, `.agt-${randomUUID()}`) } };
}

/**
 * A git whose index is a copy of the one in `gitDir`. The copy is not younger: git reads a file again if it changed in
 * the second of the index or later. Without an index the copy has the entries of HEAD.
 */
export async function copyIndex(git: Git, gitDir: string | undefined, copy: string): Promise<Git> {
  const original = gitDir === undefined ? undefined : join(gitDir, 'index');
  const stat = original === undefined ? undefined : statOrUndefined(original);
  if (original === undefined || stat === undefined) return headIndex(git, copy);
  copyFileSync(original, copy);
  const seconds = Math.floor(stat.mtimeMs / 1000);
  utimesSync(copy, seconds, seconds);
  return withIndex(git, copy);
}

/** A git with a new index that has the entries of HEAD; empty before the first commit. */
export async function headIndex(git: Git, file: string): Promise<Git> {
  rmSync(file, { force: true });
  const index = withIndex(git, file);
  if ((await resolveObject(git, 'HEAD')) !== undefined) await gitText(index, ['read-tree', 'HEAD']);
  return index;
}

/**
 * Adds every file that git does not ignore, those outside of a sparse checkout too. `git add` would run `git status` in
 * each submodule, by the filters of its own settings; so agt itself reads which commit a submodule has checked out.
 * `options` are of `git add`; `others` are repositories that stay out, and `files` are files.
 */
export async function addAll(
  index: Git,
  options: readonly string[] = ['--all'],
  others: readonly string[] = [],
  files: readonly string[] = [],
): Promise<GitRun> {
  const submodules = await listSubmodules(index);
  // With a literal path, git would also refuse a directory above it that a rule ignores.
  const exclude = (path: string) => `:(top,exclude,glob)${path.replace(/^.|[*?[\\]/gs, '\\$&')}`;
  const excluded = [
    ...submodules.map(({ path }) => `${exclude(path)}\0`),
    ...others.map((path) => `${exclude(path)}/**\0`),
    ...files.map((path) => `${exclude(path)}\0`),
  ];
  const args = ['add', '--sparse', ...options, '--pathspec-from-file=-', '--pathspec-file-nul'];
  const input = Buffer.from([':/\0', ...excluded].join(''), 'latin1');
  const added = await runGit(index, [...FSYNC_ARGS, ...args], { input });
  await editIndex(
    index,
    submodules.flatMap(({ path, head }): IndexEdit[] => (head ? [[path, `${SUBMODULE} ${head}`]] : [])),
  );
  return added;
}

/** Those whose directory is there, but for those that git passes over. `head`: what is checked out, if not that of the index. */
async function listSubmodules(index: Git): Promise<{ path: string; head: string | undefined }[]> {
  const args = ['ls-files', '-v', '--stage', '--full-name', '-z', ':/'];
  const listed = (await gitBytes(index, args)).toString('latin1');
  const root = Buffer.from(`${index.cwd}/`).toString('latin1');
  const found: { path: string; head: string | undefined }[] = [];
  for (const line of listed.split('\0')) {
    const [, oid = '', path = ''] = /^H 160000 (\w+) 0\t(.*)$/s.exec(line) ?? [];
    const directory = Buffer.from(root + path, 'latin1');
    if (path === '' || !isDirectory(directory)) continue;
    const head = submoduleHead(directory.toString()) ?? (await askForHead(index, directory.toString()));
    found.push({ path, head: head === oid ? undefined : head });
  }
  return found;
}

/** False also below a file, which may be in the place of a directory. */
function isDirectory(path: Buffer): boolean {
  return attempt(() => lstatSync(path).isDirectory()) === true;
}

/** For a submodule whose refs only git can read. */
async function askForHead(index: Git, submodule: string): Promise<string | undefined> {
  const env = { ...index.env, GIT_DIR: gitDirOf(submodule), GIT_INDEX_FILE: undefined };
  if (env.GIT_DIR === undefined) return undefined;
  return resolveObject({ ...index, env: { ...env, GIT_OBJECT_DIRECTORY: undefined } }, 'HEAD^{commit}');
}

/** `mode oid` of a path, or undefined to remove its entry. Paths hold one byte per character. */
export type IndexEdit = readonly [path: string, entry: string | undefined];

/** Also for the index of a worktree. `oidLength` counts hexadecimal digits; only removals need it. */
export async function editIndex(index: Git, edits: Iterable<IndexEdit>, oidLength = 0): Promise<void> {
  const removal = `0 ${'0'.repeat(oidLength)}`;
  // A file may come in the place of a directory, or the other way round.
  const removalsFirst = [...edits].sort(([, a], [, b]) => Number(a !== undefined) - Number(b !== undefined));
  const lines = removalsFirst.map(([path, entry]) => `${entry ?? removal}\t${path}\0`);
  if (lines.length === 0) return;
  const input = Buffer.from(lines.join(''), 'latin1');
  await gitText(index, ['update-index', '-z', '--index-info'], { input });
}

/** `mode oid` of each file of the index; one that is in conflict has the last stage. */
export async function readIndex(git: Git): Promise<Map<string, string>> {
  const lines = fieldsOf(await gitBytes(git, ['ls-files', '--stage', '-z']));
  return new Map(
    lines.map((line) => {
      const tab = line.indexOf('\t');
      const [mode, oid, stage] = line.slice(0, tab).split(' ');
      return [line.slice(tab + 1), stage === '0' ? `${mode} ${oid}` : 'conflict'];
    }),
  );
}

/** The tree with other entries, which goes into the directory `prefix`: '' or a path with a slash at its end. */
export async function editTree(
  index: Git,
  { tree, prefix = '' }: { readonly tree: string; readonly prefix?: string },
  edits: Iterable<IndexEdit>,
): Promise<string> {
  rmSync(index.env['GIT_INDEX_FILE'] ?? '', { force: true });
  const into = prefix === '' ? [] : ['-i', `--prefix=${prefix}`];
  await gitText(index, ['read-tree', ...into, `${tree}^{tree}`]);
  await editIndex(index, edits, tree.length);
  return writeTree(index, ['--missing-ok']);
}

/** The objects and the tree are on disk afterwards. */
export function writeTree(index: Git, options: readonly string[] = []): Promise<string> {
  return gitText(index, [...FSYNC_ARGS, 'write-tree', ...options]);
}

/** A commit that agt makes for itself: for a merge, or to keep a tree. */
export async function plainCommit(git: Git, tree: string, parents: readonly string[]): Promise<string> {
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', 'for agt'];
  return gitText(git, [...FSYNC_ARGS, ...args], { env: NOBODY });
}

/** No branch ever leads to such a commit. */
const NOBODY = {
  GIT_AUTHOR_NAME: 'agt',
  GIT_AUTHOR_EMAIL: 'agt@local',
  GIT_COMMITTER_NAME: 'agt',
  GIT_COMMITTER_EMAIL: 'agt@local',
};

/** Undefined if they conflict. git 2.39 merges commits alone. */
export async function mergeTrees(git: Git, base: string, ours: string, theirs: string) {
  const root = await plainCommit(git, base, []);
  const sides = [await plainCommit(git, ours, [root]), await plainCommit(git, theirs, [root])];
  return gitAnswer(git, [...FSYNC_ARGS, 'merge-tree', '--write-tree', ...sides]);
}
