/** An undo takes this back beside the work of the agent: changes of a person or of another program between its calls. */
import { capturedPlaces, capturedRefs, differing } from '../../folders/git-state/read-state.ts';
import type { OthersMove, OthersMoves } from '../../folders/git-state/ref-plan.ts';
import { HEADS, shortOid } from '../../git/files/ref-files.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import { inOtherRepository, isAncestor } from '../../git/run/git.ts';
import { callsAtWork } from '../../session/calls-at-work.ts';
import { isAttached, type Landed } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { AFTER_SYNC, promptIn } from '../../snapshot/format.ts';
import { readNewest, type Snapshot } from '../../snapshot/history.ts';
import { diffSnapshots } from '../../snapshot/tree.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { compareWithPrevious } from '../timeline.ts';
import { authorsOf, lineOf } from '../turns.ts';
import { acceptedBetween, folderOf } from './acceptances.ts';

/** So far back it looks. */
const MOST_SNAPSHOTS = 200;

interface OthersChange {
  /** A snapshot that has it; undefined if none does yet. */
  readonly commit: string | undefined;
  readonly isDeletion: boolean;
}

export interface OthersChanges {
  readonly paths: ReadonlyMap<string, OthersChange>;
  /** Nothing of an agent goes with them. */
  readonly isAll: boolean;
}

export const NO_CHANGES: OthersChanges = { paths: new Map(), isAll: false };

/**
 * Between the snapshot `to` and the later one `from`: each path, which is relative to the session folder and has one byte per
 * character, with the newest snapshot that has somebody's change of it. `content`: the files that the folder gets.
 */
export async function othersChanges(
  session: Session,
  latest: Latest & { readonly from: string },
  to: string,
  content: string,
): Promise<OthersChanges> {
  const { git } = session;
  // The files of a commit that stays are no step either.
  const isUndo =
    latest.isUndo ??
    (isAttached(session.record) &&
      (await othersRefs(session, { ...latest, isUndo: true }, to)).moved.size > 0);
  const seen = await othersSnapshots(session, { ...latest, isUndo }, to);
  const { going, theirs, restored, sinceRestore, standing } = seen;
  const found = new Map<string, OthersChange>();
  const isOfTarget = going[restored]?.restored === to;
  const isAll = (isOfTarget ? going.slice(0, restored) : going).every((one) => theirs.includes(one));
  if (theirs.length === 0) return { paths: found, isAll };
  const changed = new Set((await diffSnapshots(git, content, latest.from)).map(({ path }) => path));
  const newest = new Map<string, { readonly commit: string; readonly oid: string | undefined }>();
  const byAgent = new Set<string>();
  const broughtBack = new Set<string>();
  const changes = await compareWithPrevious(git, going);
  for (const one of going)
    for (const { path, after } of changes.get(one.commit) ?? []) {
      const isTakenBack = broughtBack.has(path) && !standing.has(one);
      if (one.restoredBy !== undefined) broughtBack.add(path);
      else if (!theirs.includes(one)) byAgent.add(`${path}\0${after?.oid}`);
      else if (!newest.has(path) && !isTakenBack) newest.set(path, { commit: one.commit, oid: after?.oid });
    }
  // Somebody has only brought back what an agent had written, as by a checkout there and back.
  for (const [path, { oid }] of newest) if (byAgent.has(`${path}\0${oid}`)) newest.delete(path);
  // A version that a call has destroyed is neither there nor in the snapshot. A restore has named those that it took away.
  const names = [...newest.keys()].map((path) => `${content}:${encodePath(path)}`);
  const there = await findObjects(git, names);
  for (const [i, [path, { commit, oid }]] of [...newest].entries())
    if (there[i]?.oid !== oid && (changed.has(path) || (sinceRestore.has(commit) && oid !== undefined)))
      found.set(path, { commit, isDeletion: oid === undefined });
  return { paths: found, isAll };
}

export interface OthersRefs {
  /** Refs of an attached folder's repository that somebody else has moved between the snapshots. */
  readonly moved: OthersMoves;
  /** Somebody else took the earlier repository away. */
  readonly hasReplaced: boolean;
  /** The command that moves their refs, too. */
  readonly command: string | undefined;
  /** All snapshots between the two, newest first, and those with changes that no agent made. */
  readonly going: readonly Snapshot[];
  readonly theirs: readonly Snapshot[];
  /** In a folder without events of an agent nothing else tells whose changes a snapshot has. */
  readonly isAfterAcceptance: (one: Snapshot) => boolean;
  /** The acceptances since: an agent may have been in a call then. */
  readonly accepted: readonly Pick<Landed, 'from' | 'commit'>[];
}

