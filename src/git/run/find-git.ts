/**
 * Finds the real git. agt may stand on PATH under the name `git` as a link, as a copy or as the shim script; each of
 * those is passed over, because agt calling itself would never end.
 */
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { AgtError } from '../../errors.ts';

/** Written into the first lines of the shim script. */
export const SHIM_MARK = 'agt-shim';

/** git is a few megabytes; a packed agt carries a JavaScript runtime of more than a hundred. */
const LARGEST_GIT = 64 * 1024 * 1024;

export interface GitSearch {
  /** `agt.gitPath` or `AGT_GIT_PATH`, with the place that it was read from. */
  readonly configured?: { readonly path: string; readonly origin: string } | undefined;
  readonly path: string | undefined;
  /** Files that are this program: the executable, the development launcher. */
  readonly self: readonly string[];
}

/** Absolute path of the real git. @throws AgtError when there is none. */
export function findGit(search: GitSearch): string {
  const own = search.self.map(statOrUndefined).filter((stat) => stat !== undefined);
  if (search.configured !== undefined) return checkConfigured(search.configured, own);
  for (const dir of (search.path ?? '').split(delimiter)) {
    const candidate = resolve(dir || '.', 'git');
    const stat = statOrUndefined(candidate);
    if (stat !== undefined && isRunnable(candidate, stat) && !isAgt(candidate, stat, own)) return candidate;
  }
  throw new AgtError('no git found on PATH', {
    hints: ['install git, or name it: agt config set agt.gitPath /path/to/git'],
  });
}

function checkConfigured(configured: { path: string; origin: string }, own: Stats[]): string {
  const { path, origin } = configured;
  const fail = (reason: string) =>
    new AgtError(`agt.gitPath '${path}' (${origin}) ${reason}`, {
      hints: ['name the real git by its absolute path, or unset it to search PATH'],
    });
  if (!isAbsolute(path)) throw fail('is not an absolute path');
  const stat = statOrUndefined(path);
  if (stat === undefined) throw fail('does not exist');
  if (!isRunnable(path, stat)) throw fail('is not an executable file');
  if (isAgt(path, stat, own)) throw fail('is agt itself');
  return path;
}

function isAgt(path: string, stat: Stats, own: Stats[]): boolean {
  if (own.some((mine) => mine.dev === stat.dev && mine.ino === stat.ino)) return true;
  if (stat.size > LARGEST_GIT || basename(realpathSync(path)) === 'agt') return true;
  return headOf(path).includes(SHIM_MARK);
}

function headOf(path: string): string {
  const head = Buffer.alloc(256);
  try {
    const fd = openSync(path, 'r');
    try {
      return head.toString('latin1', 0, readSync(fd, head));
    } finally {
      closeSync(fd);
    }
  } catch {
    return ''; // executable but not readable: no script, since its interpreter could not read it either
  }
}

function isRunnable(path: string, stat: Stats): boolean {
  if (!stat.isFile()) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function statOrUndefined(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** The files that are agt itself: the packed executable, or the launcher and bundle that a host's Node runs. */
export function ownFiles(packed: boolean): string[] {
  if (packed) return [process.execPath];
  const script = process.argv[1];
  return script === undefined ? [] : [script, join(script, '..', 'agt')];
}
