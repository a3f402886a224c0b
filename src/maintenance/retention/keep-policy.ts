/**
 * Decides which snapshots agt keeps when it shortens a history. Pure: takes snapshots and a time, returns
 * commits.
 *
 * Hours and days are in UTC. So a second thinning in another time zone deletes nothing more.
 */
import { labelByPerson } from '../../snapshot/format.ts';
import type { Snapshot } from '../../snapshot/history.ts';

/** In seconds. */
const HOUR = 3_600;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

type Marked = Pick<Snapshot, 'commit' | 'time' | 'label' | 'restored' | 'agent'> &
  Partial<Pick<Snapshot, 'call' | 'conversation' | 'tool' | 'during'>>;

/**
 * Keeps every snapshot of the last day, the last one of each hour of the last week, the last one of each
 * earlier day, the newest and the oldest, every labelled one, and the ones that undo and redo need,
 * those that tell an acceptance what a failed call has changed, and the last one of each row by one author: its changes
 * would become those of the next. `now` in Unix seconds.
 */
export function keptWhenThinned(snapshots: readonly Marked[], now: number): Set<string> {
  const kept = new Set([
    ...snapshots.filter(({ label }) => label !== undefined).map(({ commit }) => commit),
    ...neededForUndo(snapshots),
    ...failures(snapshots),
    ...endsOfWork(snapshots),
  ]);
  const filledSlots = new Set<string>();
  for (const { commit, time } of snapshots) {
    const slot = slotOf(commit, time.getTime() / 1000, now);
    if (!filledSlots.has(slot)) kept.add(commit);
    filledSlots.add(slot);
  }
  for (const end of [snapshots[0], snapshots.at(-1)]) if (end !== undefined) kept.add(end.commit);
  return kept;
}

/** Thinning keeps the newest snapshot of each slot. Times in Unix seconds. */
function slotOf(commit: string, time: number, now: number): string {
  const age = now - time;
  if (age < DAY) return commit;
  return age < WEEK ? `hour ${Math.floor(time / HOUR)}` : `day ${Math.floor(time / DAY)}`;
}

/** For sessions whose `agt.retention` is over: agt keeps the snapshots that a person labelled. */
export function keptWhenEnded(snapshots: readonly Marked[]): Set<string> {
  return new Set(snapshots.filter(labelByPerson).map(({ commit }) => commit));
}

/**
 * For attached folders: agt keeps what is younger than `retention`, the newest snapshot, and those that a person labelled. A
 * label beside the name of an agent comes from that agent's hook. `now` in Unix seconds, `retention` in seconds.
 */
export function keptOfFolder(snapshots: readonly Marked[], now: number, retention: number): Set<string> {
  const [newest] = snapshots;
  const byPerson = snapshots.filter((one) => one.agent === undefined && labelByPerson(one));
  const young = snapshots.filter(({ time }) => now - time.getTime() / 1000 <= retention);
  return new Set(
    [...(newest === undefined ? [] : [newest]), ...byPerson, ...young].map(({ commit }) => commit),
  );
}

/** Each call that failed, with the snapshot before it. */
function failures(snapshots: readonly Marked[]): string[] {
  return snapshots.flatMap(({ commit, call }, i) =>
    call?.outcome === 'failed' ? [commit, snapshots[i + 1]?.commit ?? commit] : [],
  );
}

function endsOfWork(snapshots: readonly Marked[]): string[] {
  const authorOf = ({ conversation = '', tool, during = [] }: Marked) =>
    tool === undefined && during.length === 0 ? '' : [conversation, ...during].join(' ');
  const isEnd = (one: Marked, i: number) => i > 0 && authorOf(one) !== authorOf(snapshots[i - 1] as Marked);
  return snapshots.filter(isEnd).map(({ commit }) => commit);
}

/** Undo and redo need each restore, the snapshot that it brought back, and the one that it replaced. */
function neededForUndo(snapshots: readonly Marked[]): string[] {
  const all = new Set(snapshots.map(({ commit }) => commit));
  return snapshots.flatMap(({ commit, restored }, i) => {
    if (restored === undefined) return [];
    const replaced = snapshots[i + 1]?.commit ?? commit;
    return [commit, restored, replaced].filter((needed) => all.has(needed));
  });
}
