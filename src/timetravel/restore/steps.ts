/**
 * The steps of a history, and the one that an undo or a redo goes to; restore.ts goes there. Both work as in an editor:
 * autocommits and restores are steps; an undo goes one step back and a redo one step forward, until something new is
 * done. agt replays the history of the session to find the current step. There is no other record of it that could be
 * wrong. With `--turn` both go to the next step that holds a prompt: a turn of an agent is everything from one prompt of
 * its user to the next, whichever agent that is.
 */
import { AgtError } from '../../errors.ts';
import { shownId } from '../../folders/store.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import { commandToMove, commandToRestore } from '../../session/advised-commands.ts';
import type { Session } from '../../session/session.ts';
import { isEnded } from '../../session/state.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import {
  AS_CHECKED_OUT,
  BEFORE_ACCEPT,
  BEFORE_GIT,
  BEFORE_SYNC,
  OWN,
  oneThingIn,
  promptIn,
  REJECTED,
  THE_START,
  TO_GREEN,
} from '../../snapshot/format.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { changesAnything, hasSameMetadata, lostLeftOut } from './differences.ts';
import { nothingToUndo, tooFar } from './nothing-to-undo.ts';
import { othersSteps } from './others-changes.ts';
import { startBefore } from './start.ts';
import { isBeforeRedo, isUsersWork } from './unfinished-restore.ts';

/** Whether a restore of one would change nothing in the other. */
type IsSame = (a: Snapshot, b: Snapshot) => Promise<boolean>;

/** The history, newest first, and its steps. */
export async function readSteps(session: Session) {
  const { repository, record } = session;
  const history = await session.requireHistory();
  // Nearly all snapshots differ in these, which git tells for all of them at once.
  const parts = [...TOP_FOLDERS, OWN.index];
  const names = history.flatMap(({ commit }) => parts.map((part) => `${commit}:${part}`));
  const first = history.at(-1);
  names.push(`${first?.parents[0]}^{tree}`);
  const oids = (await findObjects(repository.git, names)).map((object) => object?.oid);
  const keyOf = (n: number) => oids.slice(n * parts.length, (n + 1) * parts.length).join(' ');
  const [config, sandbox, xdg, , start] = oids.slice(-parts.length - 1);
  const isPrompt = (first && promptIn(first)) !== undefined && sandbox === start && !(config ?? xdg);
  const keys = new Map(history.map(({ commit }, n) => [commit, keyOf(n)]));
  const position = new Map(history.map(({ commit }, n) => [commit, n]));
  const isOlder = (a: Snapshot, b: Snapshot) => (position.get(a.commit) ?? 0) > (position.get(b.commit) ?? 0);
  const hasSameKey = (a: Snapshot, b: Snapshot) => keys.get(a.commit) === keys.get(b.commit);
  const hasLost: IsSame = async (a, b) =>
    hasSameKey(a, b) &&
    (isOlder(a, b) ? lostLeftOut(repository, history, a, b) : lostLeftOut(repository, history, b, a));
  const isSame: IsSame = async (a, b) => hasSameKey(a, b) && hasSameMetadata(repository, a, b);
  const isNoStep: IsSame = async (a, b) => (await isSame(a, b)) && !(await hasLost(a, b));
  const fork = record.from && history.find(({ session }) => session !== record.session_id);
  return {
    history,
    ...(await replayHistory(history, isNoStep, fork?.commit)),
    /** The index of the step that is no step but the start: the first prompt may come before any change. */
    zero: record.working_copy === 'worktree' && (isPrompt || first?.label === AS_CHECKED_OUT) ? 0 : -1,
    /** The newest snapshot is in the middle of a restore that was not finished: it is no step. */
    isBetween: history[0]?.unfinished !== undefined,
    isSame,
    isNoStep,
    hasLost,
    isOthers: othersSteps(session, history),
  };
}

export interface Step {
  /** The newest one with a label, if there is one. */
  snapshot: Snapshot;
  /** The one that changed something. */
  readonly first: Snapshot;
  /** All snapshots of the step: those that changed nothing after the first. */
  readonly commits: string[];
  /** The first words of the newest prompt in it: a turn of the agent begins here. */
  prompt: string | undefined;
  /**
   * A person has restored a snapshot, or an agent has written here from another session. Rejected hunks go with the turn
   * that they were of.
   */
  readonly isRestore: boolean;
}

/**
 * The steps, oldest first, and the index of the current one; -1 if there is none, or at the start, which no snapshot has.
 * A snapshot that changed nothing is no step: it takes no redo away, and its label names the step. `begin`: the step at
 * which a fork began; those before it are the parent's. `leapt`: the step from which an undo to green has come to this one.
 * `cameFrom`: where the last undo or redo began. `undoneFrom`: where each undo began that no redo has taken back, oldest first.
 * `cut`: what has ended the redo since the undo, and the last step that the undo had taken back.
 */
