/**
 * Finds the real git. On PATH, `git` may be agt: a link, a copy or the shim script. The search skips each of these,
 * because agt would otherwise call itself for ever.
 */
import { accessSync, closeSync, constants, openSync, readSync, realpathSync, type Stats } from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { statOrUndefined } from '../../disk/read-file.ts';
import { AgtError } from '../../errors.ts';

/** The shim script has this word in its first lines. */
export const SHIM_MARK = 'agt-shim';

/** Larger files are agt: git has a few megabytes, a packed agt holds a JavaScript runtime of more than a hundred. */
const LARGEST_GIT = 64 * 1024 * 1024;

/** How the origin of a setting begins that comes from the environment. */
const ENVIRONMENT = 'environment ';

interface Configured {
  readonly path: string;
  readonly origin: string;
}

interface GitSearch {
  /**
   * `agt.gitPath`, and the file or variable that sets it. A variable (AGT_GIT_PATH) only chooses among the gits on PATH:
   * some programs load variables from a file of the project, so a stranger may have set it.
   */
  readonly configured?: Configured | undefined;
  readonly path: string | undefined;
  /** The files of this program: the executable, the development launcher. */
  readonly self: readonly string[];
  /** Is told why the configured git cannot be used; then PATH is searched. Default: the problem is thrown. */
  readonly onProblem?: (problem: AgtError) => void;
}

/** Absolute path of the real git. @throws AgtError if there is none. */
export function findGit(search: GitSearch): string {
  const agtFiles = statsOf(search.self);
  const { configured } = search;
  const chosen = configured && chosenGit(configured, search.path);
  const problem = configured && problemOf(configured, chosen, agtFiles);
  if (chosen !== undefined && problem === undefined) return chosen;
  if (problem !== undefined && search.onProblem === undefined) throw problem;
  for (const candidate of gitsOn(search.path)) {
    const stat = statOrUndefined(candidate);
    if (stat === undefined || !isRunnable(candidate, stat) || isAgt(candidate, stat, agtFiles)) continue;
    if (problem !== undefined) search.onProblem?.(problem);
    return candidate;
  }
  if (problem !== undefined) throw problem;
  throw new AgtError('no git found on PATH', {
    hints: ['install git, or put its directory on PATH: PATH=/path/to/bin:"$PATH"'],
  });
}

/** Whether the first git on PATH is agt. */
export function firstGitIsAgt(path: string | undefined, self: readonly string[]): boolean {
  for (const candidate of gitsOn(path)) {
    const stat = statOrUndefined(candidate);
    if (stat === undefined || !isRunnable(candidate, stat)) continue;
    return isAgt(candidate, stat, statsOf(self));
  }
  return false;
}

function statsOf(files: readonly string[]): Stats[] {
  return files.map(statOrUndefined).filter((stat) => stat !== undefined);
}

/** Whether or not there is such a file. */
function gitsOn(path: string | undefined): string[] {
  return (path ?? '').split(delimiter).map((dir) => resolve(dir || '.', 'git'));
}

/** The configured git; if a variable names it, the git on PATH that is the same file. */
function chosenGit({ path, origin }: Configured, searched: string | undefined): string | undefined {
  if (!origin.startsWith(ENVIRONMENT)) return path;
  const stat = statOrUndefined(path);
  return gitsOn(searched).find((candidate) => {
    const other = statOrUndefined(candidate);
    return other !== undefined && other.dev === stat?.dev && other.ino === stat.ino;
  });
}

/** Why the configured git cannot be used, or undefined. */
function problemOf(
  { path, origin }: Configured,
  chosen: string | undefined,
  agtFiles: Stats[],
): AgtError | undefined {
  const because = (reason: string) =>
    new AgtError(`agt.gitPath "${path}" (${origin}) ${reason}`, {
      hints: [
        origin.startsWith(ENVIRONMENT)
          ? 'it chooses among the gits on PATH; to name another: agt config set --global agt.gitPath <path>'
          : 'set it to the absolute path of the real git, or unset it so that agt searches PATH',
      ],
    });
  if (!isAbsolute(path)) return because('is not an absolute path');
  const stat = statOrUndefined(path);
  if (stat === undefined) return because('does not exist');
  if (!isRunnable(path, stat)) return because('is not an executable file');
  if (isAgt(path, stat, agtFiles)) return because('is agt itself');
  return chosen === undefined ? because('is not a git on PATH') : undefined;
}

function isAgt(path: string, stat: Stats, agtFiles: Stats[]): boolean {
  if (agtFiles.some((file) => file.dev === stat.dev && file.ino === stat.ino)) return true;
  if (stat.size > LARGEST_GIT || basename(withoutLinks(path)) === 'agt') return true;
  return readHead(path).includes(SHIM_MARK);
}

function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // a directory on the way may be searched, but not read
  }
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
