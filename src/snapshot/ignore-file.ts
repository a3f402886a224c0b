/**
 * `.agtignore` in the session folder: what never to capture, such as caches, in gitignore syntax relative to the
 * session folder (`sandbox/node_modules/`, `*.o`). Only there: a file in the sandbox is tracked content, and strangers
 * must not switch capture off. Patterns are matched against names as UTF-8.
 */
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ignore from 'ignore';
import { displayPath, jsonPath, pathFromJson } from '../disk/path-bytes.ts';
import { AgtError, errorCode } from '../errors.ts';

export const IGNORE_FILE = '.agtignore';

/** Why a path that matches was not captured. */
export const IGNORED = `matches ${IGNORE_FILE}`;

/** A matcher remembers every path that it was asked about: after so many, a new one takes its place. */
const REMEMBERED = 100_000;

export interface IgnoreFile {
  /** Its lines, in the form of display.ts, as the captured manifest keeps them. */
  readonly lines: readonly string[];
  /** `path` is relative to the session folder, one byte per character. Asked of a directory before what is in it. */
  readonly ignores: (path: string, isDirectory: boolean) => boolean;
}

/** What it says, to tell whether it is the one that was. Without one it says nothing. */
export function textOf(file: IgnoreFile | undefined): string {
  return file?.lines.join('\n') ?? '';
}

/** Undefined where there is none: nothing is ignored then. `folder` is absolute. @throws AgtError if it is unreadable. */
export function readIgnoreFile(folder: string): IgnoreFile | undefined {
  const path = join(folder, IGNORE_FILE);
  let bytes: Buffer;
  try {
    if (lstatSync(path).isFile()) bytes = readFileSync(path);
    else throw new AgtError(`${path} is not a regular file`, { hints: ['make it one, or remove it'] });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const makeMatcher = () => ignore({ ignorecase: false, allowRelativePaths: true }).add(bytes.toString());
  let matcher = makeMatcher();
  let asked = 0;
  return {
    lines: jsonPath(bytes.toString('latin1')).split('\n'),
    ignores: (name, isDirectory) => {
      if (++asked % REMEMBERED === 0) matcher = makeMatcher();
      return matcher.ignores(isDirectory ? `${displayPath(name)}/` : displayPath(name));
    },
  };
}

/** Writes a captured one into a folder that has none; whoever has one there wants that one. */
export function bringBackIgnoreFile(folder: string, lines: readonly string[] | undefined): void {
  if (lines === undefined) return;
  const bytes = Buffer.from(pathFromJson(lines.join('\n')), 'latin1');
  try {
    writeFileSync(join(folder, IGNORE_FILE), bytes, { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
