/** Bisecting answers as a scan of all snapshots does, however many probes run at once. */
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bisect, newestGood, type Probe, type Verdict } from '../../../src/timetravel/bisect/bisect.ts';

/** A probe that takes a random time, and what it was asked. */
function probing(verdicts: readonly Verdict[], delays: readonly number[]) {
  const asked: number[] = [];
  let running = 0;
  const seen = { asked, atOnce: 0 };
  const probe: Probe = async (index, cancel) => {
    asked.push(index);
    running += 1;
    seen.atOnce = Math.max(seen.atOnce, running);
    for (let i = delays[index % delays.length] ?? 0; i >= 0 && !cancel.aborted; i--) await setImmediate();
    running -= 1;
    return cancel.aborted ? 'bad' : (verdicts[index] as Verdict);
  };
  return { seen, probe };
}

const jobs = fc.integer({ min: 1, max: 5 });
const delays = fc.array(fc.nat(8), { minLength: 1, maxLength: 7 });

/** Good until somewhere, then bad; some cannot be tested. The first is good and the last is bad. */
const histories = fc
  .record({ good: fc.nat(40), bad: fc.nat(40), skips: fc.array(fc.nat(80), { maxLength: 30 }) })
  .map(({ good, bad, skips }) => {
    const all: Verdict[] = [...Array(good + 1).fill('good'), ...Array(bad + 1).fill('bad')];
    for (const index of skips) if (index > 0 && index < all.length - 1) all[index] = 'skip';
    return all;
  });

describe('bisect', () => {
  test('equals a scan, and asks for nothing twice', async () => {
    await fc.assert(
      fc.asyncProperty(histories, jobs, delays, async (verdicts, most, times) => {
        const { seen, probe } = probing(verdicts, times);
        const found = await bisect({ good: 0, bad: verdicts.length - 1 }, most, probe);
        expect(found).toEqual({ good: verdicts.lastIndexOf('good'), bad: verdicts.indexOf('bad') });
        expect(new Set(seen.asked).size).toBe(seen.asked.length);
        expect(seen.atOnce).toBeLessThanOrEqual(most);
        if (most === 1 && !verdicts.includes('skip'))
          expect(seen.asked.length).toBeLessThanOrEqual(Math.ceil(Math.log2(verdicts.length)));
      }),
    );
  });

  test('an error ends all other probes first', async () => {
    let ended = 0;
    const probe: Probe = async (index, cancel) => {
      if (index === 2) throw new Error('stop');
      while (!cancel.aborted) await setImmediate();
      ended += 1;
      return 'good';
    };
    await expect(bisect({ good: 0, bad: 9 }, 4, probe)).rejects.toThrow('stop');
    expect(ended).toBe(3);
  });
});

test('several errors at once', async () => {
  const probe: Probe = async (index) => {
    if (index === 5) return 'good';
    throw new Error('stop');
  };
  await expect(bisect({ good: 0, bad: 9 }, 4, probe)).rejects.toThrow('stop');
});

describe('newestGood', () => {
  test('finds one that is good before one that is not, if there is any', async () => {
    const verdict = fc.constantFrom<Verdict>('good', 'bad', 'skip');
    await fc.assert(
      fc.asyncProperty(fc.array(verdict, { maxLength: 40 }), jobs, delays, async (before, most, times) => {
        const verdicts: Verdict[] = [...before, 'bad'];
        const { probe } = probing(verdicts, times);
        const found = await newestGood(verdicts.length - 1, most, probe);
        expect(found === undefined).toBe(!verdicts.includes('good'));
        if (found === undefined) return;
        expect([verdicts[found.good], verdicts[found.bad]]).toEqual(['good', 'bad']);
        expect(verdicts.slice(found.good + 1, found.bad).every((one) => one === 'skip')).toBe(true);
      }),
    );
  });

  test('finds the newest one if they are good until somewhere, with few probes', async () => {
    const verdicts: Verdict[] = [...Array(1000).fill('good'), ...Array(20).fill('bad')];
    const { seen, probe } = probing(verdicts, [0]);
    expect(await newestGood(1019, 1, probe)).toEqual({ good: 999, bad: 1000 });
    expect(seen.asked.length).toBeLessThan(12);
  });
});
