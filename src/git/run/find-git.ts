/**
 * Finds the real git. On PATH, `git` may be agt: a link, a copy or the shim script. The search skips each of these,
 * because agt would otherwise call itself for ever.
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

/** The shim script has this word in its first lines. */
export const SHIM_MARK = 'agt-shim';

/** Larger files are agt: git has a few megabytes, a packed agt holds a JavaScript runtime of more than a hundred. */
const LARGEST_GIT = 64 * 1024 * 1024;

const NO_THROW = { throwIfNoEntry: false } as const;

interface GitSearch {
  /** `agt.gitPath` or `AGT_GIT_PATH`, and the file or variable that sets it. */
  readonly configured?: { readonly path: string; readonly origin: string } | undefined;
  readonly path: string | undefined;
  /** The files of this program: the executable, the development launcher. */
  readonly self: readonly string[];
}

/** Absolute path of the real git. @throws AgtError if there is none. */
export function findGit(search: GitSearch): string {
  const agtFiles = search.self.map((path) => statSync(path, NO_THROW)).filter((stat) => stat !== undefined);
  if (search.configured !== undefined) return checkConfigured(search.configured, agtFiles);
  for (const dir of (search.path ?? '').split(delimiter)) {
    const candidate = resolve(dir || '.', 'git');
    const stat = statSync(candidate, NO_THROW);
    if (stat !== undefined && isRunnable(candidate, stat) && !isAgt(candidate, stat, agtFiles))
      return candidate;
  }
  throw new AgtError('no git found on PATH', {
    hints: ['install git, or tell agt where it is: agt config set agt.gitPath /path/to/git'],
  });
}

function checkConfigured(configured: { path: string; origin: string }, agtFiles: Stats[]): string {
  const { path, origin } = configured;
  const fail = (reason: string) =>
    new AgtError(`agt.gitPath "${path}" (${origin}) ${reason}`, {
      hints: ['set it to the absolute path of the real git, or unset it so that agt searches PATH'],
    });
  if (!isAbsolute(path)) throw fail('is not an absolute path');
  const stat = statSync(path, NO_THROW);
  if (stat === undefined) throw fail('does not exist');
  if (!isRunnable(path, stat)) throw fail('is not an executable file');
  if (isAgt(path, stat, agtFiles)) throw fail('is agt itself');
  return path;
}

function isAgt(path: string, stat: Stats, agtFiles: Stats[]): boolean {
  if (agtFiles.some((file) => file.dev === stat.dev && file.ino === stat.ino)) return true;
  if (stat.size > LARGEST_GIT || basename(realpathSync(path)) === 'agt') return true;
  return readHead(path).includes(SHIM_MARK);
}

/** Enough bytes for the first lines of the shim. */
const HEAD_LENGTH = 256;

function readHead(path: string): string {
  const head = Buffer.alloc(HEAD_LENGTH);
  try {
    const fd = openSync(path, 'r');
    try {
      return head.toString('latin1', 0, readSync(fd, head));
    } finally {
      closeSync(fd);
    }
  } catch {
    return ''; // not readable, so not a script: its interpreter could not read it either
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

/** The files of agt itself: the packed executable, or the launcher and the bundle that the host's Node runs. */
export function ownFiles(packed: boolean): string[] {
  if (packed) return [process.execPath];
  const script = process.argv[1];
  return script === undefined ? [] : [script, join(script, '..', 'agt')];
}
