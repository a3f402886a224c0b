/** The acceptances of a session, and where its own work starts: the metadata tell. */
import type { Repository } from '../repository/repository.ts';
import { type Landed, readRecord, type SessionRecord } from './record.ts';
import { isEnded } from './state.ts';

/** The session, the one that it goes on with, and so on. */
export function lineOf(repository: Repository, record: SessionRecord, depth = 0): SessionRecord[] {
  const { from } = record;
  const parent = from !== undefined && depth < MOST_PARENTS ? readRecord(repository, from) : undefined;
  return [record, ...(parent === undefined ? [] : lineOf(repository, parent, depth + 1))];
}

/** Of a session: those that began with it, it with them, or all with the same one. */
export function relativesIn(records: readonly SessionRecord[]) {
  const parents = new Map<string, string | undefined>(records.map((one) => [one.session_id, one.from]));
  const rootOf = (id: string, depth = 0): string => {
    const parent = depth < records.length ? parents.get(id) : undefined;
    return parent === undefined ? id : rootOf(parent, depth + 1);
  };
  return (id: string) => records.filter(({ session_id: one }) => one !== id && rootOf(one) === rootOf(id));
}

/** The commits of people with which a session began, or the one that it goes on with, and those of syncs, the newest first. */
export function startsOfWork(repository: Repository, record: SessionRecord): string[] {
  return lineOf(repository, record).flatMap((one) => [
    ...broughtBySyncs(one),
    ...(one.from === undefined ? [one.from_commit] : []),
  ]);
}

/** Oldest first. */
export function landingsOf(landed: Landed | undefined): Landed[] {
  return landed === undefined ? [] : [...landingsOf(landed.before), landed];
}

export function hasLanded({ landed }: Pick<SessionRecord, 'landed'>, one: Landed): boolean {
  return landingsOf(landed).some(({ commit }) => commit === one.commit);
}

/** Those of two repositories. The branches here have what was accepted here, also if the other one does not know. */
export function bothLanded(ours: Landed, theirs: Landed | undefined): Landed {
  if (theirs === undefined || hasLanded({ landed: ours }, theirs)) return ours;
  if (hasLanded({ landed: theirs }, ours)) return theirs;
  return { ...ours, before: ours.before === undefined ? theirs : bothLanded(ours.before, theirs) };
}

/**
 * Whether the last acceptance on a branch that is not the session's own left something out: also work which that one had,
 * and that the sandbox has by a sync.
 */
export function isPartElsewhere({ landed, user_branch }: SessionRecord, onto = landed?.onto): boolean {
  const last = landingsOf(landed).findLast((one) => one.onto === onto);
  return last?.in_part === true && last.onto !== user_branch;
}

/** Also those that were taken back or have another form: the commit of each, and the one below it. */
export function acceptances({ landed, taken_back = [], synced = [] }: SessionRecord): Map<string, string> {
  const amended = synced.flatMap(({ accepted = [] }) => accepted);
  const all = [...amended, ...taken_back, ...landingsOf(landed)];
  return new Map(all.map(({ commit, from }) => [commit, from]));
}

/** The newest first. An acceptance of the session itself is its own work: the commit below it counts. */
export function broughtBySyncs(record: SessionRecord): string[] {
  const { synced = [] } = record;
  const below = acceptances(record);
  return synced.map(({ tip }) => {
    let start = tip;
    for (let next = below.get(start); next !== undefined; next = below.get(start)) start = next;
    return start;
  });
}

/** When the work landed or was taken back, or the session failed or ended, elsewhere: `ours`, as it was here, lacks it. */
export function actsElsewhere(theirs: SessionRecord, ours: SessionRecord | undefined): string[] {
  const here = new Set(ours && actsOf(ours));
  return [...new Set(actsOf(theirs)).difference(here).union(new Set(ours?.moved?.elsewhere))];
}

function actsOf({ landed, taken_back = [], state, state_at }: SessionRecord): string[] {
  const landings = [...taken_back, ...landingsOf(landed)].map(({ at }) => at);
  const end = state === 'failed' || isEnded({ state }) ? state_at : undefined;
  return [...landings, ...taken_back.map(({ taken_at }) => taken_at), end ?? []].flat();
}

/** An id may be of another session since. */
const MOST_PARENTS = 20;
