/**
 * Finds the repository that a command means: from a worktree, a bare repository, the area of an agt clone, or any part of
 * a session folder (whose `xdg/` and `config/` are in no worktree).
 */

import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { readArea } from '../config/local-config.ts';
import { parseGitConfig } from '../git/files/config-file.ts';
import { discoverRepository } from '../git/files/discover.ts';
import { type Git, gitAnswer, inDirectory } from '../git/run/git.ts';
import { agtDirectory, areaFile } from './layout.ts';

export interface FoundRepository {
  /** Absolute, symlinks resolved. */
  readonly commonDir: string;
  /** Undefined outside of any. */
  readonly worktree: string | undefined;
}

export async function findRepository(git: Git, cwd: string): Promise<FoundRepository | undefined> {
  const place = sessionSandboxAbove(cwd) ?? cwd;
  const asked = findWithoutGit(place, git.env) ?? (await askGit(inDirectory(git, place)));
  if (asked !== undefined) return asked;
  const bare = cloneAbove(cwd);
  return bare === undefined ? undefined : { commonDir: bare, worktree: undefined };
}

/** The nearest session folder's sandbox above `path`, `path` itself included, if it still is a worktree. */
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
 * What git would say, without the start of a process; undefined where the answer is not plain: what is not all the user's
 * own (git asks safe.directory then), or has settings that a worktree may depend on.
 */
function findWithoutGit(place: string, env: NodeJS.ProcessEnv): FoundRepository | undefined {
  const user = process.geteuid?.();
  if (user === undefined || env['GIT_TEST_ASSUME_DIFFERENT_OWNER'] !== undefined) return undefined;
  const found = discoverRepository(place, env);
  if (found?.top === undefined) return undefined;
  const { gitDir, commonDir, top } = found;
  try {
    const owned = [top, join(top, '.git'), gitDir].every((path) => lstatSync(path).uid === user);
    if (!owned || !isPlain(gitDir, commonDir)) return undefined;
    return { commonDir: realpathSync(commonDir), worktree: top };
  } catch {
    return undefined; // git will say what is wrong with it
  }
}

/** Whether the worktree is where its `.git` is, and nothing but the one file of settings says so. */
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

async function askGit(git: Git): Promise<FoundRepository | undefined> {
  const answer = await gitAnswer(git, [
    'rev-parse',
    '--path-format=absolute',
    '--git-common-dir',
    '--show-cdup',
  ]);
  if (answer === undefined) return undefined;
  // The way up to the top of the worktree is made of dots, or is its path where core.worktree names another place; outside
  // of a worktree there is no such line.
  const [, commonDir = answer, up] = /^(.*)\n((?:\.\.\/)*|\/[^\n]*)$/s.exec(answer) ?? [];
  if (!isAbsolute(commonDir) || !existsSync(commonDir)) return undefined; // whatever answered is not git
  return {
    commonDir: realpathSync(commonDir),
    worktree: up === undefined ? undefined : resolve(git.cwd, up),
  };
}
