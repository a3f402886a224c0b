/** How this process was started: packed or under a host's Node, by which name, with which arguments. */
import { basename, resolve } from 'node:path';
import { isSea } from 'node:sea';

/** True in the packed executable. */
export const packed = isSea();

/** The base name of argv[0]: `git`, `agt`, … */
export function calledName(): string {
  return basename(packed ? process.argv0 : (process.argv[1] ?? process.argv0));
}

/** The words after the program's name. Node puts the executable and the script (packed: argv[0]) before them. */
export function programArguments(): string[] {
  return process.argv.slice(2);
}

/** What starts agt from anywhere, with whatever PATH: absolute paths. */
export function ownCommand(): string[] {
  return packed ? [process.execPath] : [process.execPath, resolve(process.argv[1] ?? '')];
}
