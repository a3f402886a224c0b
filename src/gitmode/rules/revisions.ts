/**
 * The words of rev-list and its relatives, whose options have no abbreviations: which options take the next word as
 * their value, where the options end, and which options stand for a set of refs.
 *
 * `--exclude=` words go before each set, because git forgets them after one set. `--all` also includes the HEAD of
 * every worktree: without an exclude, the HEAD of a sandbox would bring back the agent's commits.
 */
import { HEADS, REMOTES, TAGS } from '../../git/files/ref-files.ts';
import { hiddenGlobs, type View } from '../view/view.ts';
import { fitsCommandLine, type Rewrite } from './rule.ts';

/** Options of every revision walk that take the next word as their value. */
export const TAKE_NEXT_WORD = new Set(
  `--max-count --max-count-oldest --skip --max-age --since --since-as-filter --after --min-age --before --until --date
  --author --committer --grep-reflog --grep --encoding --glob --exclude --exclude-hidden --diff-merges --default
  --decorate-refs --decorate-refs-exclude -L -S -G -O -l -I --src-prefix --dst-prefix --line-prefix --output
  --diff-filter --diff-algorithm --anchored --word-diff-regex --find-object --skip-to --rotate-to --inter-hunk-context
  --ws-error-highlight --output-indicator-new --output-indicator-old --output-indicator-context --stat-width
  --stat-name-width --stat-graph-width --stat-count --ignore-matching-lines --color-moved-ws --max-depth`.split(
    /\s+/,
  ),
);

/** The command's own options that take the next word as their value: `-n` does not in shortlog and format-patch. */
export interface OwnOptions {
  readonly takeNextWord: readonly string[];
  /** It sorts the revisions that it gets. */
  readonly sorts?: boolean;
}

export const COUNT: OwnOptions = { takeNextWord: ['-n'] };

/** With these the order of the reflogs shows. */
const UNSORTED = /^(-g|--walk-reflogs|--no-walk(=.*)?)$/;

export interface Revisions {
  /** With excludes before every set of refs. */
  readonly args: readonly string[];
  /** Index in `args` where the options end: before `--` or `--end-of-options`, or the end. */
  readonly end: number;
  /** The options; a value that is the next word follows after a blank. */
  readonly options: readonly string[];
  /** Whether excludes were added. */
  readonly changed: boolean;
}

/** The parts of a walk from which the agents' commits are excluded. */
export interface AuthorFilter {
  /** The words of the walk, with the user's patterns translated. */
  readonly args: readonly string[];
  /** Words to add after the options. */
  readonly added: readonly string[];
}

export function parseRevisions(words: readonly string[], view: View, own: OwnOptions = COUNT): Revisions {
  const args: string[] = [];
  const options: string[] = [];
  const sorts = own.sorts === true && !words.some((word) => UNSORTED.test(word));
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
    const objects = word === '--reflog' && sorts ? reflogObjects(view) : undefined;
    if (objects !== undefined) {
      changed = true;
      options.push(word);
      args.push(...objects);
      continue;
    }
    const excludes = excludesBefore(word, view);
    changed ||= excludes.length > 0;
    args.push(...excludes, word);
    const takesNextWord = TAKE_NEXT_WORD.has(word) || own.takeNextWord.includes(word);
    if (takesNextWord && i + 1 < words.length) {
      args.push(words[++i] as string);
      options.push(`${word} ${words[i]}`);
    } else {
      options.push(word);
    }
  }
  return { args, end: args.length, options, changed };
}

/** The words that `--reflog` stands for, without hidden reflogs. Undefined where git gets the option itself. */
function reflogObjects(view: View): readonly string[] | undefined {
  const objects = view.canReplaceRefs() ? undefined : view.visibleReflogObjects();
  return objects !== undefined && fitsCommandLine(objects) ? objects : undefined;
}

/** The `--exclude=` words that this option needs directly before it. */
export function excludesBefore(option: string, view: View): string[] {
  if (option === '--all') return excludeOptions([...hiddenGlobs(view, ''), ...hiddenWorktreeHeads(view)]);
  if (option === '--stdin') {
    const relative = [HEADS, TAGS, REMOTES].flatMap((root) => hiddenGlobs(view, root));
    return excludeOptions([...hiddenGlobs(view, ''), ...relative, ...hiddenWorktreeHeads(view)]);
  }
  if (option === '--glob' || option.startsWith('--glob=')) return excludeOptions(hiddenGlobs(view, ''));
  const set = /^--(branches|tags|remotes)(=|$)/.exec(option)?.[1];
  if (set === undefined) return [];
  return excludeOptions(hiddenGlobs(view, set === 'branches' ? HEADS : set === 'tags' ? TAGS : REMOTES));
}

/** `--reflog` takes none, and one for `--stdin` holds for the first set in the input. */
export function takesNoExcludes({ options }: Revisions): boolean {
  return options.includes('--reflog') || options.includes('--stdin');
}

function hiddenWorktreeHeads(view: View): string[] {
  return view.hiddenWorktrees.map((id) => `${id === '' ? 'main-worktree' : `worktrees/${id}`}/HEAD`);
}

/** In front of a set of refs, or of all that a command may name. */
export function excludeOptions(patterns: readonly string[]): string[] {
  return patterns.map((pattern) => `--exclude=${pattern}`);
}

/** These need what is added in a certain order, and take no value. */
const ORDERED = /^(-[EFGPi]|--(clear-decorations|(extended|basic|perl)-regexp|fixed-strings))$/;

/** More options, but before a last one that may lack its value: git then says so. Undefined: no change. */
export function withAddedOptions(
  walk: Revisions,
  authors: AuthorFilter,
  more: readonly string[] = [],
): Rewrite | undefined {
  const added = [...authors.added, ...more];
  if (!walk.changed && added.length === 0) return undefined;
  const last = authors.args.length - (walk.args.length - walk.end) - 1;
  const option = walk.options.at(-1);
  const mayLackValue = option !== undefined && option === authors.args[last] && !ORDERED.test(option);
  const end = mayLackValue ? last : last + 1;
  return { args: [...authors.args.slice(0, end), ...added, ...authors.args.slice(end)] };
}
