/**
 * Finds the repository that a command means: from a worktree, a bare repository, the area of an agt clone, or any part of
 * a session folder (whose `xdg/` and `config/` are in no worktree).
 */
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { readArea } from '../config/local-config.ts';
import { statOrUndefined } from '../disk/read-file.ts';
import { parseGitConfig } from '../git/files/config-file.ts';
import { discoverRepository, repositoryOfWorktree } from '../git/files/discover-repository.ts';
import { type Git, inDirectory, runGit, unusable } from '../git/run/git.ts';
import { agtDirectory, areaFile } from '../layout.ts';

export interface FoundRepository {
  /** Absolute, symlinks resolved. */
  readonly commonDir: string;
  /** Top directory of the worktree; undefined outside a worktree. */
  readonly worktree: string | undefined;
}

export async function findRepository(git: Git, cwd: string): Promise<FoundRepository | undefined> {
  const sandbox = sessionSandboxAbove(cwd);
  // Somebody has made a repository of the sandbox, or its file leads nowhere. The session goes on.
  const own = sandbox !== undefined && !repositoryOfWorktree(sandbox) && repositoryAround(cwd);
  if (own) return { commonDir: own, worktree: undefined };
  const start = sandbox ?? cwd;
  const found =
    findWithoutGit(start, git.env) ??
    (isOutsideRepositories(start, git.env) ? undefined : await askGit(inDirectory(git, start)));
  if (found !== undefined) return found;
  const bare = repositoryAround(cwd);
  return bare === undefined ? undefined : { commonDir: bare, worktree: undefined };
}

/** The `.git` file, here or above, from which git finds no repository, and looks no further. */
export function brokenGitFile(cwd: string): string | undefined {
  const files = [...ancestors(cwd)].map((dir) => join(dir, '.git'));
  const nearest = files.find((file) => statOrUndefined(file)?.isFile());
  return nearest !== undefined && repositoryOfWorktree(dirname(nearest)) === undefined ? nearest : undefined;
}

/** The repository whose area or session folder `path` is in, which may be gone. */
export function repositoryAround(path: string): string | undefined {
  return cloneAbove(path) ?? repositoryBeside(path);
}

/** The repository whose session folders `path` is among, or in one of them: `<repository>.agt/sessions/<id>`. */
function repositoryBeside(path: string): string | undefined {
  for (const dir of ancestors(path)) {
    const beside = basename(dir) === 'sessions' ? dirname(dir) : dir === path ? dir : '';
    if (!beside.endsWith('.agt')) continue;
    const found = discoverRepository(beside.slice(0, -'.agt'.length), {});
    if (found !== undefined && existsSync(agtDirectory(found.commonDir)))
      return realpathSync(found.commonDir);
  }
  return undefined;
}

/** The sandbox of the session folder that `path` is in, if it still is a worktree. */
function sessionSandboxAbove(path: string): string | undefined {
  for (const dir of ancestors(path)) {
    const sandbox = join(dir, 'sandbox');
    if (basename(dirname(dir)) === 'sessions' && existsSync(join(sandbox, '.git'))) return sandbox;
  }
  return undefined;
}

/** The bare repository of the agt clone whose area `path` is in. */
function cloneAbove(path: string): string | undefined {
  for (const dir of ancestors(path)) {
    const bare = `${dir}.git`;
    if (existsSync(areaFile(agtDirectory(bare))) && readArea(realpathSync(bare)) === realpathSync(dir)) {
      return realpathSync(bare);
    }
  }
  return undefined;
}

function* ancestors(path: string): Generator<string> {
  for (let dir = path; ; dir = dirname(dir)) {
    yield dir;
    if (dir === dirname(dir)) return;
  }
}

/**
 * Finds the repository without starting git. Undefined if only git can tell: if another user owns a part of it (git
 * then reads safe.directory), or if it has settings that may move its worktree.
 */
function findWithoutGit(start: string, env: NodeJS.ProcessEnv): FoundRepository | undefined {
  const user = process.geteuid?.();
  if (user === undefined || env['GIT_TEST_ASSUME_DIFFERENT_OWNER'] !== undefined) return undefined;
  const found = discoverRepository(start, env);
  if (found?.top === undefined) return undefined;
  const { gitDir, commonDir, top } = found;
  try {
    const owned = [top, join(top, '.git'), gitDir].every((path) => lstatSync(path).uid === user);
    if (!owned || !isPlain(gitDir, commonDir)) return undefined;
    return { commonDir: realpathSync(commonDir), worktree: top };
  } catch {
    return undefined; // git reports what is wrong with it
  }
}

const IF_THERE = { throwIfNoEntry: false } as const;

/** Whether git can find no repository from here: no directory above has a `.git`, or is a bare repository. */
export function isOutsideRepositories(path: string, env: NodeJS.ProcessEnv): boolean {
  try {
    if (discoverRepository(path, env) !== undefined) return false;
    return [...ancestors(path)].every((dir) => lstatSync(join(dir, '.git'), IF_THERE) === undefined);
  } catch {
    return false; // agt may not look there
  }
}

/** True if the worktree is the directory that holds `.git`, and no setting and no other file can change that. */
function isPlain(gitDir: string, commonDir: string): boolean {
  const settings = parseGitConfig(readFileSync(join(commonDir, 'config'), 'utf8'));
  const isLinked = gitDir !== commonDir;
  return (
    !existsSync(join(gitDir, 'config.worktree')) &&
    settings.every(({ key, value }) => {
      if (/^include(if)?\./.test(key)) return false;
      if (key === 'core.repositoryformatversion') return value === '0' || value === '1';
      return isLinked || !(key === 'core.worktree' || (key === 'core.bare' && value !== 'false'));
    })
  );
}

/** @throws AgtError if there is a repository that git refuses to use, with git's own reason and advice. */
function refuseUnusable(stderr: string): undefined {
  const [reason = ''] = stderr.trim().split('\n');
  if (!reason.startsWith('fatal: ') || reason.includes('not a git repository')) return undefined;
  throw unusable('this repository', stderr);
}

async function askGit(git: Git): Promise<FoundRepository | undefined> {
  const words = ['rev-parse', '--path-format=absolute', '--git-common-dir', '--show-cdup'];
  const run = await runGit({ ...git, env: { ...git.env, LC_ALL: 'C' } }, words);
  if (run.exitCode !== 0) return refuseUnusable(run.stderr);
  const answer = run.stdout.toString().replace(/\n$/, '');
  // Inside a worktree, git prints a second line: the way up to its top as `../`, or an absolute path if core.worktree
  // names another directory.
  const [, commonDir = answer, up] = /^(.*)\n((?:\.\.\/)*|\/[^\n]*)$/s.exec(answer) ?? [];
  if (!isAbsolute(commonDir) || !existsSync(commonDir)) return undefined; // the program that answered is not git
  return {
    commonDir: realpathSync(commonDir),
    worktree: up === undefined ? undefined : resolve(git.cwd, up),
  };
}
