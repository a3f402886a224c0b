/**
 * Which snapshots agt keeps when it thins a history. Pure: snapshots and the time in, names of commits out.
 *
 * Hours and days are those of UTC, so that a second thinning in another time zone deletes nothing more.
 */
import type { Snapshot } from '../../snapshot/history.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

type Marked = Pick<Snapshot, 'commit' | 'at' | 'label' | 'restored'>;

/** Every snapshot of the last day, the last of each hour of the last week, the last of each day before; marked ones too. */
export function keptWhenThinned(snapshots: readonly Marked[], now: number): Set<string> {
  const kept = markedSnapshots(snapshots, (label) => label !== undefined);
  const seen = new Set<string>();
  for (const { commit, at } of snapshots) {
    const slot = slotOf(commit, at.getTime() / 1000, now);
    if (!seen.has(slot)) kept.add(commit);
    seen.add(slot);
  }
  for (const end of [snapshots[0], snapshots.at(-1)]) if (end !== undefined) kept.add(end.commit);
  return kept;
}

/** Of snapshots in one slot, the newest stays. Times in Unix seconds. */
function slotOf(commit: string, time: number, now: number): string {
  const age = now - time;
  if (age < DAY) return commit;
  return age < WEEK ? `hour ${Math.floor(time / HOUR)}` : `day ${Math.floor(time / DAY)}`;
}

/** When a session ended long ago: the snapshots that a person labelled. */
export function keptWhenEnded(snapshots: readonly Marked[]): Set<string> {
  return markedSnapshots(snapshots, (label) => label !== undefined && !isOwnLabel(label), false);
}

/**
 * The snapshots with a label that `isKept`. With `restores`, also each restore, the snapshot that it brought back and the
 * one that it replaced: undo and redo read their steps from these.
 */
function markedSnapshots(
  snapshots: readonly Marked[],
  isKept: (label: string | undefined) => boolean,
  restores = true,
): Set<string> {
  const kept = new Set<string>();
  const all = new Set(snapshots.map(({ commit }) => commit));
  for (const [i, { commit, label, restored }] of snapshots.entries()) {
    if (isKept(label)) kept.add(commit);
    if (!restores || restored === undefined) continue;
    const replaced = snapshots[i + 1]?.commit ?? commit;
    for (const marked of [commit, restored, replaced]) if (all.has(marked)) kept.add(marked);
  }
  return kept;
}

/** Labels that agt gives. agt takes every other label for a person's, and keeps it. */
function isOwnLabel(label: string): boolean {
  return /^before (remove|fork to [A-Za-z0-9._-]+|git .*)$/.test(label);
}
