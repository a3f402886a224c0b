import { describe, expect, test } from 'vitest';
import { parsePeriod } from '../../../src/config/values.ts';
import {
  keptOfFolder,
  keptWhenEnded,
  keptWhenThinned,
} from '../../../src/maintenance/retention/keep-policy.ts';
import type { ToolCall } from '../../../src/snapshot/history.ts';

const DAY = 86_400;
/** Noon, UTC. */
const NOW = 20_000 * DAY + DAY / 2;

function snapshot(
  commit: string,
  age: number,
  marks: { label?: string; restored?: string; agent?: string; call?: ToolCall } = {},
) {
  const { label, restored, agent, call } = marks;
  return { commit, time: new Date((NOW - age) * 1000), label, restored, agent, call };
}

describe('agt gc keeps', () => {
  test('all of the last day, the last of each hour of the last week, the last of each earlier day', () => {
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
      .map(({ commit }) => commit)
      .filter((commit) => !keptWhenThinned(snapshots, NOW).has(commit));
    expect(dropped).toEqual(['hour a, earlier', 'day a, earlier']);
  });

  test('labelled snapshots, and restores with the snapshots that they brought back and replaced', () => {
    const snapshots = [
      snapshot('tip', 9 * DAY),
      snapshot('restores', 9 * DAY + 1, { restored: 'source' }),
      snapshot('replaced', 9 * DAY + 1),
      snapshot('between', 9 * DAY + 2),
      snapshot('labelled', 9 * DAY + 3, { label: 'tests pass' }),
      snapshot('source', 9 * DAY + 4),
      snapshot('gone', 9 * DAY + 5),
      snapshot('first', 9 * DAY + 6),
    ];
    const dropped = snapshots
      .map(({ commit }) => commit)
      .filter((commit) => !keptWhenThinned(snapshots, NOW).has(commit));
    expect(dropped).toEqual(['between', 'gone']);
  });

  test('calls that failed, with the snapshot before: an acceptance leaves out what they changed', () => {
    const failed = { call: { outcome: 'failed' } } as const;
    const snapshots = [
      snapshot('tip', 9 * DAY),
      snapshot('later', 9 * DAY + 1),
      snapshot('failed', 9 * DAY + 2, failed),
      snapshot('before it', 9 * DAY + 3),
      snapshot('gone', 9 * DAY + 4),
      snapshot('first', 9 * DAY + 5),
    ];
    const dropped = snapshots
      .map(({ commit }) => commit)
      .filter((commit) => !keptWhenThinned(snapshots, NOW).has(commit));
    expect(dropped).toEqual(['later', 'gone']);
  });

  test('the end of each turn: otherwise its changes would be of the next prompt', () => {
    const by = (commit: string, age: number, conversation: string, marks: object = {}) => ({
      ...snapshot(commit, 9 * DAY + age),
      conversation,
      ...marks,
    });
    const call = { tool: 'Edit' };
    const snapshots = [
      snapshot('tip', 9 * DAY),
      by('second, last call', 1, 'c1', call),
      by('second, before a call', 2, 'c1'),
      by('prompt', 3, 'c1', { label: 'prompt: second' }),
      by('first, last call', 4, 'c1', call),
      by('first, earlier call', 5, 'c1', call),
      by('beside it', 6, '', { during: ['claude-code.c2'] }),
      snapshot('of a person', 9 * DAY + 7),
      snapshot('earlier, of a person', 9 * DAY + 8),
      snapshot('first', 9 * DAY + 9),
    ];
    const dropped = snapshots
      .map(({ commit }) => commit)
      .filter((commit) => !keptWhenThinned(snapshots, NOW).has(commit));
    expect(dropped).toEqual(['first, earlier call', 'earlier, of a person']);
  });

  test('of a folder the last days, the newest snapshot, and labels of a person but none of an agent', () => {
    const old = [
      snapshot('newest', 8 * DAY),
      snapshot('mine', 9 * DAY, { label: 'before the clean-up' }),
      snapshot('prompt', 10 * DAY, { label: 'fix the login', agent: 'pi' }),
      snapshot('guard', 11 * DAY, { label: 'before git reset --hard' }),
      snapshot('plain', 12 * DAY),
    ];
    expect([...keptOfFolder(old, NOW, 7 * DAY)]).toEqual(['newest', 'mine']);
    const young = [snapshot('today', 60), snapshot('last week', 6 * DAY), ...old];
    expect([...keptOfFolder(young, NOW, 7 * DAY)].sort()).toEqual(['last week', 'mine', 'today']);
    expect(keptOfFolder(young, NOW, Number.POSITIVE_INFINITY).size).toBe(young.length);
    expect(keptOfFolder([], NOW, DAY).size).toBe(0);
  });

  test('everything in a second run at the same time, and snapshots from the future', () => {
    const snapshots = Array.from({ length: 2000 }, (_, i) => snapshot(`${i}`, i * 600 - 3600));
    const kept = keptWhenThinned(snapshots, NOW);
    expect(kept.size).toBeLessThan(400);
    expect(kept.has('0')).toBe(true);
    const again = keptWhenThinned(
      snapshots.filter(({ commit }) => kept.has(commit)),
      NOW,
    );
    expect(again).toEqual(kept);
  });

  test('only the snapshots that a person labelled, for a session that ended', () => {
    const snapshots = [
      snapshot('a', 1, { label: 'before remove' }),
      snapshot('restore', 1, { label: 'restore of a', restored: 'a' }),
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
  ['5 minutes', 300],
  ['', undefined],
])('agt.retention %j is %s seconds', (text, seconds) => {
  expect(parsePeriod(text)).toBe(seconds);
});
