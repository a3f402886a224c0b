/**
 * Whether everything can be read that names what is to stay. git takes a directory of refs that it cannot list for an empty
 * one, and would then remove what those refs lead to.
 */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError, errorCode } from '../../errors.ts';

const NAMING = ['refs', 'logs', 'worktrees'];

/** @throws AgtError for the first directory that cannot be listed. */
export function requireReadableRefs(commonDir: string): void {
  for (const name of NAMING) list(join(commonDir, name));
}

function list(directory: string): void {
  for (const entry of entriesOf(directory)) if (entry.isDirectory()) list(join(directory, entry.name));
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []; // there is none, or not any more
    throw new AgtError(`${directory} cannot be read (${errorCode(error)})`, {
      hints: ['nothing was removed: what it names would have been taken for unreachable'],
      cause: error,
    });
  }
}
