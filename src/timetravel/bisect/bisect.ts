/** Finds where something begins to fail, as git bisect does, with several probes at once. Pure, apart from the probes. */

export type Verdict = 'good' | 'bad' | 'skip';

/** By index in the history, oldest first. A probe whose answer no longer matters is cancelled. */
export type Probe = (index: number, cancel: AbortSignal) => Promise<Verdict>;

/** Between the two are only those that could not be tested. */
export interface Border {
  readonly good: number;
  readonly bad: number;
}

/** @throws the first error of a probe, after all others have ended */
export async function bisect(known: Border, jobs: number, probe: Probe): Promise<Border> {
  let { good, bad } = known;
  const skipped = new Set<number>();
  const errors: unknown[] = [];
  const wanted = new Map<number, AbortController>();
  /** With those that are cancelled and have not ended yet: they, too, need a processor and room. */
  const running = new Set<Promise<unknown>>();
  const cancelOthers = () => {
    for (const [index, controller] of wanted) {
      if (index > good && index < bad) continue;
      wanted.delete(index);
      controller.abort();
    }
  };
  const start = (index: number) => {
    const controller = new AbortController();
    wanted.set(index, controller);
    const end = probe(index, controller.signal)
      .then((verdict) => {
        if (!wanted.delete(index)) return;
        if (verdict === 'good') good = index;
        else if (verdict === 'bad') bad = index;
        else skipped.add(index);
      })
      .catch((error: unknown) => void (wanted.delete(index) && errors.push(error)))
      .finally(() => running.delete(end));
    running.add(end);
  };
  try {
    for (;;) {
      cancelOthers();
      let next = middle({ good, bad }, skipped, wanted.keys());
      if (next === undefined && wanted.size === 0) return { good, bad };
      for (; next !== undefined && running.size < jobs; next = middle({ good, bad }, skipped, wanted.keys()))
        start(next);
      await Promise.race(running);
      if (errors.length > 0) throw errors[0];
    }
  } finally {
    for (const controller of wanted.values()) controller.abort();
    await Promise.allSettled(running);
  }
}

/** @throws the first error, after all others have ended */
export async function probeAll(indices: readonly number[], jobs: number, probe: Probe): Promise<Verdict[]> {
  const { signal } = new AbortController();
  const verdicts: Verdict[] = [];
  for (let i = 0; i < indices.length; i += jobs) {
    const some = indices.slice(i, i + jobs).map((index) => probe(index, signal));
    await Promise.allSettled(some);
    verdicts.push(...(await Promise.all(some)));
  }
  return verdicts;
}

/** Neighbours of one that cannot be tested are often like it, so the next one is far from them. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The middle of the widest gap between those that are known or being probed. */
function middle(
  { good, bad }: Border,
  skipped: ReadonlySet<number>,
  running: Iterable<number>,
): number | undefined {
  const bounds = [good, ...[...running].sort((a, b) => a - b), bad];
  const gaps = bounds.slice(1).map((end, i) => {
    const start = (bounds[i] ?? 0) + 1;
    return Array.from({ length: end - start }, (_, n) => start + n).filter((index) => !skipped.has(index));
  });
  const widest = gaps.reduce((a, b) => (b.length > a.length ? b : a), []);
  return widest[Math.floor(widest.length * ((1 / 2 + GOLDEN * skipped.size) % 1))];
}

/** The newest one that is good below `bad`, as far as bisecting tells; undefined if none is. Steps back get longer. */
export async function newestGood(bad: number, jobs: number, probe: Probe): Promise<Border | undefined> {
  const far = new Set<number>();
  for (let back = 1; back <= bad; back *= 2) far.add(bad - back);
  const others = Array.from({ length: bad }, (_, n) => bad - 1 - n).filter((index) => !far.has(index));
  const order = [...far, ...others];
  const failing = [bad];
  for (let i = 0; i < order.length; i += jobs) {
    const some = order.slice(i, i + jobs);
    const verdicts = await probeAll(some, jobs, probe);
    const good = some.find((_, n) => verdicts[n] === 'good');
    failing.push(...some.filter((_, n) => verdicts[n] === 'bad'));
    if (good !== undefined)
      return bisect({ good, bad: Math.min(...failing.filter((index) => index > good)) }, jobs, probe);
  }
  return undefined;
}
