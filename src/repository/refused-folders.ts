/**
 * agt makes no session of a whole home directory or disk, and captures no session folder that contains the repository
 * itself.
 */
import { sep } from 'node:path';
import { realPath } from '../disk/real-path.ts';
import { AgtError } from '../errors.ts';
import { folderOfNamespace } from './namespace-files.ts';
import type { Repository } from './repository.ts';

/** @throws AgtError if the worktree of the repository is `/` or the home directory. */
export function refuseHomeAndRoot({ git, worktree }: Repository): void {
  const home = git.env['HOME'] && realPath(git.env['HOME']);
  for (const folder of [git.cwd, worktree]) {
    const path = folder === undefined ? undefined : realPath(folder);
    if (path === undefined || (path !== sep && path !== home)) continue;
    const what = path === sep ? 'the root directory' : 'your home directory';
    throw new AgtError(`cannot create a session of ${what} ("${path}")`, {
      hints: ['make the folder that the agent works on a repository: git init, or agt clone <url>'],
    });
  }
}

/** @throws AgtError if the repository is inside the session folder: each snapshot would contain all earlier ones. */
export function refuseRepositoryInside({ commonDir }: Repository, sessionFolder: string): void {
  if (folderOfNamespace(commonDir) !== undefined) return; // it only stands there, for one command
  if (!`${commonDir}${sep}`.startsWith(`${realPath(sessionFolder)}${sep}`)) return;
  throw new AgtError(`the repository "${commonDir}" is inside the session folder "${sessionFolder}"`, {
    hints: [
      'each snapshot would contain all earlier ones; move the repository, then run: git worktree repair',
    ],
  });
}
