/** Reads the small files of a git directory: HEAD, commondir, gitdir, config. */
import { readRegularFile } from '../../disk/read-file.ts';

/** The text without its final line break, as git's read_oneliner(); undefined if it is no file that can be read. */
export function readSmallFile(path: string): string | undefined {
  try {
    return readRegularFile(path)
      .toString()
      .replace(/\r?\n$/, '');
  } catch {
    return undefined;
  }
}
