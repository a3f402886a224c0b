/** What the rules share about words: how many fit, and the pattern that matches nothing. */

/** No ref can match it: git-check-ref-format(1) forbids the character. */
export const NOTHING = '^';

/**
 * Bytes of arguments that a rewrite may add. Linux gives arguments and environment a quarter of the stack limit,
 * 2 MiB by default; macOS 1 MiB.
 */
const LARGEST = 400_000;

export function fits(words: readonly string[]): boolean {
  return words.reduce((sum, word) => sum + Buffer.byteLength(word) + 9, 0) <= LARGEST;
}
