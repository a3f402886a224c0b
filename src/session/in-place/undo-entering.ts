/**
 * Undoes the beginning of a session in place that failed or was killed. git may have checked out only a part of the files,
 * and somebody may have gone on working there.
 */
import { rmSync } from 'node:fs';
import { readSmallFile } from '../../git/files/read-small-file.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { gitText, resolveObject, runGit } from '../../git/run/git.ts';
import { inPlaceFile } from '../../repository/layout.ts';
import type { LockedSession } from '../lock.ts';
import type { SessionRecord } from '../record.ts';
import { dirtyPaths, gitDir, headBranch, type InPlace, inPlace, switchTo } from './checkout.ts';
import { mendHalfWritten } from './half-written.ts';
import { dropStash } from './leave.ts';
import { pathsInTheWay, pathsSetAside, putBack } from './put-back.ts';

/**
 * Files that somebody has changed since then stay as they are.
 * @returns readable paths in the way of putting the work back, which then stays under its ref; undefined if changes would
 * be lost: nothing has changed then
 */
export async function undoEntering(
  session: LockedSession,
  record: SessionRecord,
): Promise<readonly string[] | undefined> {
  const place = inPlace(session, record);
  if ((await headBranch(place)) === record.work_branch) {
    if (!(await returnWithFiles(place))) return undefined;
  } else if (hasSetAside(place)) await mendHalfWritten(place, await pathsSetAside(place));
  const conflicts = await putBack(place);
  if (conflicts.length === 0) await dropStash(place);
  rmSync(inPlaceFile(gitDir(place)), { force: true });
  return conflicts;
}

/** Before that, nothing on disk has changed, and every change there is the user's. */
function hasSetAside(place: InPlace): boolean {
  return readSmallFile(inPlaceFile(gitDir(place))) === place.record.session_id;
}

/** Both branches are at the same commit, unless the user's branch has moved meanwhile. */
async function returnWithFiles(place: InPlace): Promise<boolean> {
  const { git, userBranch } = place;
  const [here, there] = await Promise.all(['HEAD', userBranch].map((name) => resolveObject(git, name)));
  if (here !== there) {
    if ((await dirtyPaths(git)).length > 0) return false;
    await switchTo(place, userBranch);
    return true;
  }
  const staged = await runGit(git, ['diff-index', '--cached', '--quiet', 'HEAD', '--']);
  if (staged.exitCode !== 0 || (await pathsInTheWay(place)).length > 0) return false;
  await gitText(git, ['symbolic-ref', '-m', `agt: back to ${shortBranch(userBranch)}`, 'HEAD', userBranch]);
  return true;
}
