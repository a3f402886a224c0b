import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/snapshot/history.ts';
import { replayHistory } from '../../../src/timetravel/restore/steps.ts';

/**
 * `a` is an autocommit; `b<undo a` is the snapshot b that an undo to a made; `c=` has the same files as the one before;
 * `d!` was made in the middle of a restore; `e=accept` by an accept;
 * `f<undo start` by an undo to the start.
 */
function snapshot(text: string): Snapshot {
  const [, commit = '', mark, accept, by, restored] =
    /^(\w+)([=!])?(accept)?(?:<(\w+) (\w+))?$/.exec(text) ?? [];
  const unfinished = mark === '!' ? 'a' : undefined;
  return {
    commit,
    restored,
    restoredBy: by,
    unfinished,
    label: accept ? 'before accept' : restored === 'start' ? 'the start' : mark,
  } as unknown as Snapshot;
}

const isSame = async (_: Snapshot, { label }: Snapshot) => label === '=' || label === 'before accept';

describe('the current step is in brackets after', () => {
  test.each([
    ['autocommits', ['a', 'b', 'c'], 'a b [c]'],
    ['an undo', ['a', 'b', 'c<undo a'], '[a] b'],
    ['two undos in a row', ['a', 'b', 'c', 'd<undo b', 'e<undo a'], '[a] b c'],
    ['an undo and a redo', ['a', 'b', 'c<undo a', 'd<redo b'], 'a [b]'],
    ['an autocommit after an undo, which drops the steps ahead', ['a', 'b', 'c<undo a', 'd'], 'a [d]'],
    ['a restore, which is a step', ['a', 'b', 'c', 'd<restore a'], 'a b c [d]'],
    ['a restore and an undo', ['a', 'b', 'c', 'd<restore a', 'e<undo c'], 'a b [c] d'],
    ['an undo that skips an equal snapshot', ['a', 'b', 'c', 'd<undo a'], '[a] b c'],
    ['an undo to a snapshot that is not a step, which is a new step', ['a', 'b<undo x'], 'a [b]'],
    ['a label after an undo', ['a', 'b', 'c<undo a', 'd='], '[d] b'],
    ['labels and a redo after an undo', ['a', 'b', 'c<undo a', 'd=', 'e=', 'f<redo b'], 'e [b]'],
    ['an undo to the start, and a label', ['a', 'b', 'c<undo start', 'd='], 'a b'],
    ['an undo to the start, and redos', ['a', 'b', 'c<undo start', 'd<redo a', 'e<redo b'], 'a [b]'],
    ['an undo to the start, and an autocommit', ['a', 'b', 'c<undo start', 'd'], '[d]'],
    ['a label after an undo, and an autocommit', ['a', 'b', 'c<undo a', 'd=', 'e'], 'd [e]'],
    ['labels at the end, which name the step', ['a', 'b', 'c=', 'd='], 'a [d]'],
    ['an undo to one snapshot of a step', ['a', 'b', 'c=', 'd', 'e<undo b', 'f<redo d'], 'a c [d]'],
    ['a restore that changed nothing', ['a', 'b', 'c=<restore b'], 'a [c]'],
    ['a label after half a restore', ['a', 'b', 'c<undo a', 'd!', 'e='], 'a [e]'],
    ['an accept after an undo, which drops the steps ahead', ['a', 'b', 'c<undo a', 'd=accept'], '[d]'],
    ['an accept, an undo and a redo', ['a', 'b', 'c=accept', 'd<undo a', 'e<redo b'], 'a [c]'],
    ['no snapshot', [], ''],
  ])('%s', async (_, history, expected) => {
    const { steps, current } = await replayHistory(history.map(snapshot).reverse(), isSame);
    expect(
      steps.map(({ snapshot: { commit } }, i) => (i === current ? `[${commit}]` : commit)).join(' '),
    ).toBe(expected);
  });
});
