/**
 * `.agtignore` in the session folder: paths that agt must not capture, such as caches, in gitignore syntax relative to
 * the session folder (`sandbox/node_modules/`, `*.o`). agt reads it only there: a file in the sandbox may be tracked, and
 * a stranger's commit must not switch capturing off. Patterns match names as UTF-8.
 */
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ignore from 'ignore';
import { displayPath, jsonPath, pathFromJson } from '../disk/path-bytes.ts';
import { AgtError, errorCode, unlessMissing } from '../errors.ts';

export const IGNORE_FILE = '.agtignore';

/** Why a path that matches was not captured. */
export const IGNORED = `matches ${IGNORE_FILE}`;

/** A matcher of the `ignore` package caches every path for ever. After so many paths a new one replaces it. */
const PATHS_PER_MATCHER = 100_000;

export interface IgnoreFile {
  /** In the form of `jsonPath`, as the snapshot manifest has them. */
  readonly lines: readonly string[];
  /** `path` is relative to the session folder, one byte per character. Ask about a directory before its entries. */
  readonly ignores: (path: string, isDirectory: boolean) => boolean;
}

/** The content, for comparing. Empty if there is no file. */
export function ignoreText(file: IgnoreFile | undefined): string {
  return file?.lines.join('\n') ?? '';
}

/** Undefined if there is none. `folder` is absolute. @throws AgtError if it is not a file that can be read. */
export function readIgnoreFile(folder: string): IgnoreFile | undefined {
  const path = join(folder, IGNORE_FILE);
  const stat = unlessMissing(() => lstatSync(path));
  if (stat?.isFile() === false)
    throw new AgtError(`${path} is not a regular file`, { hints: ['make it one, or remove it'] });
  const bytes = unlessMissing(() => readFileSync(path));
  if (bytes === undefined) return undefined;
  const makeMatcher = () => ignore({ ignorecase: false, allowRelativePaths: true }).add(bytes.toString());
  let matcher = makeMatcher();
  let asked = 0;
  return {
    lines: jsonPath(bytes.toString('latin1')).split('\n'),
    ignores: (name, isDirectory) => {
      if (++asked % PATHS_PER_MATCHER === 0) matcher = makeMatcher();
      return matcher.ignores(isDirectory ? `${displayPath(name)}/` : displayPath(name));
    },
  };
}

/** The file that had these lines. */
export function ignoreFileContent(lines: readonly string[]): Buffer {
  return Buffer.from(pathFromJson(lines.join('\n')), 'latin1');
}

/** Writes the captured lines into a folder. If it has the file already, that one is newer, unless agt knows better. */
export function restoreIgnoreFile(folder: string, lines: readonly string[] | undefined, isNewer = false) {
  if (lines === undefined) return;
  try {
    writeFileSync(join(folder, IGNORE_FILE), ignoreFileContent(lines), { flag: isNewer ? 'w' : 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
