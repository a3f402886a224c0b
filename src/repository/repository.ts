/** The repository that agt works in, its settings and the directory of its sessions. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { localConfigPath, readArea } from '../config/local-config.ts';
import { prefixesInUse } from '../config/prefixes.ts';
import type { Settings } from '../config/settings.ts';
import { readSmallFile } from '../disk/read-file.ts';
import { realPath } from '../disk/real-path.ts';
import { AgtError, attempt } from '../errors.ts';
import type { AllPrefixes } from '../filter/agent-refs.ts';
import { type ConfigEntry, lastValue, parseGitConfig } from '../git/files/config-file.ts';
import { type Git, inDirectory } from '../git/run/git.ts';
import { agtDirectory } from '../layout.ts';
import { once } from '../once.ts';
import type { FoundRepository } from './find-repository.ts';
import { findSessionsPlace, type SessionsPlace } from './sessions-place.ts';

export interface Repository {
  /** Runs in the main worktree, since relative URLs of remotes depend on it; in a bare repository, in the repository. */
  readonly git: Git;
  /** Absolute, symlinks resolved. */
  readonly commonDir: string;
  /** `<commonDir>/agt`. */
  readonly agtDir: string;
  /** The directory beside the bare repository of an agt clone; undefined in an ordinary repository. */
  readonly area: string | undefined;
  /** Absolute path of the directory that holds the session folders. */
  readonly sessionsDir: () => Promise<string>;
  readonly sessionsPlace: () => Promise<SessionsPlace>;
  /** Top of the worktree that the command was called in; undefined outside a worktree. */
  readonly worktree: string | undefined;
  readonly configFile: string;
  readonly settings: Settings;
  readonly prefixes: AllPrefixes;
}

/** `readSettings` gets the path of the repository's own settings file. */
export function openRepository(
  git: Git,
  found: FoundRepository,
  readSettings: (localFile: string) => Settings,
): Repository {
  const { commonDir, worktree } = found;
  const main = mainWorktree(commonDir);
  const ownGit = inDirectory(git, existsSync(main) ? main : commonDir);
  const area = readArea(commonDir);
  const configFile = localConfigPath(commonDir);
  const settings = readSettings(configFile);
  const owner = { git: ownGit, commonDir, main, area, chosen: settings.sessionsDir };
  const sessionsPlace = once(() => findSessionsPlace(owner));
  return {
    git: ownGit,
    commonDir,
    agtDir: agtDirectory(commonDir),
    area,
    sessionsDir: async () => (await sessionsPlace()).directory,
    sessionsPlace,
    worktree,
    configFile,
    settings,
    prefixes: prefixesInUse(agtDirectory(commonDir), settings),
  };
}

/** The worktree that the repository was made with; for a bare repository, the repository itself. */
function mainWorktree(commonDir: string): string {
  const folder = folderOfNamespace(commonDir);
  const users = folder === undefined ? undefined : readSmallFile(namespaceFiles(folder).path);
  if (users !== undefined) return users;
  const configured = lastValue(readRepositoryConfig(commonDir), 'core.worktree');
  if (configured !== undefined) return resolve(commonDir, configured);
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}

/** The repository's own config file, without includes: git writes core.worktree here and nowhere else. */
function readRepositoryConfig(commonDir: string): ConfigEntry[] {
  const read = () => parseGitConfig(readFileSync(join(commonDir, 'config'), 'utf8'));
  return attempt(read) ?? []; // git reports what is wrong with it
}

/** @throws AgtError if the worktree of the repository is `/` or the home directory. */
export function refuseHomeAndRoot({ git, worktree }: Repository): void {
  const home = git.env['HOME'] && realPath(git.env['HOME']);
  for (const folder of [git.cwd, worktree]) {
    const path = folder === undefined ? undefined : realPath(folder);
    if (path === undefined || (path !== sep && path !== home)) continue;
    const what = path === sep ? 'the root directory' : 'your home directory';
    throw new AgtError(`cannot create a session of ${what} ("${path}")`, {
      hints: ['make the folder that the agent works on a repository: git init, or agt clone <url>'],
    });
  }
}

/** @throws AgtError if the repository is inside the session folder: each snapshot would contain all earlier ones. */
export function refuseRepositoryInside({ commonDir }: Repository, sessionFolder: string): void {
  if (folderOfNamespace(commonDir) !== undefined) return; // it only stands there, for one command
  if (!`${commonDir}${sep}`.startsWith(`${realPath(sessionFolder)}${sep}`)) return;
  throw new AgtError(`the repository "${commonDir}" is inside the session folder "${sessionFolder}"`, {
    hints: [
      'each snapshot would contain all earlier ones; move the repository, then run: git worktree repair',
    ],
  });
}

/** Files in the session folder. Captures and forks pass over names that begin with `.agt-`. */
export function namespaceFiles(sessionFolder: string) {
  const directory = join(sessionFolder, NAMESPACE);
  const inIt = (name: string) => join(directory, name);
  return {
    directory,
    /** Where the common git directory stands meanwhile. */
    gitDirectory: inIt('.git'),
    /** Where the sandbox's registration stands meanwhile. */
    registration: inIt('registration'),
    /** Names the user's path. */
    path: inIt('path'),
    gitFile: inIt('git-file'),
    gitdir: inIt('gitdir'),
    bin: inIt('bin'),
  };
}

const NAMESPACE = '.agt-namespace';

/** The session folder, if a common git directory stands in one meanwhile. */
export function folderOfNamespace(commonDir: string): string | undefined {
  const directory = dirname(commonDir);
  return basename(directory) === NAMESPACE && basename(commonDir) === '.git' ? dirname(directory) : undefined;
}
