/** How a restore treats the files that git ignores in an attached folder: it deletes none of them. */
import { ignoredFiles } from '../../autocommit/observe.ts';
import type { CaptureOptions } from '../../autocommit/request.ts';
import type { CheckoutPlan } from '../../checkout/plan.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureTarget } from '../../session/capture-session.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';
import { parentDirectories } from '../../snapshot/directories.ts';
import { readSnapshotTree } from '../../snapshot/tree.ts';
import { type IgnoresFile, ignoredByRestored } from './restored-rules.ts';

/** For the captures of a restore: agt replaces no file that it has not captured, also if git ignores it by now. */
export type Taking = Pick<CaptureOptions, 'alsoTake'>;

export async function filesToTake({ git }: Repository, record: SessionRecord, tree: string): Promise<Taking> {
  if (!isAttached(record)) return {};
  return { alsoTake: [...(await readSnapshotTree(git, tree)).files.keys()] };
}

/** Without them, files that `agt snapshot --ignored` took would look deleted. */
export async function filesOfLast(repository: Repository, record: SessionRecord): Promise<Taking> {
  const last = await findObject(repository.git, tipRef(record.session_id));
  return last === undefined ? {} : filesToTake(repository, record, last);
}

/**
 * The files that git ignores before a restore to the snapshot `wanted`, or after it. Asked before the restore changes a
 * `.gitignore`. Undefined for other folders than attached ones.
 */
export async function listIgnored(
  repository: Repository,
  record: SessionRecord,
  wanted: string,
): Promise<IgnoresFile | undefined> {
  if (!isAttached(record)) return undefined;
  const [before, ignoresAfter] = await Promise.all([
    ignoredFiles(captureTarget(repository, record), {}),
    ignoredByRestored(repository, record, wanted),
  ]);
  const ignoresBefore = (path: string) =>
    [path, ...parentDirectories(path)].some((part) => before?.leavesOut(part) === true);
  return (path) => ignoresBefore(path) || ignoresAfter(path);
}

export function keepIgnored(plan: CheckoutPlan, isIgnored: IgnoresFile | undefined): CheckoutPlan {
  if (isIgnored === undefined) return plan;
  return { ...plan, deletions: plan.deletions.filter((path) => !isIgnored(path)) };
}
