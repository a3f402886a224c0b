/** How this process was started: as the packed executable or by a Node, under which name, with which arguments. */
import { basename, resolve } from 'node:path';
import { isSea } from 'node:sea';

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
