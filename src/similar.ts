/** "Did you mean": the known words that a person may have meant. */

/** Words for the same thing, from git, other tools and everyday speech. */
const MEANINGS = Object.entries({
  status: 'st stat info',
  list: 'ls dir sessions',
  new: 'start create begin add make',
  remove: 'rm delete del kill destroy',
  accept: 'done finish land merge apply close end stop',
  reject: 'discard drop abandon close end stop',
  snapshot: 'save capture checkpoint',
  undo: 'rollback rewind back',
  log: 'history snapshots',
  path: 'switch checkout enter',
  export: 'publish push pr',
  fork: 'rename copy duplicate',
  ui: 'page web browser',
}).map(([name, words]) => ({ name, words: words.split(' ') }));

/** Most similar first, at most three. A word of its beginning counts, too: `rem` for `remove`. */
export function similar(word: string, known: Iterable<string>): string[] {
  const names = new Set(known);
  if (names.has(word)) return [word];
  const meant = MEANINGS.filter(({ name, words }) => words.includes(word) && names.has(name));
  if (meant.length > 0) return meant.map(({ name }) => name);
  const limit = Math.max(1, Math.floor(word.length / 3));
  const scored = [...names].map((name) => ({ name, score: distance(word, name) }));
  const near = scored.filter(
    ({ name, score }) => score <= limit || (word.length >= 3 && name.startsWith(word)),
  );
  return near
    .toSorted((a, b) => a.score - b.score)
    .slice(0, MOST)
    .map(({ name }) => name);
}

const MOST = 3;

/** Letters that are inserted, deleted, replaced, or swapped with their neighbour. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const at = (up: number, left: number) => rows[i - up]?.[j - left] ?? Number.POSITIVE_INFINITY;
      const replaced = at(1, 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(at(1, 0) + 1, (row[j - 1] ?? 0) + 1, replaced, isSwap ? at(2, 2) + 1 : Infinity);
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}

/** A hint for an error; none if nothing is similar. */
export function didYouMean(word: string, known: Iterable<string>, prefix = ''): string[] {
  const found = similar(word, known);
  return found.length === 0 ? [] : [`did you mean: ${found.map((name) => prefix + name).join(', ')}?`];
}
