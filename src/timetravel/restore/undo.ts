/**
 * `agt session undo` and `redo` work as in an editor: autocommits and restores are steps; an undo goes one step back and a
 * redo one step forward, until something new is done. agt replays the history of the session to find the current step.
 * There is no other record of it that could be wrong. With `--turn` both go to the next step that holds a prompt: a turn
 * of an agent is everything from one prompt of its user to the next, whichever agent that is.
 */
import { differingGitDirFiles } from '../../checkout/git-dir-files.ts';
import { AgtError } from '../../errors.ts';
import { isWorkRef } from '../../filter/agent-refs.ts';
import { shownId } from '../../folders/store.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import type { Repository } from '../../repository/repository.ts';
import { commandToList, commandToMove, commandToRestore } from '../../session/advised-commands.ts';
import { isAttached, snapshotRefs, workBranchOf } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { isEnded } from '../../session/state.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { OWN, promptIn } from '../../snapshot/format.ts';
import { requireHistory, type Snapshot } from '../../snapshot/history.ts';
import {
  readSnapshotMetadata,
  type SnapshotManifest,
  type SnapshotMetadata,
  serializeManifest,
} from '../../snapshot/manifest.ts';
import { keepIgnored, listIgnored } from './ignored-files.ts';
import { isDirectory, pathsOf, planFrom } from './restore-files.ts';
import { isBeforeRedo } from './unfinished-restore.ts';

/** Whether a restore of one would change nothing in the other. */
type IsSame = (a: Snapshot, b: Snapshot) => Promise<boolean>;

/** The history, newest first, and its steps. */
export async function readSteps({ repository, record }: Session) {
  const history = await requireHistory(repository.git, snapshotRefs(record));
  // Nearly all snapshots differ in these, which git tells for all of them at once.
  const parts = [...TOP_FOLDERS, OWN.index];
  const names = history.flatMap(({ commit }) => parts.map((part) => `${commit}:${part}`));
  const oids = (await findObjects(repository.git, names)).map((object) => object?.oid);
  const keyOf = (n: number) => oids.slice(n * parts.length, (n + 1) * parts.length).join(' ');
  const keys = new Map(history.map(({ commit }, n) => [commit, keyOf(n)]));
  const isSame: IsSame = async (a, b) =>
    keys.get(a.commit) === keys.get(b.commit) && hasSameMetadata(repository, a, b);
  const { steps, current } = await replayHistory(history, isSame);
  return {
    history,
    steps,
    current,
    /** The newest snapshot is in the middle of a restore that was not finished: it is no step. */
    isBetween: history[0]?.unfinished !== undefined,
    isCurrent: (snapshot: Snapshot) => isSame(snapshot, (steps[current] as Step).snapshot),
  };
}

interface Step {
  /** The newest one with a label, if there is one. */
  snapshot: Snapshot;
  /** All snapshots of the step: those that changed nothing after the first. */
  readonly commits: string[];
  /** The first words of the newest prompt in it: a turn of the agent begins here. */
  prompt: string | undefined;
  /** A person has restored a snapshot. */
  readonly isRestore: boolean;
}

/**
 * The steps, oldest first, and the index of the current one; -1 if there is none. A snapshot that changed nothing, such as
 * one with a label alone, is no step. It takes no redo away, and names the step.
 */
export async function replayHistory(history: readonly Snapshot[], isSame: IsSame) {
  const steps: Step[] = [];
  let current = -1;
  const oldestFirst = history.toReversed();
  for (const [i, snapshot] of oldestFirst.entries()) {
    if (snapshot.unfinished !== undefined) continue;
    const target = targetOf(snapshot, steps, current);
    const step = steps[current];
    const before = oldestFirst[i - 1];
    // After an unfinished restore, every snapshot is a step: it holds what the restore left.
    const isComparable = before !== undefined && before.unfinished === undefined;
    if (target >= 0) current = target;
    else if (step !== undefined && isComparable && (await isSame(before, snapshot))) {
      step.commits.push(snapshot.commit);
      if (snapshot.label !== undefined) step.snapshot = snapshot;
      step.prompt = promptIn(snapshot) ?? step.prompt;
    } else {
      steps.splice(current + 1);
      const isRestore = snapshot.restoredBy === 'restore';
      const commits = [snapshot.commit];
      current = steps.push({ snapshot, commits, prompt: promptIn(snapshot), isRestore }) - 1;
    }
  }
  return { steps, current };
}

