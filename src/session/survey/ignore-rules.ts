/** The patterns of `.gitignore` files, read as gitignore(5) says: the deepest file that says something about a path decides. */
import ignore, { type Ignore } from 'ignore';
import { displayPath } from '../../disk/path-bytes.ts';

export interface Rules {
  readonly matcher: Ignore;
  /** The directory that the patterns are relative to, with a slash at its end; empty at the top. */
  readonly below: string;
}

/** Without `core.ignoreCase`. */
export function matcherOf(text: string): Ignore {
  return ignore({ ignorecase: false, allowRelativePaths: true }).add(text);
}

/** `rules`: the deepest first. Ask about a directory before its entries. */
export function isIgnored(path: string, isDirectory: boolean, rules: readonly Rules[]): boolean {
  for (const { matcher, below } of rules) {
    const name = displayPath(path.slice(below.length)) + (isDirectory ? '/' : '');
    const { ignored, unignored } = matcher.test(name);
    if (ignored || unignored) return ignored;
  }
  return false;
}
