/** Facts about the directory in which session folders are, for the providers to judge. */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileSystemType, type MountEntry, mountOf } from '../disk/mounts.ts';
import { stateHome } from '../disk/state-home.ts';

export interface Place {
  /** The directory of the session folders; it need not exist. */
  readonly directory: string;
  /** It or the nearest directory above that exists. */
  readonly existing: string;
  /** f_type of statfs(2); undefined if the system cannot tell. */
  readonly fileSystem: number | undefined;
  readonly mount: MountEntry | undefined;
  readonly isRoot: boolean;
  /** XDG_STATE_HOME; undefined without a home. */
  readonly state: string | undefined;
  /** Absolute path of a program on PATH. */
  readonly program: (name: string) => string | undefined;
}

export function readPlace(directory: string, env: NodeJS.ProcessEnv): Place {
  const existing = nearest(directory);
  return {
    directory,
    existing,
    fileSystem: fileSystemType(existing),
    mount: mountOf(existing),
    isRoot: process.geteuid?.() === 0,
    state: stateHome(env),
    program: (name) => findProgram(name, env['PATH']),
  };
}

function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

/** Also where people without root have no PATH for it. */
export const SYSTEM_PROGRAMS = ['/usr/sbin', '/sbin', '/usr/bin', '/bin'];

function findProgram(name: string, path = ''): string | undefined {
  return [...path.split(delimiter), ...SYSTEM_PROGRAMS]
    .filter((directory) => directory.startsWith('/'))
    .map((directory) => join(directory, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
