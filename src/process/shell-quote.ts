/** Words of a command line that a person types, or a shell reads. */

/** Quotes a word so that a POSIX shell reads it as one word. */
export function shellQuote(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./^-]+$/.test(word) ? word : singleQuoted(word);
}

/** The same for a path that git takes for a pattern in some names. */
export function quotedPathspec(path: string): string {
  return shellQuote(/[*?[\\]|^:/.test(path) ? `:(literal)${path}` : path);
}

/** The same as the first, with quotes around every word. */
export function singleQuoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
