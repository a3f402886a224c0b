/**
 * A killed git leaves its locks, and git refuses to work where one is. Those on refs and on settings are held for moments:
 * agt removes one that no running git can hold, and tries again. It leaves the lock of an index alone: git holds that one
 * while a person writes a message.
 */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { discoverRepository } from '../files/discover-repository.ts';
import { subdirectories } from '../files/ref-files.ts';
import { breakStaleLocks } from '../files/ref-locks.ts';

const LOCKED = [
  /Unable to create '(.*\.lock)': File exists/,
  /could not lock config file (.*): File exists/,
] as const;

/** A killed git leaves at most these: on a ref, on HEAD that leads to it, on packed refs. */
export const MOST_LOCKS = 3;

interface Place {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Whether git failed because of a lock that is gone now. `message`: what git wrote. */
export async function isLockGone(git: Place, message: string): Promise<boolean> {
  const lock = lockIn(message);
  const found = lock === undefined ? undefined : discoverRepository(git.cwd, git.env);
  if (lock === undefined || found === undefined) return false;
  const { commonDir, top } = found;
  const path = resolve(top ?? git.cwd, lock); // git has changed to the top directory
  if (path.endsWith('/index.lock') || !isBelow(commonDir, path)) return false;
  await breakStaleLocks([path], async () => [git.cwd, commonDir, ...worktreesOf(commonDir)]);
  return !existsSync(path);
}

function lockIn(message: string): string | undefined {
  const [other, config] = LOCKED.map((pattern) => pattern.exec(message)?.[1]);
  return other ?? (config === undefined ? undefined : `${config}.lock`);
}

function isBelow(directory: string, path: string): boolean {
  const parent = dirname(path);
  return existsSync(parent) && `${realpathSync(parent)}/`.startsWith(`${realpathSync(directory)}/`);
}

/** A git that changes a ref runs in one of them. */
function worktreesOf(commonDir: string): string[] {
  const registrations = join(commonDir, 'worktrees');
  const linked = subdirectories(registrations).flatMap((id) => {
    const gitDir = join(registrations, id);
    const gitFile = readSmallFile(join(gitDir, 'gitdir'));
    return gitFile === undefined ? [] : [dirname(resolve(gitDir, gitFile))];
  });
  return commonDir.endsWith('/.git') ? [dirname(commonDir), ...linked] : linked;
}
