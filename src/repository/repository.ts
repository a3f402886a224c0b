/** The repository that agt works in, and where its sessions live. */

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { localConfigPath, readArea } from '../config/local-config.ts';
import type { Settings } from '../config/settings.ts';
import { type ConfigEntry, lastValue, parseGitConfig } from '../git/files/config-file.ts';
import { type Git, gitAnswer, inDirectory } from '../git/run/git.ts';
import type { FoundRepository } from './find-repository.ts';
import { agtDirectory, areaSessions } from './layout.ts';

export interface Repository {
  /** Runs in the main worktree, which relative addresses of remotes are relative to; of a bare one in itself. */
  readonly git: Git;
  /** Absolute, symlinks resolved. */
  readonly commonDir: string;
  /** `<commonDir>/agt`. */
  readonly agtDir: string;
  /** The folder beside the bare repository of an agt clone; undefined in an ordinary repository. */
  readonly area: string | undefined;
  /** Where session folders are; absolute. */
  readonly sessionsDir: () => Promise<string>;
  /** The worktree that the command was called in; undefined outside of any. */
  readonly worktree: string | undefined;
  readonly configFile: string;
  readonly settings: Settings;
}

export interface SettingsReader {
  readonly env: NodeJS.ProcessEnv;
  readonly read: (localFile: string) => Settings;
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
    agtDir: agtDirectory(commonDir),
    area,
    sessionsDir: () => {
      sessionsDir ??=
        area === undefined ? siblingSessionsDir(own, main) : Promise.resolve(areaSessions(area));
      return sessionsDir;
    },
    worktree,
    configFile,
    settings: settings.read(configFile),
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
