/** How this process was started: as the packed executable or by a Node, where, under which name, with which arguments. */
import { spawn } from 'node:child_process';
import { basename, resolve } from 'node:path';
import { isSea } from 'node:sea';
import { writer } from './streams.ts';

declare const AGT_VERSION: string;
declare const AGT_RELEASES: string;

export const ownVersion = () => AGT_VERSION;

/** The address at which the files of the newest release are; empty in a build that knows none. */
export const releasesAddress = () => AGT_RELEASES;

/** True in the packed executable. */
export const packed = isSea();

/** The base name of argv[0]: `git`, `agt`, … */
export function programName(): string {
  return basename(programPath());
}

/** argv[0], or the script that a Node runs. */
export function programPath(): string {
  return process.argv[1] ?? process.argv0;
}

/** The arguments. Node puts the executable and the script (if packed: argv[0]) before them. */
export function programArguments(): string[] {
  return process.argv.slice(2);
}

/** The command that starts this agt, in absolute paths: it works in any directory and with any PATH. */
export function ownCommand(): string[] {
  return packed ? [process.execPath] : [process.execPath, resolve(process.argv[1] ?? '')];
}

/** Starts agt in a process of its own, which outlives this one. Nobody reads what it prints. */
export function startAgt(words: readonly string[], cwd: string, env: NodeJS.ProcessEnv): void {
  const [program = '', ...first] = ownCommand();
  spawn(program, [...first, ...words], { cwd, env, detached: true, stdio: 'ignore' })
    .on('error', () => undefined)
    .unref();
}

/** Whether it is a question for the version. As simbo1905's agt, it answers as git if a variable is set. */
export function asksForOwnVersion(isGit: boolean, words: readonly string[], env: NodeJS.ProcessEnv): boolean {
  if (env['AGT_SHOW_OWN_VERSION'] !== undefined)
    return words.some((word) => word === '--version' || word === '-V');
  return !isGit && words.length === 1 && (words[0] === '--version' || words[0] === '-v');
}

export function printOwnVersion(out = writer(1)): number {
  out(`agt ${AGT_VERSION}\n`);
  return 0;
}

/** Tells an agt that the guard starts that it is one: a wrong setting must not keep it from capturing. */
const GUARD_VARIABLE = 'AGT_STARTED_BY_GUARD';

export function startedByGuard(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, [GUARD_VARIABLE]: '1' };
}

export function isStartedByGuard(env: NodeJS.ProcessEnv): boolean {
  return env[GUARD_VARIABLE] === '1';
}

let directoryOfShell: string | undefined;

/** Called before agt changes directory. */
export function noteUserDirectory(directory: string): void {
  directoryOfShell = directory;
}

/** Where the user's shell is: advised commands work there. `-C` and a deletion change agt's own directory. */
export function userDirectory(): string {
  return directoryOfShell ?? process.cwd();
}
