/**
 * Glob words for git's two ways to match a ref. wildmatch matches the whole name, and `*` crosses slashes (branch, tag,
 * rev-list --exclude). for-each-ref matches path by path, and a word without a wildcard is a directory.
 *
 * Some commands take no negative patterns. They get words that together match every name *outside* the hidden
 * prefixes. The number of words depends on the length of the prefixes (about 25), not on the number of refs; a list of
 * the visible names would cost git refs × names comparisons.
 *
 * Limit: git matches bytes, and an argument cannot hold half a character. So prefixes must be ASCII (areAscii).
 */

/** A glob that matches `text` alone. */
export function escapeGlob(text: string): string {
  return text.replace(/[*?[\]\\]/g, '\\$&');
}

export function areAscii(prefixes: readonly string[]): boolean {
  return prefixes.every((prefix) => /^[\x20-\x7e]*$/.test(prefix));
}

/** Words for every name that starts with none of `prefixes`; `*` crosses slashes. */
export function globsOutside(prefixes: readonly string[]): string[] {
  const words: string[] = [];
  for (const [stem, next] of branchings(prefixes)) {
    if (stem !== '') words.push(escapeGlob(stem));
    words.push(`${escapeGlob(stem)}${noneOf(next)}*`);
  }
  return words;
}

/**
 * The same, path by path, for names below the directory `base` (with its slash). A word without a wildcard is a
 * directory there, so a stem with a hidden prefix directly below gets none: no ref can have the name of that directory.
 */
export function pathGlobsOutside(prefixes: readonly string[], base: string): string[] {
  const words: string[] = [];
  for (const [stem, next] of branchings(prefixes)) {
    if (stem.length < base.length || !stem.startsWith(base)) continue;
    if (!stem.endsWith('/') && !next.has('/')) words.push(escapeGlob(stem));
    const others = new Set([...next].filter((char) => char !== '/'));
    const set = others.size === 0 ? '?' : noneOf(others);
    words.push(`${escapeGlob(stem)}${set}*`, `${escapeGlob(stem)}${set}*/**`);
  }
  return words;
}

/** Words for every name that starts with `prefix`, except `kept` itself; `*` crosses slashes. */
export function globsExcept(kept: string, prefix: string): string[] {
  const words: string[] = [];
  for (let length = prefix.length; length < kept.length; length++) {
    const stem = kept.slice(0, length);
    if (length > prefix.length) words.push(escapeGlob(stem));
    words.push(`${escapeGlob(stem)}${noneOf(new Set(kept[length] as string))}*`);
  }
  return [...words, `${escapeGlob(kept)}?*`];
}

/** Every stem after which a name can differ from all prefixes, with the next characters that do not differ. */
function branchings(prefixes: readonly string[]): Map<string, Set<string>> {
  const stems = new Map<string, Set<string>>();
  const shortest = prefixes.filter((prefix) => !prefixes.some((o) => o !== prefix && prefix.startsWith(o)));
  for (const prefix of shortest) {
    for (let length = 0; length < prefix.length; length++) {
      const stem = prefix.slice(0, length);
      const next = stems.get(stem) ?? new Set();
      stems.set(stem, next.add(prefix[length] as string));
    }
  }
  return stems;
}

function noneOf(chars: ReadonlySet<string>): string {
  return `[!${[...chars].map((char) => (/[A-Za-z0-9/]/.test(char) ? char : `\\${char}`)).join('')}]`;
}
