import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/snapshot/history.ts';
import { replay } from '../../../src/timetravel/restore/undo.ts';

/** `a` is an autocommit; `b<undo a` the snapshot b that an undo to a made. */
function snapshot(text: string): Snapshot {
  const [, commit = '', by, restored] = /^(\w+)(?:<(\w+) (\w+))?$/.exec(text) ?? [];
  return { commit, restored, restoredBy: by } as unknown as Snapshot;
}

describe('the line of steps', () => {
  test.each([
    ['autocommits', ['a', 'b', 'c'], 'a b [c]'],
    ['an undo', ['a', 'b', 'c<undo a'], '[a] b'],
    ['two undos', ['a', 'b', 'c', 'd<undo b', 'e<undo a'], '[a] b c'],
    ['undo and redo', ['a', 'b', 'c<undo a', 'd<redo b'], 'a [b]'],
    ['something new after an undo', ['a', 'b', 'c<undo a', 'd'], 'a [d]'],
    ['a restore is a step', ['a', 'b', 'c', 'd<restore a'], 'a b c [d]'],
    ['and can be undone', ['a', 'b', 'c', 'd<restore a', 'e<undo c'], 'a b [c] d'],
    ['an undo past a state that is the same', ['a', 'b', 'c', 'd<undo a'], '[a] b c'],
    ['an undo to what is no step is a step', ['a', 'b<undo x'], 'a [b]'],
    ['nothing', [], ''],
  ])('%s', (_, history, expected) => {
    const { steps, at } = replay(history.map(snapshot).reverse());
    expect(steps.map(({ commit }, i) => (i === at ? `[${commit}]` : commit)).join(' ')).toBe(expected);
  });
});
