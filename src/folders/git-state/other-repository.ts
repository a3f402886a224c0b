/**
 * Another repository at the place of the one that a snapshot has. After `rm -rf .git; git init` in a folder, an undo brings
 * the old one back. Somebody who has deleted the whole folder and made it anew has begun another work: then only a restore
 * that names the snapshot does so.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError } from '../../errors.ts';
import type { GitDirectories } from '../../git/files/discover-repository.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import { inOtherRepository } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { commandToRestore } from '../../session/advised-commands.ts';
import { isAttached } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { shownId } from '../store.ts';
import { isOfFolder, keptOf, repositoryOf } from './kept-repositories.ts';
import { type CapturedPlaces, capturedPlaces, capturedRefs, type Refs } from './read-state.ts';
import { LINK } from './ref-plan.ts';

/** A copy has commits of the snapshot, and is none. */
export async function isOtherRepository(
  { git, agtDir }: Repository,
  folder: string,
  { kept }: CapturedPlaces,
  then: Refs,
): Promise<boolean> {
  const there = repositoryOf(folder);
  if (there === undefined || keptOf(agtDir, there.commonDir).name === kept) return false;
  const oids = [...then.values()].filter((value) => !value.startsWith(LINK));
  return (await findObjects(inOtherRepository(git, folder), oids)).every((found) => found === undefined);
}

/** Not in a linked worktree, nor where the folder has moved since the snapshot. */
export function isReplaceable(folder: string, { gitDir, commonDir }: GitDirectories): boolean {
  return gitDir === join(folder, '.git') && gitDir === commonDir && existsSync(join(gitDir, 'HEAD'));
}

/** @throws AgtError if an undo or a redo would replace the repository of a folder that somebody has made anew */
export async function refuseToReplaceRepository(session: Session, commit: string): Promise<void> {
  const { repository, record, git } = session;
  const folder = record.checkout ?? record.sandbox;
  const places = isAttached(record) ? await capturedPlaces(git, commit) : undefined;
  const then = places && (await capturedRefs(git, commit));
  if (places === undefined || then === undefined) return;
  if (isOfFolder(repository.agtDir, places.kept, folder)) return;
  if (!(await isOtherRepository(repository, folder, places, then))) return;
  const problem = `"${shownId(record)}" was made anew with another repository, which agt does not replace`;
  const back = `to have the old files and repository back: ${commandToRestore(record, shortOid(commit))}`;
  throw new AgtError(problem, { hints: [back] });
}
