/**
 * Checks that every directory of refs, reflogs and worktrees is readable. If git cannot list such a
 * directory, it treats it as empty, and `git prune` deletes the objects that its refs keep.
 */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError, errorCode } from '../../errors.ts';
import { refuseBlockedWorktrees } from '../../git/files/worktree-registrations.ts';

const DIRECTORIES = ['refs', 'logs', 'worktrees'];

/** @throws AgtError for the first directory that cannot be listed, and for a HEAD that git would wait for. */
export function requireReadableRefs(commonDir: string): void {
  refuseBlockedWorktrees(commonDir);
  for (const name of DIRECTORIES) listRecursively(join(commonDir, name));
}

function listRecursively(directory: string): void {
  for (const entry of entriesOf(directory)) {
    if (entry.isDirectory()) listRecursively(join(directory, entry.name));
  }
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []; // it never existed, or git has just deleted it
    throw new AgtError(`cannot read ${directory} (${errorCode(error)})`, {
      hints: [
        'agt deleted no objects: git would treat everything that this directory refers to as unreachable',
      ],
      cause: error,
    });
  }
}
