/**
 * Which snapshots stay when a history is thinned. Pure: snapshots and a clock in, names of commits out.
 *
 * Of a day that is over an hour's last state stays, of a week that is over a day's; hours and days are those of UTC, so
 * that thinning again with another clock or in another place takes no more than it should.
 */
import type { StoredSnapshot } from './chain.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

type Marked = Pick<StoredSnapshot, 'oid' | 'at' | 'label' | 'restored'>;

/** Everything of the last day, one an hour of the last week, one a day before; and whatever somebody may come back to. */
export function keptWhenThinned(snapshots: readonly Marked[], now: number): Set<string> {
  const kept = markedSnapshots(snapshots, (label) => label !== undefined);
  const seen = new Set<string>();
  for (const { oid, at } of snapshots) {
    const age = now - at;
    const slot =
      age < DAY ? oid : age < 7 * DAY ? `hour ${Math.floor(at / HOUR)}` : `day ${Math.floor(at / DAY)}`;
    if (!seen.has(slot)) kept.add(oid);
    seen.add(slot);
  }
  for (const ends of [snapshots[0], snapshots.at(-1)]) if (ends !== undefined) kept.add(ends.oid);
  return kept;
}

/** Of an ended session only what a person has named stays. */
export function keptWhenEnded(snapshots: readonly Marked[]): Set<string> {
  return markedSnapshots(snapshots, (label) => label !== undefined && !isOwnLabel(label), false);
}

/**
 * Snapshots with such a label; and restores, what they brought back and what they replaced, since undo and redo read the
 * steps of a session from them.
 */
function markedSnapshots(
  snapshots: readonly Marked[],
  isKept: (label: string | undefined) => boolean,
  restores = true,
): Set<string> {
  const kept = new Set<string>();
  const there = new Set(snapshots.map(({ oid }) => oid));
  for (const [i, { oid, label, restored }] of snapshots.entries()) {
    if (isKept(label)) kept.add(oid);
    if (!restores || restored === undefined) continue;
    for (const end of [oid, restored, snapshots[i + 1]?.oid ?? oid]) if (there.has(end)) kept.add(end);
  }
  return kept;
}

/** Labels that agt gives by itself. A label that is not known here counts as a person's, and is kept. */
function isOwnLabel(label: string): boolean {
  return /^before (remove|fork to [A-Za-z0-9._-]+|git .*)$/.test(label);
}