/** Where undo and redo have come to. */
export interface Position {
  readonly snapshot: Snapshot;
  /** Counted from 1, the oldest. */
  readonly step: number;
  readonly of: number;
  /** The prompt of the turn that an undo to this step takes back, or a redo to it brings back. */
  readonly turn: string | undefined;
}

/** Undefined before the first autocommit. */
export async function readPosition(session: Session, by: 'undo' | 'redo'): Promise<Position | undefined> {
  const { steps, current } = await readSteps(session);
  const step = steps[current];
  const begin = by === 'undo' ? step : steps.slice(0, current).findLast(({ prompt }) => prompt !== undefined);
  const isOfRestore = (by === 'undo' ? steps[current + 1] : step)?.isRestore === true;
  const turn = isOfRestore ? undefined : begin?.prompt;
  return step && { snapshot: step.snapshot, step: current + 1, of: steps.length, turn };
}

/** The index of the step that an undo or a redo went to, again if it was killed; -1 for any other snapshot. */
function targetOf({ restored = '', restoredBy }: Snapshot, steps: readonly Step[], current: number): number {
  const isTarget = ({ commits }: Step) => commits.includes(restored);
  if (restoredBy === 'undo') return steps.slice(0, current + 1).findLastIndex(isTarget);
  if (restoredBy !== 'redo') return -1;
  const ahead = steps.slice(current).findIndex(isTarget);
  return ahead < 0 ? -1 : current + ahead;
}

/** A turn, or one step of it. Without any prompt in the history, a turn is one step. */
export type Distance = 'step' | 'turn';

/** The steps at which an undo or a redo stops. A restore, too, is an act of a person, and one undo takes it back. */
function stops(steps: readonly Step[], distance: Distance): ReadonlySet<Step> {
  const isByTurn = distance === 'turn' && steps.some(({ prompt }) => prompt !== undefined);
  const isStop = ({ prompt, isRestore }: Step, i: number) =>
    prompt !== undefined || isRestore || steps[i + 1]?.isRestore === true;
  return new Set(isByTurn ? steps.filter(isStop) : steps);
}

/**
 * The snapshot that an undo goes to: the nearest earlier one to which a restore would change something. `hasUncaptured`:
 * the folder differs from its last snapshot, so that the last snapshot is one step back. So it is where the sandbox is
 * gone. @throws AgtError if there is none.
 */
export async function findUndoTarget(
  session: Session,
  hasUncaptured: boolean,
  distance: Distance,
): Promise<Snapshot> {
  const { record } = session;
  const { history, steps, current, isBetween, isCurrent } = await readSteps(session);
  const isGone = isEnded(record) || session.place === 'missing';
  const isBack = hasUncaptured || isBetween || isGone || isBeforeRedo(record, history[0]);
  const earlier = steps.slice(0, Math.max(0, isBack ? current + 1 : current)).reverse();
  const stopping = stops(steps, distance);
  for (const { snapshot } of earlier.filter((step) => stopping.has(step))) {
    if (isBack) return snapshot;
    if (await isCurrent(snapshot)) continue;
    if (await changesFiles(session, history[0], snapshot)) return snapshot;
  }
  const id = shownId(record);
  const hints = [`see: ${commandToList(record)}`];
  if (distance === 'turn' && earlier.length > 0) {
    throw new AgtError(`nothing to undo: no earlier turn in "${id}" changed anything`, {
      hints: [...hints, `to go one step back: ${commandToMove(record, 'undo')}`],
    });
  }
  const reason =
    current < 1
      ? `"${id}" has no earlier snapshot`
      : isAttached(record)
        ? `no earlier snapshot of "${id}" would change a file`
        : `all earlier snapshots of "${id}" equal the current one`;
  throw new AgtError(`nothing to undo: ${reason}`, { hints });
}

