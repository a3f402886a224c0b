/** Where an undo or a redo has come to, and the turns that it has taken back or brought back. */
import { isAttached } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { authorsOf, type TurnSteps } from '../turns.ts';
import { type Distance, readSteps, type Step, stops } from './steps.ts';

/** Where undo and redo have come to. */
export interface Position {
  readonly snapshot: Snapshot;
  /** Counted from 1, the oldest. */
  readonly step: number;
  readonly of: number;
  /** The prompts of the turns that an undo has taken back, or a redo brought back, in this order. */
  readonly turns: readonly string[];
  /** Of this one a redo has brought back only a part, and no redo leads to the rest. */
  readonly cut: TurnSteps | undefined;
  /** What a person had restored, and an undo has taken back with them, or a redo brought back. */
  readonly restores: readonly Snapshot[];
  /** The steps that an undo has taken back, or a redo brought back, oldest first. */
  readonly steps: readonly Snapshot[];
  /** No agent made them. */
  readonly isOfOthers: boolean;
  /** No undo as far as the redo goes to where it began: in the midst of a turn, or more steps back, after an undo to green. */
  readonly isFromWithin: boolean;
  /** Nothing has changed, and a warning says what stays. */
  readonly isEmpty?: boolean;
  /** Those of other turns that were at work meanwhile. */
  readonly others: readonly string[];
}

/** After a move to the snapshot `wanted`, or if `isToCome`, as it will be then. */
export async function readPosition(
  session: Session,
  by: 'undo' | 'redo',
  { unit, count }: Distance,
  wanted: Snapshot,
  isToCome = false,
): Promise<Position> {
  const { history, steps, isOthers, ...at } = await readSteps(session);
  const [cameFrom, current] = isToCome
    ? [at.current, steps.findIndex(({ commits }) => commits.includes(wanted.commit))]
    : [at.cameFrom, at.current];
  const stopping = stops(steps, unit, isOthers);
  const isPassed = (i: number) => (by === 'undo' ? i >= current : i < current);
  const all = [...steps.entries()].filter(([i, step]) => isPassed(i) && stopping.has(step));
  // Those that the undo has taken back, whatever it has passed over.
  const since = by === 'undo' ? all : all.filter(([i]) => i >= cameFrom);
  const moved = steps
    .slice(Math.min(current, cameFrom) + 1, Math.max(current, cameFrom) + 1)
    .map(({ first }) => first);
  const isOfOthers = moved.length > 0 && isOthers(moved);
  const begins = since.length >= count || isOfOthers ? since : all.slice(-count);
  const passed = by === 'undo' ? begins.slice(0, count).reverse() : begins.slice(0, count);
  const restoreAfter = (i: number) => (steps[i + 1]?.isRestore === true ? steps[i + 1]?.first : undefined);
  const turns = passed.flatMap(([i, { prompt }]) => (restoreAfter(i) ? [] : (prompt ?? [])));
  const first = begins[0]?.[0] ?? current;
  const last = by === 'undo' ? (begins[count]?.[0] ?? steps.length) : current;
  const passedCommits = new Set(steps.slice(first + 1, last + 1).flatMap(({ commits }) => commits));
  const ofAgents = authorsOf(history.toReversed(), isAttached(session.record)).turns.toReversed();
  const moving = ofAgents.filter(({ steps: own }) => own.some(({ commit }) => passedCommits.has(commit)));
  const others = moving.flatMap(({ prompt = '' }) => (prompt && !turns.includes(prompt) ? prompt : []));
  const endOf = ({ steps: own }: TurnSteps) =>
    steps.findIndex(({ commits }) => commits.includes(own.at(-1)?.commit ?? ''));
  const isPart = (turn: TurnSteps) => endOf(turn) < 0 || endOf(turn) > current;
  const redone = by === 'redo' ? moving.filter(({ prompt = '' }) => turns.includes(prompt)) : [];
  return {
    snapshot: steps[current]?.snapshot ?? wanted,
    step: Math.max(0, current - at.zero),
    of: steps.length - 1 - at.zero,
    turns: unit === 'turn' && !redone.some(isPart) ? turns : [],
    cut: unit === 'turn' ? redone.find((turn) => endOf(turn) < 0) : undefined,
    restores: passed.flatMap(([i]) => restoreAfter(i) ?? []),
    steps: moved,
    isOfOthers,
    isFromWithin:
      by === 'redo' &&
      cameFrom >= 0 &&
      (!stopping.has(steps[cameFrom] as Step) || (unit === 'step' && moved.length > count)),
    others,
  };
}
