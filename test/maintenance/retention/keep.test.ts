import { describe, expect, test } from 'vitest';
import { parseRetention } from '../../../src/config/values.ts';
import { keptWhenEnded, keptWhenThinned } from '../../../src/maintenance/retention/keep.ts';

const DAY = 86_400;
/** Noon, UTC. */
const NOW = 20_000 * DAY + DAY / 2;

function snapshot(oid: string, age: number, marks: { label?: string; restored?: string } = {}) {
  return { oid, at: NOW - age, label: marks.label, restored: marks.restored };
}

describe('which snapshots stay when a history is thinned', () => {
  test('all of the last day, the last of each hour of a week, the last of each day before', () => {
    const snapshots = [
      snapshot('tip', 60),
      snapshot('today', DAY - 1),
      snapshot('hour a', 2 * DAY + 60),
      snapshot('hour a, earlier', 2 * DAY + 120),
      snapshot('hour b', 2 * DAY + 3600 + 60),
      snapshot('day a', 9 * DAY),
      snapshot('day a, earlier', 9 * DAY + 7200),
      snapshot('day b', 10 * DAY),
      snapshot('day c', 11 * DAY),
      snapshot('day c, first of all', 11 * DAY + 60),
    ];
    const dropped = snapshots
      .map(({ oid }) => oid)
      .filter((oid) => !keptWhenThinned(snapshots, NOW).has(oid));
    expect(dropped).toEqual(['hour a, earlier', 'day a, earlier']);
  });

  test('whatever has a label; a restore, what it brought back and what it replaced', () => {
    const snapshots = [
      snapshot('tip', 9 * DAY),
      snapshot('restoring', 9 * DAY + 1, { restored: 'source' }),
      snapshot('replaced', 9 * DAY + 1),
      snapshot('between', 9 * DAY + 2),
      snapshot('labelled', 9 * DAY + 3, { label: 'tests pass' }),
      snapshot('source', 9 * DAY + 4),
      snapshot('gone', 9 * DAY + 5),
      snapshot('first', 9 * DAY + 6),
    ];
    const dropped = snapshots
      .map(({ oid }) => oid)
      .filter((oid) => !keptWhenThinned(snapshots, NOW).has(oid));
    expect(dropped).toEqual(['between', 'gone']);
  });

  test('thinning what was thinned takes nothing at the same time, and a snapshot of the future stays', () => {
    const snapshots = Array.from({ length: 2000 }, (_, i) => snapshot(`${i}`, i * 600 - 3600));
    const kept = keptWhenThinned(snapshots, NOW);
    expect(kept.size).toBeLessThan(400);
    expect(kept.has('0')).toBe(true);
    const again = keptWhenThinned(
      snapshots.filter(({ oid }) => kept.has(oid)),
      NOW,
    );
    expect(again).toEqual(kept);
  });

  test('of an ended session only what a person has labelled', () => {
    const snapshots = [
      snapshot('a', 1, { label: 'before remove' }),
      snapshot('b', 2, { label: 'before remove of old files' }),
      snapshot('c', 3, { label: 'before fork to s2' }),
      snapshot('guard', 3, { label: 'before git reset --hard' }),
      snapshot('d', 4, { restored: 'c' }),
      snapshot('e', 5),
    ];
    expect([...keptWhenEnded(snapshots)]).toEqual(['b']);
  });
});

test.each([
  ['30 days', 30 * DAY],
  ['30d', 30 * DAY],
  ['2.weeks.ago', 14 * DAY],
  ['1 month', 30 * DAY],
  ['12h', DAY / 2],
  ['0d', 0],
  ['Never', Number.POSITIVE_INFINITY],
  ['soon', undefined],
  ['30', undefined],
  ['5 minutes', undefined],
  ['', undefined],
])('agt.retention %j is %s seconds', (text, seconds) => {
  expect(parseRetention(text)).toBe(seconds);
});
