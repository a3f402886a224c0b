/** Finishes a restore during which agt was killed. */
import { AgtError } from '../../errors.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, snapshotRefs } from '../../session/record.ts';
import { resolveSnapshot } from '../../snapshot/resolve-snapshot.ts';
import { restoreSession } from './restore.ts';

export async function finishRestore(repository: Repository, record: SessionRecord): Promise<void> {
  const { session_id: id, intent } = record;
  if (intent?.operation !== 'restore') throw new AgtError(`session "${id}" has no unfinished restore`);
  const now = new Date();
  const snapshot = await resolveSnapshot(repository.git, snapshotRefs(record), intent.snapshot, now);
  const choose = async () => snapshot;
  await restoreSession(repository, record, { scope: intent.scope, by: intent.by ?? 'restore', now, choose });
}
