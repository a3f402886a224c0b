/**
 * The repository that agt works in, and where its sessions live. Found from a worktree, a bare repository, the area
 * of an agt clone, or any part of a session folder (whose `xdg/` and `config/` are in no worktree).
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { type ConfigEntry, lastValue, parseGitConfig } from '../config/gitconfig.ts';
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
  readonly sessionsDir: () => Promise<string>;
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
export function openRepository(git: Git, found: FoundRepository, settings: SettingsReader): Repository {
  const { commonDir, worktree } = found;
  const main = mainWorktree(commonDir);
  const own = inDirectory(git, existsSync(main) ? main : commonDir);
  const area = readArea(commonDir);
  const configFile = localConfigPath(commonDir);
  let sessionsDir: Promise<string> | undefined;
  return {
    git: own,
    commonDir,
    stateDir: stateDirectory(commonDir),
    area,
    sessionsDir: () => {
      sessionsDir ??=
        area === undefined ? siblingSessionsDir(own, main) : Promise.resolve(join(area, 'sessions'));
      return sessionsDir;
    },
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
function mainWorktree(commonDir: string): string {
  const configured = lastValue(readRepositoryConfig(commonDir), 'core.worktree');
  if (configured !== undefined) return resolve(commonDir, configured);
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}

/** The repository's own file; only what git itself puts there is looked for. */
function readRepositoryConfig(commonDir: string): ConfigEntry[] {
  try {
    return parseGitConfig(readFileSync(join(commonDir, 'config'), 'utf8'));
  } catch {
    return []; // git will say what is wrong with it
  }
}