/** What the last undo left; for a turn, the next prompt or the end. @throws AgtError if there is none */
export async function findRedoTarget(
  session: Session,
  hasUncaptured: boolean,
  distance: Distance,
): Promise<Snapshot> {
  const { history, steps, current, isBetween, isCurrent } = await readSteps(session);
  const stopping = stops(steps, distance);
  let target: Snapshot | undefined;
  for (const step of hasUncaptured || isBetween ? [] : steps.slice(current + 1)) {
    const { snapshot } = step;
    if (await isCurrent(snapshot)) continue;
    target = snapshot;
    if (stopping.has(step)) break;
  }
  if (target !== undefined) return target;
  const id = shownId(session.record);
  const isLast = !hasUncaptured && history[0]?.restoredBy === 'redo';
  const reason = isLast
    ? `"${id}" is at its last step`
    : `nothing was undone since the last change of "${id}"`;
  throw new AgtError(`nothing to redo: ${reason}`, {
    hints: [`to go to any snapshot: ${commandToRestore(session.record, 'SNAPSHOT')}`],
  });
}

/**
 * Whether two snapshots are the same but for their session, the name of its work branch, label and tool, and for what agt
 * did not capture: no restore changes that.
 */
async function hasSameMetadata(repository: Repository, a: Snapshot, b: Snapshot): Promise<boolean> {
  const { git, prefixes } = repository;
  const [one, other] = await Promise.all([
    readSnapshotMetadata(git, a.commit),
    readSnapshotMetadata(git, b.commit),
  ]);
  // A fork begins with snapshots of its source, which was on a work branch of its own.
  const refOf = ({ head, session }: SnapshotManifest) =>
    isWorkRef(prefixes, session, head.ref) ? '' : head.ref;
  const withoutNames = ({ manifest }: SnapshotMetadata) =>
    serializeManifest({
      ...manifest,
      head: { ...manifest.head, ref: refOf(manifest) },
      git_dir_digest: '',
      skipped: [],
      ignored: [],
      session: '',
      label: null,
      tool: null,
    });
  return withoutNames(one) === withoutNames(other) && hasSameGitDirFiles(repository, one, other);
}

/** Some of these files name the work branch, which is another one in a fork. */
async function hasSameGitDirFiles(
  repository: Repository,
  one: SnapshotMetadata,
  other: SnapshotMetadata,
): Promise<boolean> {
  const [first, second] = [one.manifest, other.manifest];
  if (first.git_dir_digest === second.git_dir_digest) return true;
  if (first.session === second.session) return false;
  const branches = {
    workBranch: workBranchOf(repository, first.session),
    snapshotWorkBranch: workBranchOf(repository, second.session),
  };
  return (await differingGitDirFiles(repository.git, one, other, branches)).length === 0;
}

/**
 * Whether a restore of an attached folder would change a file. It deletes nothing that git ignores, so it may change
 * nothing, although the snapshots differ: the last one was taken with --ignored, or a directory that was empty has
 * ignored files. `captured`: the snapshot that the folder is in. True for every other session.
 */
async function changesFiles(
  session: Session,
  captured: Snapshot | undefined,
  { commit }: Snapshot,
): Promise<boolean> {
  const { repository, record } = session;
  if (!isAttached(record) || captured === undefined) return true;
  const wanted = await readSnapshotMetadata(repository.git, commit);
  const plan = await planFrom(repository.git, { captured: captured.commit, wanted, scope: TOP_FOLDERS });
  const present = plan.emptyDirectories.made.filter((path) => isDirectory(record, path));
  // git lists the ignored files only if all depends on them.
  if (pathsOf(plan).length > plan.deletions.length + present.length) return true;
  const kept = keepIgnored(plan, await listIgnored(session, commit));
  return kept.deletions.length > 0;
}
