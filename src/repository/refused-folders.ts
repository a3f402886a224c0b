/** Where agt makes no session: on a whole home directory or disk, and around its own store, which it would capture. */
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { AgtError } from '../errors.ts';
import type { Repository } from './repository.ts';

/** @throws AgtError where the repository's worktree is `/` or the home directory. */
export function refuseHomeAndRoot({ git, worktree }: Repository): void {
  const home = resolved(git.env['HOME'] || undefined);
  for (const place of [git.cwd, worktree]) {
    const here = resolved(place);
    if (here === undefined || (here !== sep && here !== home)) continue;
    const what = here === sep ? 'the root directory' : 'your home directory';
    throw new AgtError(`cannot create a session of ${what} ("${here}")`, {
      hints: ['make the folder that the agent works on a repository: git init, or agt clone <url>'],
    });
  }
}

/** @throws AgtError where capturing `folder` would capture the states that it is captured into. */
export function refuseRepositoryInside({ commonDir }: Repository, folder: string): void {
  if (!`${commonDir}${sep}`.startsWith(`${resolved(folder) ?? folder}${sep}`)) return;
  throw new AgtError(`the repository "${commonDir}" is inside the session folder "${folder}"`, {
    hints: [
      'each snapshot would contain all earlier ones; move the repository, then run: git worktree repair',
    ],
  });
}

function resolved(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : realpathSync(path);
  } catch {
    return undefined;
  }
}
