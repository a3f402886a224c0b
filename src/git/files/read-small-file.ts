/** Reads the small files of a git directory: HEAD, commondir, gitdir, config. */
import { readFileSync, statSync } from 'node:fs';

/**
 * The text without its final line break, as git's read_oneliner(); undefined if it is no regular file or cannot be read.
 * A named pipe is never opened: that would wait for a writer.
 */
export function readSmallFile(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8').replace(/\r?\n$/, '') : undefined;
  } catch {
    return undefined;
  }
}
