/** Facts about the directory in which session folders are, for the providers to judge. */
import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { decodeMountField } from '../disk/mounts.ts';
import { stateHome } from '../disk/state-home.ts';
import { attempt } from '../errors.ts';

export interface Place {
  /** The directory of the session folders; it need not exist. */
  readonly directory: string;
  /** It or the nearest directory above that exists. */
  readonly existing: string;
  /** f_type of statfs(2); undefined if the system cannot tell. */
  readonly fileSystem: number | undefined;
  readonly mount: Mount | undefined;
  readonly isRoot: boolean;
  /** XDG_STATE_HOME; undefined without a home. */
  readonly state: string | undefined;
  /** Absolute path of a program on PATH. */
  readonly program: (name: string) => string | undefined;
}

interface Mount {
  readonly point: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

export function readPlace(directory: string, env: NodeJS.ProcessEnv): Place {
  const existing = nearest(directory);
  return {
    directory,
    existing,
    fileSystem: fileSystemOf(existing),
    mount: mountOf(existing),
    isRoot: process.geteuid?.() === 0,
    state: stateHome(env),
    program: (name) => findProgram(name, env['PATH']),
  };
}

function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

function fileSystemOf(path: string): number | undefined {
  return attempt(() => (process.platform === 'linux' ? statfsSync(path).type >>> 0 : undefined));
}

/** The mount that a directory is on: the longest mount point above it, and of equal ones the last. */
export function mountOf(path: string): Mount | undefined {
  const table = attempt(() => readFileSync('/proc/self/mountinfo', 'latin1'));
  if (table === undefined) return undefined;
  const bytes = Buffer.from(path).toString('latin1');
  let found: Mount | undefined;
  for (const line of table.split('\n').filter((text) => text !== '')) {
    const [before = '', after = ''] = line.split(' - ');
    const fields = before.split(' ');
    const point = decodeMountField(fields[4] ?? '');
    const isAbove = point === '/' || bytes === point || bytes.startsWith(`${point}/`);
    if (!isAbove || point.length < (found?.point.length ?? 0)) continue;
    const [type = '', source = '', superOptions = ''] = after.split(' ');
    const options = [...(fields[5] ?? '').split(','), ...superOptions.split(',')];
    found = { point, type, source: decodeMountField(source), options };
  }
  return found;
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
