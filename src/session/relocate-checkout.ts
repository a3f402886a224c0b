/**
 * Finds the checkout of a session in place again, after the repository was moved or copied. `agt-in-place` in a git
 * directory names the session, and git's links lead from there to the worktree.
 */

import { lstatSync, readlinkSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { readSmallFile } from '../disk/read-file.ts';
import { attempt } from '../errors.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { listRegistrations, worktreeOf } from '../git/files/worktree-registrations.ts';
import { inPlaceFile } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import type { LockedSession } from './lock.ts';
import type { Session } from './session.ts';

export interface FoundCheckout {
  /** Absolute. */
  readonly checkout: string;
  /** The link to it. */
  readonly sandbox: string;
}

/** Whether nothing is at the place of the checkout, and no other checkout has the session. */
export function isCheckoutGone({ repository, record: { session_id, checkout = '' } }: Session): boolean {
  return !isThere(checkout) && checkoutWith(repository, session_id) === undefined;
}

/** Undefined if no checkout of this repository has the session. */
export async function findCheckoutAgain(session: Session): Promise<FoundCheckout | undefined> {
  const { repository, record } = session;
  const checkout = checkoutWith(repository, record.session_id);
  if (checkout === undefined) return undefined;
  const usual = join(await repository.sessionsDir(), record.session_id, 'sandbox');
  // A copy leaves the session folder to the original.
  const isOwn = session.place !== 'elsewhere' && isThere(session.folder);
  const sandbox = isOwn ? record.sandbox : usual;
  const found = lstatSync(sandbox, { throwIfNoEntry: false });
  return found === undefined || found.isSymbolicLink() ? { checkout, sandbox } : undefined;
}

function checkoutWith({ commonDir, worktree }: Repository, id: string): string | undefined {
  for (const gitDir of [commonDir, ...listRegistrations(commonDir)]) {
    if (readSmallFile(inPlaceFile(gitDir)) !== id) continue;
    const places = [worktreeOf(gitDir), worktree];
    const place = places.find((one) => one !== undefined && isSame(gitDirOf(one), gitDir));
    if (place !== undefined) return place;
  }
  return undefined;
}

/** Writes the link, the note for the guard and the metadata. */
export function connectCheckout(session: LockedSession, { checkout, sandbox }: FoundCheckout): void {
  for (const name of ['xdg', 'config']) makeDirectories(join(sandbox, '..', name));
  if (!isThere(sandbox) || readlinkSync(sandbox) !== checkout) {
    rmSync(sandbox, { force: true });
    symlinkSync(checkout, sandbox);
  }
  writeFileAtomic(inPlaceFile(gitDirOf(checkout) ?? join(checkout, '.git')), session.id);
  session.write({ ...session.record, checkout, sandbox });
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isSame(a: string | undefined, b: string): boolean {
  return attempt(() => a !== undefined && realpathSync(a) === realpathSync(b)) ?? false;
}
