import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/snapshot/history.ts';
import { replayHistory } from '../../../src/timetravel/restore/undo.ts';

/** `a` is an autocommit; `b<undo a` is the snapshot b that an undo to a made. */
function snapshot(text: string): Snapshot {
  const [, commit = '', by, restored] = /^(\w+)(?:<(\w+) (\w+))?$/.exec(text) ?? [];
  return { commit, restored, restoredBy: by } as unknown as Snapshot;
}

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
    ['no snapshot', [], ''],
  ])('%s', (_, history, expected) => {
    const { steps, current } = replayHistory(history.map(snapshot).reverse());
    expect(steps.map(({ commit }, i) => (i === current ? `[${commit}]` : commit)).join(' ')).toBe(expected);
  });
});
