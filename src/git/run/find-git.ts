/**
 * Finds the real git. On PATH, `git` may be agt: a link, a copy or the shim script. The search skips each of these,
 * because agt would otherwise call itself for ever. A shim names the git that it was made with: that one is the real
 * git for the executable too.
 *
 * A git on PATH may also be another tool's wrapper, which runs the first other git on PATH: agt. So agt leaves a mark
 * in the environment of each git, and where it finds the mark, it asks a git first whether that leads back to agt.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, readSync, type Stats } from 'node:fs';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { statOrUndefined } from '../../disk/read-file.ts';
import { realPath } from '../../disk/real-path.ts';
import { AgtError, attempt, succeeds } from '../../errors.ts';
import { packed, programPath } from '../../process/invocation.ts';
import { CIRCLE_MARK } from './environment.ts';

/** The shim script has this word in its first lines. */
export const SHIM_MARK = 'agt-shim';

/** The line of the shim script, one of its first, that names the real git. */
const SHIMS_GIT = /^agt_real='((?:[^']|'\\'')*)'$/m;

/** The value of the mark with which `git --exec-path` prints SHIM_MARK, if git is agt. */
const CIRCLE_QUESTION = 'ask';

export function asksWhetherAgt(args: readonly string[], env: NodeJS.ProcessEnv): boolean {
  return env[CIRCLE_MARK] === CIRCLE_QUESTION && args.join(' ') === '--exec-path';
}

/** A program that takes longer than git needs to print a path is no git to wait for. */
const LONGEST_ANSWER_MS = 10_000;

/** Larger files are agt: git has a few megabytes, a packed agt holds a JavaScript runtime of more than a hundred. */
const LARGEST_GIT = 64 * 1024 * 1024;

/** How the origin of a setting begins that comes from the environment. */
const ENVIRONMENT = 'environment ';

interface Configured {
  readonly path: string;
  readonly origin: string;
}

interface GitSearch {
  /** `agt.gitPath` and its source. A variable only chooses on PATH: a file of the project may set it. */
  readonly configured?: Configured | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** The shims on PATH are passed over, as agt is. */
  readonly ignoresShims?: boolean;
  /** The files of agt; default: those of this program. */
  readonly self?: readonly string[];
  /** Is told why the configured git cannot be used; then PATH is searched. Default: the problem is thrown. */
  readonly onProblem?: (problem: AgtError) => void;
}

/** Absolute path of the real git. @throws AgtError if there is none. */
export function findGit({ configured, env, ignoresShims = false, self, onProblem }: GitSearch): string {
  const agtFiles = statsOf(self ?? ownFiles());
  const path = [ignoresShims ? undefined : directoryOfOwnShim(), env['PATH']].filter(Boolean).join(delimiter);
  const faultOf = (git: string): string | undefined => {
    const stat = statOrUndefined(git);
    if (stat === undefined) return 'does not exist';
    if (!isRunnable(git, stat)) return 'is not an executable file';
    if (isAgt(git, stat, agtFiles)) return 'is agt itself';
    return env[CIRCLE_MARK] !== undefined && leadsToAgt(git, env) ? 'runs agt' : undefined;
  };
  const chosen = configured && chosenGit(configured, path);
  const problem = configured && problemOf(configured, chosen, faultOf);
  if (chosen !== undefined && problem === undefined) return chosen;
  if (problem !== undefined && onProblem === undefined) throw problem;
  for (const candidate of gitsOn(path)) {
    const possible = [ignoresShims ? undefined : gitOfShim(candidate), candidate];
    const found = possible.find((git) => git !== undefined && faultOf(git) === undefined);
    if (found === undefined) continue;
    if (problem !== undefined) onProblem?.(problem);
    return found;
  }
  if (problem !== undefined) throw problem;
  throw new AgtError('no git found on PATH', {
    hints: ['install git, or put its directory on PATH: PATH=/path/to/bin:"$PATH"'],
  });
}

export function firstGitIsAgt(path: string | undefined): boolean {
  for (const candidate of gitsOn(path)) {
    const stat = statOrUndefined(candidate);
    if (stat === undefined || !isRunnable(candidate, stat)) continue;
    return isAgt(candidate, stat, statsOf(ownFiles()));
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
  faultOf: (git: string) => string | undefined,
): AgtError | undefined {
  const fault = isAbsolute(path) ? faultOf(path) : 'is not an absolute path';
  const reason = fault ?? (chosen === undefined ? 'is not a git on PATH' : undefined);
  if (reason === undefined) return undefined;
  return new AgtError(`agt.gitPath "${path}" (${origin}) ${reason}`, {
    hints: [
      origin.startsWith(ENVIRONMENT)
        ? 'it chooses among the gits on PATH; to name another: agt config set --global agt.gitPath <path>'
        : 'set it to the absolute path of the real git, or let agt search PATH: agt config unset --global agt.gitPath',
    ],
  });
}

function isAgt(path: string, stat: Stats, agtFiles: Stats[]): boolean {
  if (agtFiles.some((file) => file.dev === stat.dev && file.ino === stat.ino)) return true;
  if (stat.size > LARGEST_GIT || basename(realPath(path)) === 'agt') return true;
  return readHead(path).includes(SHIM_MARK);
}

/** The directory of the shim that started this process as `.agt/git`. It need not be on PATH. */
export function directoryOfOwnShim(): string | undefined {
  return /^(.*)\/\.agt\/git$/s.exec(programPath())?.[1];
}

/** The git that a shim was made with; undefined if the file is no shim. */
export function gitOfShim(path: string): string | undefined {
  const stat = statOrUndefined(path);
  if (stat?.isFile() !== true || stat.size > LARGEST_GIT) return undefined;
  const head = readHead(path);
  return head.includes(SHIM_MARK) ? SHIMS_GIT.exec(head)?.[1]?.replaceAll("'\\''", "'") : undefined;
}

/** Whether this program, called as git, runs agt. */
function leadsToAgt(path: string, env: NodeJS.ProcessEnv): boolean {
  const { stdout } = spawnSync(path, ['--exec-path'], {
    env: { ...env, [CIRCLE_MARK]: CIRCLE_QUESTION },
    timeout: LONGEST_ANSWER_MS,
    encoding: 'utf8',
  });
  return stdout?.includes(SHIM_MARK) ?? false;
}

/** Enough bytes for the first lines of the shim, with a long path. */
const HEAD_LENGTH = 8192;

/** Empty for what cannot be read: it is no script, because its interpreter could not read it either. */
function readHead(path: string): string {
  const fd = attempt(() => openSync(path, 'r'));
  if (fd === undefined) return '';
  try {
    const head = Buffer.alloc(HEAD_LENGTH);
    return attempt(() => head.toString('utf8', 0, readSync(fd, head))) ?? '';
  } finally {
    closeSync(fd);
  }
}

function isRunnable(path: string, stat: Stats): boolean {
  return stat.isFile() && succeeds(() => accessSync(path, constants.X_OK));
}

/** The files of agt itself: the packed executable, or the launcher and the bundle that the host's Node runs. */
export function ownFiles(): string[] {
  if (packed) return [process.execPath];
  const script = process.argv[1];
  return script === undefined ? [] : [script, join(script, '..', 'agt')];
}
