/**
 * Whether a restore of an attached folder would change a file. It deletes nothing that git ignores, so it may change
 * nothing, although the snapshots differ: the last one was taken with --ignored, or a directory that was empty has
 * ignored files.
 */
import type { Repository } from '../../repository/repository.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata } from '../../snapshot/manifest.ts';
import { keepIgnored, listIgnored } from './ignored-files.ts';
import { isDirectory, pathsOf, planFrom } from './restore-files.ts';

/** `captured`: the snapshot that the folder is in. True for every other session. */
export async function changesFiles(
  repository: Repository,
  record: SessionRecord,
  captured: Snapshot | undefined,
  { commit }: Snapshot,
): Promise<boolean> {
  if (!isAttached(record) || captured === undefined) return true;
  const wanted = await readSnapshotMetadata(repository.git, commit);
  const plan = await planFrom(repository.git, { captured: captured.commit, wanted, scope: TOP_FOLDERS });
  const present = plan.emptyDirectories.made.filter((path) => isDirectory(record, path));
  // git lists the ignored files only if all depends on them.
  if (pathsOf(plan).length > plan.deletions.length + present.length) return true;
  const kept = keepIgnored(plan, await listIgnored(repository, record, commit));
  return kept.deletions.length > 0;
}
