/**
 * Glob words for git's two ways to match a ref: wildmatch over the whole name, where `*` crosses slashes (branch, tag,
 * rev-list --exclude), and path by path, where a word without a wildcard is a directory (for-each-ref).
 *
 * Commands that take only positive patterns get the *complement*: words that together match every name outside the
 * hidden prefixes. Their number depends on the length of the prefixes (about 25), not on how many refs there are; a
 * list of the visible names would cost git refs × names comparisons.
 *
 * Limit: git matches bytes, and half a character cannot be written in an argument, so a prefix must be ASCII where
 * its complement is wanted (canComplement).
 */

/** `text` so that a glob matches it alone. */
export function escapeGlob(text: string): string {
  return text.replace(/[*?[\]\\]/g, '\\$&');
}

export function canComplement(prefixes: readonly string[]): boolean {
  return prefixes.every((prefix) => /^[\x20-\x7e]*$/.test(prefix));
}

/** Words for every name that starts with none of `prefixes`; `*` crosses slashes. */
export function complement(prefixes: readonly string[]): string[] {
  const words: string[] = [];
  for (const [stem, next] of branchings(prefixes)) {
    if (stem !== '') words.push(escapeGlob(stem));
    words.push(`${escapeGlob(stem)}${noneOf(next)}*`);
  }
  return words;
}

/**
 * The same, path by path, for names below the directory `base` (with its slash). A literal is a directory there, so
 * none is written for a stem that has a hidden prefix directly below; no such ref can exist beside that directory.
 */
export function complementPaths(prefixes: readonly string[], base: string): string[] {
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
export function allBut(kept: string, prefix: string): string[] {
  const words: string[] = [];
  for (let length = prefix.length; length < kept.length; length++) {
    const stem = kept.slice(0, length);
    if (length > prefix.length) words.push(escapeGlob(stem));
    words.push(`${escapeGlob(stem)}${noneOf(new Set(kept[length] as string))}*`);
  }
  return [...words, `${escapeGlob(kept)}?*`];
}

/** For each place where a name can leave all the prefixes: the stem so far, and the characters that stay with them. */
function branchings(prefixes: readonly string[]): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  const shortest = prefixes.filter((prefix) => !prefixes.some((o) => o !== prefix && prefix.startsWith(o)));
  for (const prefix of shortest) {
    for (let length = 0; length < prefix.length; length++) {
      const stem = prefix.slice(0, length);
      const next = places.get(stem) ?? new Set();
      places.set(stem, next.add(prefix[length] as string));
    }
  }
  return places;
}

function noneOf(chars: ReadonlySet<string>): string {
  return `[!${[...chars].map((char) => (/[A-Za-z0-9/]/.test(char) ? char : `\\${char}`)).join('')}]`;
}
