/** A seeded source of random choices: the same seed gives the same life. */

export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 to 1, without 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('nothing to pick from');
    return from[this.below(from.length)] as T;
  }

  /** Some of the elements, at least one, in their order. */
  some<T>(from: readonly T[], most: number): T[] {
    const wanted = 1 + this.below(Math.min(most, from.length));
    const chosen = new Set<T>();
    while (chosen.size < wanted) chosen.add(this.pick(from));
    return from.filter((element) => chosen.has(element));
  }

  weighted<T extends { readonly weight?: number }>(from: readonly T[]): T {
    const total = from.reduce((sum, { weight = 1 }) => sum + weight, 0);
    let left = this.next() * total;
    for (const element of from) {
      left -= element.weight ?? 1;
      if (left < 0) return element;
    }
    return from.at(-1) as T;
  }
}