/** A move counts if the ref is still there, apart from calls of agents since: a restore may have taken it back. */
export async function othersRefs(session: Session, latest: Latest, to: string): Promise<OthersRefs> {
  const moved = new Map<string, OthersMove>();
  const byAgents = new Set<string>();
  const { going, theirs, hasAgent, hasEvents } = await othersSnapshots(session, latest, to);
  const values = new Map<string, string | undefined>();
  let hasReplaced: boolean | undefined;
  for (const { commit, parents, restoredBy } of theirs.length === 0 ? [] : going) {
    if (parents[0] === undefined) continue;
    const before = await capturedRefs(session.git, parents[0]);
    const after = await capturedRefs(session.git, commit);
    const isTheirs = theirs.some((one) => one.commit === commit);
    const was = await capturedPlaces(session.git, parents[0]);
    const is = await capturedPlaces(session.git, commit);
    // Who has deleted the earlier one counts, not who has called git init then.
    if (was !== undefined && was.kept !== is?.kept) hasReplaced ??= isTheirs;
    if (before === undefined || after === undefined) continue;
    for (const ref of differing(before, after)) {
      if (!isTheirs && restoredBy === undefined) byAgents.add(ref);
      const value = values.has(ref) ? values.get(ref) : after.get(ref);
      const isThere = value === after.get(ref) && !moved.has(ref);
      if (isTheirs && isThere) moved.set(ref, { to: value, commit, was: before.get(ref), of: is?.kept });
      values.set(ref, isThere && restoredBy === undefined ? before.get(ref) : value);
    }
  }
  const { from, isUndo = false } = latest;
  const accepted = isUndo && from !== undefined ? await acceptedBetween(session, to, from) : [];
  // Only events tell that commits on top of it are of an agent.
  for (const { onto, tip, newest = tip } of accepted)
    if (!moved.has(onto)) moved.set(onto, { to: hasEvents ? newest : tip, commit: undefined });
  if (isUndo)
    for (const [ref, move] of moved)
      moved.set(ref, { ...move, isQuiet: !byAgents.has(ref) && !(await hasLost(session, ref, to, move)) });
  let first = hasEvents || accepted.length === 0 ? -1 : going.length - 1;
  const hasNone = async (commit = '') => !(await acceptedBetween(session, to, commit, accepted)).length;
  while (first >= 0 && (await hasNone(going[first]?.commit))) first -= 1;
  const isAfterAcceptance = (one: Snapshot) => going.indexOf(one) <= first;
  const command = hasAgent ? undefined : `agt restore ${shortOid(to)}`;
  return { moved, hasReplaced: hasReplaced === true, command, going, theirs, isAfterAcceptance, accepted };
}

/** Commits that the branch had at the snapshot `to`. */
async function hasLost(session: Session, ref: string, to: string, move: OthersMove): Promise<boolean> {
  const before = ref.startsWith(HEADS) ? (await capturedRefs(session.git, to))?.get(ref) : undefined;
  if (before === undefined || move.to === undefined || before === move.to) return false;
  return !(await isAncestor(inOtherRepository(session.git, folderOf(session)), before, move.to));
}

/** The snapshot from which an undo goes back. */
export interface Latest {
  readonly from: string | undefined;
  /** What a person has done to git since the agent's last event is no step, also if nothing else is taken back. */
  readonly isUndo?: boolean;
}

/**
 * If an undo takes back nothing but changes that no agent made, they are what the person means. `going`: all
 * between the two, newest first. `restored`: the index of the last restore among them; -1 without any.
 * `hasAgent`: there are events of an agent among them; `hasEvents`: among all.
 */
async function othersSnapshots(session: Session, { from, isUndo = false }: Latest, to: string) {
  const newest = await readNewest(session.git, session.refs, MOST_SNAPSHOTS);
  const start = newest.findIndex(({ commit }) => commit === from);
  const end = newest.findIndex(({ commit }) => commit === to);
  const nothing = { going: [], theirs: [], hasAgent: false, hasEvents: false };
  const standing = lineOf(new Map(newest.map((one) => [one.commit, one])), from);
  if (start < 0) return { ...nothing, sinceRestore: new Set<string>(), restored: -1, standing };
  const going: readonly Snapshot[] = newest.slice(start, end);
  const hasAgent = going.some(isOfAgent);
  const hasEvents = newest.some(isOfAgent);
  const others = othersIn(session, newest);
  const isTheirs = (one: Snapshot) => others.has(one) && one.label !== AFTER_SYNC; // the next sync brings that again
  const theirs = hasAgent || (isUndo && hasEvents) ? going.filter(isTheirs) : [];
  const restored = going.findIndex(({ restoredBy }) => restoredBy !== undefined);
  const fresh = going.slice(0, restored < 0 ? undefined : restored);
  const sinceRestore = new Set(fresh.map(({ commit }) => commit));
  return { going, theirs, sinceRestore, restored, hasAgent, hasEvents, standing };
}

/** Changes that no agent made. Without events of calls, agt cannot tell those since an agent's prompt. */
function othersIn({ record }: Session, history: readonly Snapshot[]): ReadonlySet<Snapshot> {
  const { steps } = authorsOf(history.toReversed(), isAttached(record));
  const canTell = hasCalls(history);
  const others = steps.flatMap(({ author, snapshot: one }) =>
    author === 'other' && (canTell || one.agent === undefined || isBeforeAgent(one)) ? one : [],
  );
  return new Set(others);
}

const isBeforeAgent = (one: Snapshot) => one.before !== undefined || promptIn(one) !== undefined;
const isOfAgent = (one: Snapshot) => isBeforeAgent(one) || (one.call ?? one.agent) !== undefined;
const hasCalls = (history: readonly Snapshot[]) =>
  history.some(({ before, tool }) => (before ?? tool) !== undefined);
const isAtWork = ({ repository, id }: Session) => callsAtWork(repository.agtDir, id, new Date()).length > 0;

/** Whether changes are of a person or of another program. Only events of calls tell that of those of an agent. */
export function othersSteps(session: Session, history: readonly Snapshot[]) {
  const others = othersIn(session, history);
  const canTell = hasCalls(history);
  return (changes: readonly Snapshot[]) =>
    canTell && changes.every((one) => others.has(one)) && (changes.length > 0 || !isAtWork(session));
}
