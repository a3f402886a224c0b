/** Finishes a restore during which agt was killed. */
import { AgtError } from '../../errors.ts';
import type { Repository } from '../../repository/repository.ts';
import { commandToRestore } from '../../session/advised-commands.ts';
import { type SessionRecord, snapshotRefs } from '../../session/record.ts';
import { resolveSnapshot } from '../../snapshot/resolve-snapshot.ts';
import { restoreSession } from './restore.ts';

/** Returns what changed, and how to get back what was there. */
export async function finishRestore(repository: Repository, record: SessionRecord): Promise<string> {
  const { session_id: id, intent } = record;
  if (intent?.operation !== 'restore') throw new AgtError(`session "${id}" has no unfinished restore`);
  const now = new Date();
  const snapshot = await resolveSnapshot(repository.git, snapshotRefs(record), intent.snapshot, now);
  const choose = async () => snapshot;
  const request = { scope: intent.scope, by: intent.by, now, choose };
  const { before, changed, mismatches } = await restoreSession(repository, record, request);
  const paths = changed === 1 ? '1 path' : `${changed} paths`;
  const result = mismatches.length === 0 ? '' : ', some differ from the snapshot';
  const back = before === undefined ? '' : `; to undo: ${commandToRestore(record, before.slice(0, 10))}`;
  return `restored ${paths}${result}${back}`;
}
