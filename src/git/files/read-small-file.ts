/** Reads the small files of a git directory: HEAD, commondir, gitdir, config. */
import { readFileSync } from 'node:fs';

/** The text without its final line break, as git's read_oneliner(); undefined if the file cannot be read. */
export function readSmallFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}