export async function replayHistory(history: readonly Snapshot[], isNoStep: IsSame, from?: string) {
  const steps: Step[] = [];
  let current = -1;
  let begin = 0;
  let leapt: number | undefined;
  let cut: { readonly act: string; readonly last: Snapshot } | undefined;
  let cameFrom = -1;
  let asked: string | undefined;
  let undoneFrom: number[] = [];
  const oldestFirst = history.toReversed();
  for (const [i, snapshot] of oldestFirst.entries()) {
    if (snapshot.unfinished !== undefined) continue;
    const target = targetOf(snapshot, steps, current);
    const isStart = snapshot.restoredBy === 'undo' && snapshot.label === THE_START;
    const step = steps[current];
    const before = oldestFirst[i - 1];
    // After an unfinished restore, every snapshot is a step: it holds what the restore left.
    const isComparable = before !== undefined && before.unfinished === undefined;
    const isOpen = step?.prompt === undefined && isWithinCall(step?.first);
    const isSameCall = isOpen && (snapshot.tool !== undefined || isWithinCall(snapshot));
    if (target >= 0 || isStart) {
      leapt = snapshot.label?.startsWith(TO_GREEN) === true ? current : undefined;
      cameFrom = current;
      current = target;
      undoneFrom = [...undoneFrom, cameFrom].filter((i) => i > target);
      [cut, asked] = [undefined, undefined];
    } else if (isComparable && !isSameCall && (await isNoStep(before, snapshot))) {
      if (step === undefined) continue; // as the start, to which an undo went
      step.commits.push(snapshot.commit);
      if (snapshot.label !== undefined) step.snapshot = snapshot;
      // After an undo it may be a question alone, and the steps ahead stay.
      if (current < steps.length - 1) asked = promptIn(snapshot) ?? asked;
      else step.prompt = promptIn(snapshot) ?? step.prompt;
    } else {
      if (step !== undefined) step.prompt = asked ?? step.prompt;
      asked = undefined;
      steps.splice(isSameCall ? current : current + 1);
      undoneFrom = [];
      leapt = undefined;
      const isStray = snapshot.bySession !== undefined && snapshot.bySession !== step?.first.bySession;
      const isRestore =
        isStray || (snapshot.restoredBy === 'restore' && !snapshot.label?.startsWith(REJECTED));
      const commits = [...(isSameCall ? (step?.commits ?? []) : []), snapshot.commit];
      current = steps.push({ snapshot, first: snapshot, commits, prompt: promptIn(snapshot), isRestore }) - 1;
    }
    const act = ENDS_REDO.get(snapshot.label ?? '');
    const last = steps.splice(act === undefined ? steps.length : current + 1).at(-1)?.snapshot;
    if (act !== undefined && last !== undefined) cut = { act, last };
    if (snapshot.commit === from) begin = Math.max(0, current);
  }
  return { steps, current, begin, leapt, cut, cameFrom, undoneFrom };
}

/** The whole call is the step. */
const isWithinCall = (one?: Snapshot) => one?.label?.startsWith(BEFORE_GIT) === true && one.during.length > 0;

/** What was undone is not in the result: a redo would part the session from what has landed. By the label of its snapshot. */
const ENDS_REDO: ReadonlyMap<string, string> = new Map([
  [BEFORE_ACCEPT, 'accepted'],
  [BEFORE_SYNC, 'synced'],
]);

/** How far an undo or a redo goes. Without any prompt in the history, a turn is one step. */
export interface Distance {
  readonly unit: 'step' | 'turn';
  readonly count: number;
  /** The user has given no number: a redo goes back to where an undo to green began. */
  readonly isDefault?: boolean;
}

/** The index of the step that an undo or a redo went to, again if it was killed; -1 for any other snapshot. */
function targetOf({ restored = '', restoredBy }: Snapshot, steps: readonly Step[], current: number): number {
  const isTarget = ({ commits }: Step) => commits.includes(restored);
  if (restoredBy === 'undo') return steps.slice(0, current + 1).findLastIndex(isTarget);
  if (restoredBy !== 'redo') return -1;
  return steps.findIndex((step, i) => i >= current && isTarget(step));
}

/**
 * The steps at which an undo or a redo stops: by turn, prompts after which an agent changed something. A restore, too, is an
 * act of a person, and one undo takes it back. It takes back what came after the restore as well, unless an agent did that.
 */
export function stops(
  steps: readonly Step[],
  unit: Distance['unit'],
  isOthers: (changes: readonly Snapshot[]) => boolean,
): ReadonlySet<Step> {
  const isByTurn = unit === 'turn' && steps.some(({ prompt }) => prompt !== undefined);
  const isOfTurn = (i: number) => {
    const next = steps.findIndex(({ prompt }, n) => n > i && prompt !== undefined);
    return !isOthers(steps.slice(i + 1, next < 0 ? undefined : next + 1).map(({ first }) => first));
  };
  const isStop = ({ prompt, isRestore }: Step, i: number) =>
    ((prompt !== undefined || isRestore) && isOfTurn(i)) || steps[i + 1]?.isRestore === true;
  return new Set(isByTurn ? steps.filter(isStop) : steps);
}

/**
 * The snapshot that an undo goes to: each of its steps goes to the nearest earlier one to which a restore would change
 * something. The last snapshot is one step back where the sandbox is gone, or only its link to the repository.
 * @throws AgtError if there is none.
 */
