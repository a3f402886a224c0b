/** Words of a command line that a person types, or a shell reads. */

/** Quotes a word so that a POSIX shell reads it as one word. */
export function shellQuote(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./^-]+$/.test(word) ? word : singleQuoted(word);
}

/** The same, with quotes around every word. */
export function singleQuoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
