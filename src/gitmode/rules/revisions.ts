/**
 * The words of rev-list and its relatives (log, shortlog, bundle create, …). They take no abbreviations; what matters
 * is which options swallow the next word, where the options end, and which of them stand for a set of refs.
 *
 * Before each set go `--exclude=` words, which git forgets after the next set. `--all` also walks the HEADs of all
 * worktrees, and an agent's commits would come back through its sandbox's HEAD.
 */

import { HEADS, REMOTES, TAGS } from '../../git/files/refnames.ts';
import { hiddenGlobs, type View } from '../view/view.ts';
import type { Rewrite } from './rule.ts';

/** Options of the revision walk whose value may be the next word. */
const VALUE_NEXT = new Set(
  `--max-count --max-count-oldest --skip --max-age --since --since-as-filter --after --min-age --before --until --date
  --author --committer --grep-reflog --grep --encoding --glob --exclude --exclude-hidden --diff-merges --default
  --decorate-refs --decorate-refs-exclude -L -S -G -O -l -I --src-prefix --dst-prefix --line-prefix --output
  --diff-filter --diff-algorithm --anchored --word-diff-regex --find-object --skip-to --rotate-to --inter-hunk-context
  --ws-error-highlight --output-indicator-new --output-indicator-old --output-indicator-context --stat-width
  --stat-name-width --stat-graph-width --stat-count --ignore-matching-lines --color-moved-ws --max-depth`.split(
    /\s+/,
  ),
);

export interface Extras {
  /** More options that swallow the next word. */
  readonly values?: readonly string[];
  /** Options above that swallow nothing here: `-n` is a flag in shortlog. */
  readonly flags?: readonly string[];
}

const NUMBER = { values: ['-n'] };

export interface Revisions {
  /** With excludes before every set of refs. */
  readonly args: readonly string[];
  /** Index in `args` where options end: before `--` or `--end-of-options`, or the end. */
  readonly end: number;
  /** The words that are options, with values given as next words joined by a blank. */
  readonly options: readonly string[];
  /** Anything was put in. */
  readonly changed: boolean;
}

/** What leaves out the agents' commits. */
export interface AuthorFilter {
  /** The words of the walk, the user's patterns translated. */
  readonly args: readonly string[];
  /** Words to follow the options. */
  readonly added: readonly string[];
}

export function readRevisions(words: readonly string[], view: View, extras: Extras = NUMBER): Revisions {
  const args: string[] = [];
  const options: string[] = [];
  let changed = false;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (word === '--' || word === '--end-of-options') {
      return { args: [...args, ...words.slice(i)], end: args.length, options, changed };
    }
    if (!word.startsWith('-')) {
      args.push(word);
      continue;
    }
    const takesNext =
      (VALUE_NEXT.has(word) || extras.values?.includes(word)) && !extras.flags?.includes(word);
    const excludes = excludesFor(word, view);
    changed ||= excludes.length > 0;
    args.push(...excludes, word);
    if (takesNext && i + 1 < words.length) {
      args.push(words[++i] as string);
      options.push(`${word} ${words[i]}`);
    } else {
      options.push(word);
    }
  }
  return { args, end: args.length, options, changed };
}

/** `--exclude=` words that must stand right before this option. */
export function excludesFor(word: string, view: View): string[] {
  if (word === '--all') return asOptions([...hiddenGlobs(view, ''), ...worktreeHeads(view)]);
  if (word === '--stdin') {
    const relative = [HEADS, TAGS, REMOTES].flatMap((root) => hiddenGlobs(view, root));
    return asOptions([...hiddenGlobs(view, ''), ...relative, ...worktreeHeads(view)]);
  }
  if (word === '--glob' || word.startsWith('--glob=')) return asOptions(hiddenGlobs(view, ''));
  const root = /^--(branches|tags|remotes)(=|$)/.exec(word)?.[1];
  if (root === undefined) return [];
  return asOptions(hiddenGlobs(view, root === 'branches' ? HEADS : root === 'tags' ? TAGS : REMOTES));
}

export function worktreeHeads(view: View): string[] {
  return view.worktrees.map((id) => `${id === '' ? 'main-worktree' : `worktrees/${id}`}/HEAD`);
}

function asOptions(patterns: readonly string[]): string[] {
  return patterns.map((pattern) => `--exclude=${pattern}`);
}

/** The walk with the words that follow its options, or undefined where nothing came of it. */
export function finish(
  walk: Revisions,
  authors: AuthorFilter,
  more: readonly string[] = [],
): Rewrite | undefined {
  const added = [...authors.added, ...more];
  if (!walk.changed && added.length === 0) return undefined;
  const end = authors.args.length - (walk.args.length - walk.end);
  return { args: [...authors.args.slice(0, end), ...added, ...authors.args.slice(end)] };
}