export async function findUndoTarget(session: Session, { unit, count }: Distance): Promise<Snapshot> {
  const { record } = session;
  const { history, steps, current, begin, zero, isBetween, isSame, hasLost, isOthers } =
    await readSteps(session);
  const isGone = isEnded(record) || session.place !== 'here';
  const isBack = isBetween || isGone || isBeforeRedo(record, history[0]);
  const earlier = steps
    .slice(begin, Math.max(0, isBack ? current + 1 : current))
    .filter(({ first }) => !isUsersWork(first))
    .reverse();
  const stopping = stops(steps, unit, isOthers);
  let from = isBack ? undefined : steps[current]?.snapshot;
  let done = 0;
  const way = earlier.filter((step) => stopping.has(step));
  for await (const snapshot of undoStops(session, { isSame, hasLost }, from, way)) {
    from = snapshot;
    done += 1;
    if (done === count) return snapshot;
  }
  const isByStep = unit === 'step' || steps.every(({ prompt }) => prompt === undefined);
  // The first snapshot is of now, also if it was taken just before.
  const at = from ?? (isBack && history.length > 1 ? undefined : history[0]);
  const start = isByStep ? await startBefore(session, history.at(-1), at) : undefined;
  if (start !== undefined) done += 1;
  if (start !== undefined && done === count) return start;
  if (done > 0) throw tooFar(session, 'undo', { unit, count }, done, history);
  throw nothingToUndo(session, { steps, current, begin, zero, earlier, unit });
}

/** Where undo after undo stops on the way back from `from`. `earlier`: newest first. */
async function* undoStops(
  session: Session,
  { isSame, hasLost }: { readonly isSame: IsSame; readonly hasLost: IsSame },
  from: Snapshot | undefined,
  earlier: readonly Step[],
): AsyncGenerator<Snapshot> {
  for (const { snapshot } of earlier) {
    if (from !== undefined && !(await hasLost(from, snapshot))) {
      if (await isSame(from, snapshot)) continue;
      if (!(await changesAnything(session, from, snapshot))) continue;
    }
    from = snapshot;
    yield snapshot;
  }
}

/** Where redo after redo stops: each takes one step of an undo back. So it passes over those over which the undo went. */
async function* redoStops(
  session: Session,
  { steps, current, undoneFrom, isSame, hasLost }: Awaited<ReturnType<typeof readSteps>>,
  stopping: ReadonlySet<Step>,
): AsyncGenerator<Snapshot> {
  let below = current;
  for (const top of new Set([...undoneFrom.toReversed(), steps.length - 1])) {
    const step = steps[top];
    if (step === undefined || top <= below) continue;
    const way = steps.slice(below + 1, top).filter((one) => stopping.has(one));
    const passed = undoStops(session, { isSame, hasLost }, step.snapshot, way.reverse());
    yield* (await Array.fromAsync(passed)).reverse();
    const isByTurn = stopping.has(steps[below] as Step);
    if (isByTurn || stopping.has(step) || top === steps.length - 1) yield step.snapshot;
    below = top;
  }
}

/** What the last undo left; for a turn, the next prompt or the end. @throws AgtError if there is none */
export async function findRedoTarget(
  session: Session,
  { unit, count, isDefault = false }: Distance,
): Promise<Snapshot> {
  const read = await readSteps(session);
  const { history, steps, current, cut, leapt = -1, isBetween, isNoStep, isOthers } = read;
  const stopping = stops(steps, unit, isOthers);
  const origin = isDefault && unit === 'step' && leapt > current ? steps[leapt] : undefined;
  if (!isBetween && origin !== undefined) return origin.snapshot;
  let from = steps[current]?.snapshot;
  let done = 0;
  for await (const snapshot of isBetween ? [] : redoStops(session, read, stopping)) {
    if (from !== undefined && (await isNoStep(from, snapshot))) continue;
    from = snapshot;
    done += 1;
    if (done === count) return snapshot;
  }
  if (done > 0) throw tooFar(session, 'redo', { unit, count }, done, history);
  const id = shownId(session.record);
  if (cut !== undefined)
    throw new AgtError(`nothing to redo: "${id}" was ${cut.act} since the undo`, {
      hints: [`to go all the same: ${commandToRestore(session.record, shortOid(cut.last.commit))}`],
    });
  const isLast = history[0]?.restoredBy === 'redo';
  const isOneThing = (history[0]?.undone.length ?? 0) > 0;
  const reason = isLast
    ? `"${id}" is at its last step`
    : isOneThing
      ? 'that undo is a step of its own'
      : `nothing was undone since the last change of "${id}"`;
  const hints = [`to go to any snapshot: ${commandToRestore(session.record, 'SNAPSHOT')}`];
  const thing = isOneThing ? oneThingIn(history[0]) : undefined;
  if (thing !== undefined) hints.unshift(`to bring ${thing} back: ${commandToMove(session.record, 'undo')}`);
  throw new AgtError(`nothing to redo: ${reason}`, { hints });
}
