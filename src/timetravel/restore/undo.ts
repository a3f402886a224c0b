/**
 * `agt session undo` and `redo`, as in an editor: autocommits and restores are steps, an undo goes one step back along
 * them and a redo forth again, until something new is done. Replayed from the history alone, so there is no other
 * record of it that could be wrong.
 */

import { AgtError } from '../../errors.ts';
import { type Git, runGit } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { type SessionRecord, snapshotRefs } from '../../session/record.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { readHistory, type Snapshot } from '../../snapshot/history.ts';
import { serializeManifest } from '../../snapshot/manifest.ts';
import { readSnapshot, type SnapshotContent } from '../../snapshot/snapshot.ts';

/** The steps, oldest first, and which of them the session is at. */
export interface Line {
  readonly steps: readonly Snapshot[];
  readonly at: number;
}

/** `history`, newest first, as a line of steps. */
export function replay(history: readonly Snapshot[]): Line {
  const steps: Snapshot[] = [];
  let at = -1;
  for (const snapshot of history.toReversed()) {
    const target = moveOf(snapshot, steps, at);
    if (target >= 0) at = target;
    else {
      steps.splice(at + 1);
      at = steps.push(snapshot) - 1;
    }
  }
  return { steps, at };
}

/** Where along the steps an undo or a redo went; -1 for any other snapshot. */
function moveOf(snapshot: Snapshot, steps: readonly Snapshot[], at: number): number {
  const isTarget = ({ commit }: Snapshot) => commit === snapshot.restored;
  if (snapshot.restoredBy === 'undo') return steps.slice(0, at).findLastIndex(isTarget);
  if (snapshot.restoredBy !== 'redo') return -1;
  const ahead = steps.slice(at + 1).findIndex(isTarget);
  return ahead < 0 ? -1 : at + 1 + ahead;
}

/**
 * The snapshot that an undo goes to: the nearest before that is not the same. `uncaptured`: what is there is a step of its
 * own, although it is not captured yet. @throws AgtError where there is none.
 */
export async function stepBack(
  repository: Repository,
  record: SessionRecord,
  uncaptured: boolean,
): Promise<Snapshot> {
  const { steps, at } = replay(await readHistory(repository.git, snapshotRefs(record)));
  if (uncaptured && steps[at] !== undefined) return steps[at];
  for (const step of steps.slice(0, Math.max(0, at)).reverse()) {
    if (!(await isSameSnapshot(repository.git, step.commit, steps[at]?.commit ?? ''))) return step;
  }
  throw new AgtError(
    `nothing to undo: all earlier snapshots of "${record.session_id}" equal the current one`,
    {
      hints: [`see: agt session log ${record.session_id}`],
    },
  );
}

/** The snapshot that the last undo left. @throws AgtError where something else was done since. */
export async function stepForth(
  repository: Repository,
  record: SessionRecord,
  uncaptured: boolean,
): Promise<Snapshot> {
  const { steps, at } = replay(await readHistory(repository.git, snapshotRefs(record)));
  for (const step of uncaptured ? [] : steps.slice(at + 1)) {
    if (!(await isSameSnapshot(repository.git, step.commit, steps[at]?.commit ?? ''))) return step;
  }
  throw new AgtError(`nothing to redo in session "${record.session_id}": the last thing done was no undo`, {
    hints: [`every snapshot can be restored: agt session restore ${record.session_id} --to SNAPSHOT`],
  });
}

/** Whether two snapshots differ in no more than how they are called. */
async function isSameSnapshot(git: Git, a: string, b: string): Promise<boolean> {
  const run = await runGit(git, ['diff-tree', '-r', '--quiet', a, b, '--', ...TOP_FOLDERS, '_/index']);
  if (run.exitCode !== 0) return false;
  const [one, other] = await Promise.all([readSnapshot(git, a), readSnapshot(git, b)]);
  const bare = ({ manifest }: SnapshotContent) =>
    serializeManifest({ ...manifest, session: '', label: null, tool: null });
  return bare(one) === bare(other);
}
