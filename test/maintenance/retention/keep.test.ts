import { describe, expect, test } from 'vitest';
import { parseRetention } from '../../../src/config/keys.ts';
import { keptWhenEnded, keptWhenThinned } from '../../../src/maintenance/retention/keep.ts';

const DAY = 86_400;
/** Noon, UTC. */
const NOW = 20_000 * DAY + DAY / 2;

function moment(oid: string, age: number, marks: { label?: string; restored?: string } = {}) {
  return { oid, at: NOW - age, label: marks.label, restored: marks.restored };
}

describe('which moments stay when a history is thinned', () => {
  test('all of the last day, the last of each hour of a week, the last of each day before', () => {
    const moments = [
      moment('tip', 60),
      moment('today', DAY - 1),
      moment('hour a', 2 * DAY + 60),
      moment('hour a, earlier', 2 * DAY + 120),
      moment('hour b', 2 * DAY + 3600 + 60),
      moment('day a', 9 * DAY),
      moment('day a, earlier', 9 * DAY + 7200),
      moment('day b', 10 * DAY),
      moment('day c', 11 * DAY),
      moment('day c, first of all', 11 * DAY + 60),
    ];
    const dropped = moments.map(({ oid }) => oid).filter((oid) => !keptWhenThinned(moments, NOW).has(oid));
    expect(dropped).toEqual(['hour a, earlier', 'day a, earlier']);
  });

  test('whatever has a label; a restore, what it brought back and what it replaced', () => {
    const moments = [
      moment('tip', 9 * DAY),
      moment('restoring', 9 * DAY + 1, { restored: 'source' }),
      moment('replaced', 9 * DAY + 1),
      moment('between', 9 * DAY + 2),
      moment('labelled', 9 * DAY + 3, { label: 'tests pass' }),
      moment('source', 9 * DAY + 4),
      moment('gone', 9 * DAY + 5),
      moment('first', 9 * DAY + 6),
    ];
    const dropped = moments.map(({ oid }) => oid).filter((oid) => !keptWhenThinned(moments, NOW).has(oid));
    expect(dropped).toEqual(['between', 'gone']);
  });

  test('thinning what was thinned takes nothing at the same time, and a moment of the future stays', () => {
    const moments = Array.from({ length: 2000 }, (_, i) => moment(`${i}`, i * 600 - 3600));
    const kept = keptWhenThinned(moments, NOW);
    expect(kept.size).toBeLessThan(400);
    expect(kept.has('0')).toBe(true);
    const again = keptWhenThinned(
      moments.filter(({ oid }) => kept.has(oid)),
      NOW,
    );
    expect(again).toEqual(kept);
  });

  test('of an ended session only what a person has labelled', () => {
    const moments = [
      moment('a', 1, { label: 'before remove' }),
      moment('b', 2, { label: 'before remove of old files' }),
      moment('c', 3, { label: 'before fork to s2' }),
      moment('guard', 3, { label: 'before git reset --hard' }),
      moment('d', 4, { restored: 'c' }),
      moment('e', 5),
    ];
    expect([...keptWhenEnded(moments)]).toEqual(['b']);
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
