/** Finishes a restore that was killed. */
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, snapshotRefs } from '../../session/record.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { resolveSnapshot } from '../../snapshot/select.ts';
import { restoreSession } from './restore.ts';

export async function finishRestore(repository: Repository, record: SessionRecord): Promise<void> {
  const now = new Date();
  const snapshot = await resolveSnapshot(repository.git, snapshotRefs(record), record.restoring ?? '', now);
  await restoreSession(repository, record, {
    scope: record.restoring_scope ?? TOP_FOLDERS,
    by: 'restore',
    now,
    choose: async () => snapshot,
  });
}
