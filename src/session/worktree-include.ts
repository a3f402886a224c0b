/**
 * `.worktreeinclude`: a file of gitignore patterns at the top of the user's worktree. agt copies the files
 * that it names and that git ignores (`.env`, local settings) into a new sandbox, by reflink if the file
 * system has those. Tracked files come with the checkout. Untracked files that are not ignored are the user's
 * work in progress; agt leaves them. It copies no symbolic link: the agent would write through it into the user's file.
 */
import { constants, copyFileSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ignore from 'ignore';
import { errorCode, systemFailure } from '../errors.ts';
import { listWorktrees } from '../git/files/worktree-registrations.ts';
import { type Git, gitBytes, inDirectory } from '../git/run/git.ts';
import type { LockedSession } from './lock.ts';

const FILE = '.worktreeinclude';

/** Paths are relative to the sandbox. */
export interface Included {
  readonly copied: readonly string[];
  readonly skipped: readonly SkippedFile[];
}

export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

export async function copyIncludedFiles({
  repository,
  record: { sandbox },
}: LockedSession): Promise<Included> {
  const none = { copied: [], skipped: [] };
  const source = repository.worktree ?? (await listWorktrees(repository.git)).find(({ bare }) => !bare)?.path;
  if (source === undefined || source === sandbox) return none;
  const patterns = readPatterns(join(source, FILE));
  if (patterns === undefined) return none;
  const found = await findIncludedFiles(inDirectory(repository.git, source), patterns);
  const results = found.flatMap((path) => copyFile(path, source, sandbox) ?? []);
  return {
    copied: results.flatMap((result) => (typeof result === 'string' ? result : [])),
    skipped: results.filter((result) => typeof result !== 'string'),
  };
}

function readPatterns(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return undefined;
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errorCode(error))) return undefined;
    throw error;
  }
}

/** The files that the `.worktreeinclude` at the top of a worktree names; `git` runs there. */
export async function includedFiles(git: Git): Promise<string[]> {
  const patterns = readPatterns(join(git.cwd, FILE));
  return patterns === undefined ? [] : findIncludedFiles(git, patterns);
}

/** With more candidates, a listing of all ignored files costs less than a pathspec for each. */
const MOST_PATHSPECS = 200;

/**
 * The files to copy; `git` runs at the top of the worktree. fast-glob finds candidates and opens only
 * directories that can have some: for `local/*.json` it reads `local` and never enters `node_modules`. Then
 * the `ignore` library applies all rules of gitignore, such as negation, and git tells which files are
 * untracked and ignored.
 */
export async function findIncludedFiles(git: Git, patterns: string): Promise<string[]> {
  const globs = patterns.split(/\r?\n/).flatMap(toGlobs);
  if (globs.length === 0) return [];
  const matcher = ignore().add(patterns);
  const candidates = (await findFiles(git.cwd, globs)).filter((path) => matcher.ignores(path));
  if (candidates.length === 0) return [];
  const pathspecs = candidates.length > MOST_PATHSPECS ? [] : candidates;
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '-z', '--', ...pathspecs];
  const ignored = (await gitBytes(git, ['--literal-pathspecs', ...args])).toString().split('\0');
  const isCandidate = new Set(candidates);
  return ignored.filter((path) => isCandidate.has(path));
}

/** Files and symlinks. It does not follow symlinks. */
async function findFiles(directory: string, globs: readonly string[]): Promise<string[]> {
  // Loaded late: only `session new` needs it, and only if there is a .worktreeinclude.
  const { default: glob } = await import('fast-glob');
  // fast-glob begins in the directory that a glob starts with, and takes its name literally: `Local/*` would
  // not find `local`. With FILE, a glob for the top, it begins at the top.
  const found = await glob([FILE, ...globs], {
    cwd: directory,
    ignore: ['**/.git'],
    dot: true,
    onlyFiles: false,
    objectMode: true,
    followSymbolicLinks: false,
    caseSensitiveMatch: false,
    suppressErrors: true,
  });
  return found.filter(({ dirent }) => !dirent.isDirectory()).map(({ path }) => path);
}

/** Characters that can mean something else in a glob, such as `[`. They become `*`, with all that follows. */
const SPECIAL = /[^\p{L}\p{M}\p{N}._~ */-]/u;

/** Globs that match every file that a gitignore pattern matches, and maybe more. */
function toGlobs(line: string): string[] {
  const pattern = line.replace(/ +$/, '');
  if (/^[#!]/.test(pattern)) return [];
  const special = pattern.search(SPECIAL);
  const plain = special < 0 ? pattern.replace(/\/+$/, '') : pattern.slice(0, special);
  const names = (special < 0 ? plain : `${plain}*`).replace(/^\/+/, '').split('/').map(toGlobName);
  if (names.join('') === '' || names.includes('..')) return [];
  // gitignore(5): with a slash before its end, a pattern matches from the top; otherwise at any depth.
  const glob = (plain.includes('/') ? '' : '**/') + names.join('/');
  return [glob, `${glob}/**`];
}

function toGlobName(name: string): string {
  return /^\*{2,}$/.test(name) ? '**' : name.replace(/\*+/g, '*');
}

/** The path, or why it was not copied; undefined if the checkout has such a file. */
function copyFile(path: string, source: string, sandbox: string): string | SkippedFile | undefined {
  const [from, to] = [join(source, path), join(sandbox, path)];
  const skipped = (reason: string) => ({ path, reason });
  try {
    const stat = lstatSync(from);
    if (stat.isSymbolicLink()) return skipped('it is a symbolic link');
    if (!stat.isFile()) return skipped('it is no file');
    if (!leadsInto(sandbox, path)) return skipped('a directory on its way is none in the sandbox');
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return undefined;
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return path;
  } catch (error) {
    const reason = systemFailure(error);
    if (reason === undefined) throw error;
    if (errorCode(error) !== 'EEXIST') rmSync(to, { force: true });
    return skipped(reason);
  }
}

/** False if the checkout has a file or a link in place of a directory: agt writes through no link. */
function leadsInto(sandbox: string, path: string): boolean {
  const parts = path.split('/').slice(0, -1);
  return parts.every((_, i) => {
    const stat = lstatSync(join(sandbox, ...parts.slice(0, i + 1)), { throwIfNoEntry: false });
    return stat === undefined || stat.isDirectory();
  });
}
