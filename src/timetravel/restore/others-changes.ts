/** An undo takes this back beside the work of the agent: changes of a person or of another program between its calls. */
import { capturedRefs, differing } from '../../folders/git-state/read-state.ts';
import type { OthersMoves } from '../../folders/git-state/ref-plan.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import { callsAtWork } from '../../session/calls-at-work.ts';
import { isAttached, snapshotRefs } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { promptIn } from '../../snapshot/format.ts';
import { readNewest, type Snapshot } from '../../snapshot/history.ts';
import { diffSnapshots } from '../../snapshot/tree.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { authorsOf } from '../turns.ts';

/** So far back it looks. */
const MOST_SNAPSHOTS = 200;

/** Undefined: it is in no snapshot yet. */
export type OthersChanges = ReadonlyMap<string, string | undefined>;

/**
 * Between the snapshot `to` and the later one `from`: each path, which is relative to the session folder and has one byte per
 * character, with the newest snapshot that has somebody's change of it. `uncaptured`: paths of a change that is to come.
 */
export async function othersChanges(
  session: Session,
  { from, isNew }: Latest & { readonly from: string },
  to: string,
  uncaptured: readonly string[] = [],
): Promise<OthersChanges> {
  const { git } = session;
  const { theirs, sinceRestore, hasUncaptured } = await othersSnapshots(session, { from, isNew }, to);
  const found = new Map<string, string | undefined>();
  for (const path of hasUncaptured ? uncaptured : []) found.set(path, undefined);
  if (theirs.length === 0) return found;
  const going = new Set((await diffSnapshots(git, to, from)).map(({ path }) => path));
  const newest = new Map<string, { readonly commit: string; readonly oid: string | undefined }>();
  for (const { commit, parents } of theirs)
    for (const { path, after } of await diffSnapshots(git, parents[0], commit))
      if (!newest.has(path)) newest.set(path, { commit, oid: after?.oid });
  // A version that a call has destroyed is neither there nor in the snapshot. A restore has named those that it took away.
  const paths = [...newest.keys()];
  const there = await findObjects(
    git,
    paths.map((path) => `${to}:${encodePath(path)}`),
  );
  for (const [i, [path, { commit, oid }]] of [...newest].entries())
    if (
      !found.has(path) &&
      (going.has(path) || (sinceRestore.has(commit) && oid !== undefined && there[i]?.oid !== oid))
    )
      found.set(path, commit);
  return found;
}

export interface OthersRefs {
  /** Refs of an attached folder's repository that somebody else has moved between the snapshots. */
  readonly moved: OthersMoves;
  /** Somebody else has moved what nobody has captured, too. */
  readonly hasUncaptured: boolean;
}

export async function othersRefs(session: Session, latest: Latest, to: string): Promise<OthersRefs> {
  const moved = new Map<string, { to: string | undefined; commit: string }>();
  const { theirs, hasUncaptured } = await othersSnapshots(session, latest, to);
  for (const { commit, parents } of theirs) {
    if (parents[0] === undefined) continue;
    const before = await capturedRefs(session.git, parents[0]);
    const after = await capturedRefs(session.git, commit);
    if (before !== undefined && after !== undefined)
      for (const ref of differing(before, after))
        if (!moved.has(ref)) moved.set(ref, { to: after.get(ref), commit });
  }
  return { moved, hasUncaptured };
}

/** The snapshot from which an undo goes back. */
export interface Latest {
  readonly from: string | undefined;
  /** It has just been made, and holds what nobody had captured. In a preview, such a snapshot is to come. */
  readonly isNew: boolean | 'to come';
  /** What a person has done to git since the agent's last event is no step, also if nothing else is taken back. */
  readonly isUndo?: boolean;
}

/**
 * Those with changes that no agent made: before a call of a tool, before a prompt, and after the last event of the agent.
 * If an undo takes back nothing but the latter, they are what the person means.
 */
async function othersSnapshots(
  { git, record, repository, id }: Session,
  { from, isNew, isUndo = false }: Latest,
  to: string,
): Promise<Pick<OthersRefs, 'hasUncaptured'> & { theirs: Snapshot[]; sinceRestore: ReadonlySet<string> }> {
  const newest = await readNewest(git, snapshotRefs(record), MOST_SNAPSHOTS);
  const start = newest.findIndex(({ commit }) => commit === from);
  const end = newest.findIndex(({ commit }) => commit === to);
  if (start < 0) return { theirs: [], sinceRestore: new Set(), hasUncaptured: false };
  const going = newest.slice(start, end);
  const isBeforeAgent = (one: Snapshot) => one.before !== undefined || promptIn(one) !== undefined;
  const isOfAgent = (one: Snapshot) =>
    isBeforeAgent(one) || one.call !== undefined || one.agent !== undefined;
  const [hasAgent, hadAgent] = [going.some(isOfAgent), isUndo && newest.some(isOfAgent)];
  const isNobodys = ({ agent, tool, label, restoredBy, during }: Snapshot) =>
    (agent ?? tool ?? label ?? restoredBy) === undefined && during.length === 0;
  const isAfterAgent = (one: Snapshot, i: number) =>
    i === 0 &&
    isNew !== 'to come' &&
    ((hadAgent && isNobodys(one)) || ((isNew || isNobodys(one)) && hasAgent && going.length > 1));
  const restored = going.findIndex(({ restoredBy }) => restoredBy !== undefined);
  const fresh = going.slice(0, restored < 0 ? undefined : restored);
  const theirs = going.filter((one, i) => isBeforeAgent(one) || isAfterAgent(one, i));
  const sinceRestore = new Set(fresh.map(({ commit }) => commit));
  const isAtWork = callsAtWork(repository.agtDir, id, new Date()).length > 0;
  const hasUncaptured = isNew === 'to come' && (hasAgent || (hadAgent && !isAtWork));
  return { theirs, sinceRestore, hasUncaptured };
}

/** Whether a change is of a person or of another program. Only events of calls tell that of those of an agent. */
export function othersSteps({ repository, id, record }: Session, history: readonly Snapshot[]) {
  const { steps } = authorsOf(history.toReversed(), isAttached(record));
  const others = new Set(steps.filter(({ author }) => author === 'other').map(({ snapshot }) => snapshot));
  const hasCalls = history.some(({ before, tool }) => (before ?? tool) !== undefined);
  const isAtWork = callsAtWork(repository.agtDir, id, new Date()).length > 0;
  return (changes: readonly Snapshot[]) =>
    hasCalls &&
    (changes.length > 0 || !isAtWork) &&
    changes.every(
      (one) =>
        others.has(one) &&
        (one.agent === undefined || one.before !== undefined || promptIn(one) !== undefined),
    );
}
