/**
 * The repository that agt works in, and where its sessions live. Found from a worktree, a bare repository, the area
 * of an agt clone, or any part of a session folder (whose `xdg/` and `config/` are in no worktree).
 */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { localConfigPath, readArea, stateDirectory } from '../config/local.ts';
import type { Settings } from '../config/settings.ts';
import { type Git, gitAnswer, inDirectory } from '../git/git.ts';

export interface Repository {
  /** Runs in the main worktree, which relative addresses of remotes are relative to; of a bare one in itself. */
  readonly git: Git;
  /** Absolute, symlinks resolved. */
  readonly commonDir: string;
  /** `<commonDir>/agt`. */
  readonly stateDir: string;
  /** The folder beside the bare repository of an agt clone; undefined in an ordinary repository. */
  readonly area: string | undefined;
  /** Where session folders are; absolute. */
  readonly sessionsDir: string;
  /** The worktree that the command was called in; undefined outside of any. */
  readonly worktree: string | undefined;
  readonly configFile: string;
  readonly settings: Settings;
}

export interface FoundRepository {
  readonly commonDir: string;
  readonly worktree: string | undefined;
}

export interface SettingsReader {
  readonly env: NodeJS.ProcessEnv;
  readonly read: (localFile: string) => Settings;
}

export async function findRepository(git: Git, cwd: string): Promise<FoundRepository | undefined> {
  const place = sessionSandboxAbove(cwd) ?? cwd;
  const asked = await askGit(inDirectory(git, place));
  if (asked !== undefined) return asked;
  const bare = cloneAbove(cwd);
  return bare === undefined ? undefined : { commonDir: bare, worktree: undefined };
}

/** `git` may run anywhere. */
export async function openRepository(
  git: Git,
  found: FoundRepository,
  settings: SettingsReader,
): Promise<Repository> {
  const { commonDir, worktree } = found;
  const main = await mainWorktree(inDirectory(git, commonDir), commonDir);
  const own = inDirectory(git, existsSync(main) ? main : commonDir);
  const area = readArea(commonDir);
  const configFile = localConfigPath(commonDir);
  return {
    git: own,
    commonDir,
    stateDir: stateDirectory(commonDir),
    area,
    sessionsDir: area === undefined ? await siblingSessionsDir(own, main) : join(area, 'sessions'),
    worktree,
    configFile,
    settings: settings.read(configFile),
  };
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
    if (
      existsSync(join(stateDirectory(bare), 'area')) &&
      readArea(realpathSync(bare)) === realpathSync(dir)
    ) {
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

async function askGit(git: Git): Promise<FoundRepository | undefined> {
  const inside = await gitAnswer(git, [
    'rev-parse',
    '--path-format=absolute',
    '--git-common-dir',
    '--is-inside-work-tree',
  ]);
  if (inside === undefined) return undefined;
  const [commonDir = '', isInside = ''] = splitLast(inside);
  const worktree =
    isInside === 'true'
      ? await gitAnswer(git, ['rev-parse', '--path-format=absolute', '--show-toplevel'])
      : undefined;
  return { commonDir: realpathSync(commonDir), worktree };
}

/** A path may hold line breaks; the answer after it does not. */
function splitLast(text: string): [string, string] {
  const at = text.lastIndexOf('\n');
  return [text.slice(0, at), text.slice(at + 1)];
}

/**
 * `<repo>.agt/sessions`, beside an ordinary repository. Never inside a worktree, where editors and watchers would walk
 * into it: a submodule's sessions go beside the outermost superproject.
 */
async function siblingSessionsDir(git: Git, main: string): Promise<string> {
  let outer = main;
  for (;;) {
    const above = await gitAnswer(inDirectory(git, outer === main ? git.cwd : outer), [
      'rev-parse',
      '--show-superproject-working-tree',
    ]);
    if (!above) break;
    outer = above;
  }
  return join(`${outer}.agt`, relative(outer, main), 'sessions');
}

/** The worktree that the repository was made with; the repository itself where it is bare. */
async function mainWorktree(git: Git, commonDir: string): Promise<string> {
  const configured = await gitAnswer(git, ['config', '--get', 'core.worktree']);
  if (configured) return resolve(commonDir, configured);
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}
