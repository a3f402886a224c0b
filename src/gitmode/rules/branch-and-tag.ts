/**
 * git branch and git tag when they list. git takes only positive patterns there: the rule adds globs for everything
 * outside the hidden namespaces or, when the user gave patterns, the visible names that match them. Only tags in the
 * namespace of shadow branches (`agtsessions/`) are hidden.
 *
 * Limit: with `branch -a`, git matches a name without `refs/heads/` or `refs/remotes/`. A remote with the name of a prefix
 * (`agt`) cannot be told from the prefix; then the rule hides nothing.
 */
import { areAscii, escapeGlob, globsOutside } from '../../filter/globs.ts';
import { HEADS, REMOTES, TAGS } from '../../git/files/ref-files.ts';
import {
  hasOption,
  lastOption,
  type OptionTable,
  optionTable,
  optionWordsBeforeArguments,
  type ParsedOptions,
  parseOptions,
} from '../command-line/options.ts';
import { currentAgentBranchUnder, namespacesUnder, type View } from '../view/view.ts';
import { fitsCommandLine, orMatchNothing, type Rewrite, type Rule, visibleAmong } from './rule.ts';

export interface ListOptions {
  readonly table: OptionTable;
  /** With one of these, the line is no list, or a list of other refs. */
  readonly shaping: readonly string[];
  /** With one of these, an argument is a pattern and not the name of a new ref. */
  readonly listing: readonly string[];
}

const NOT_LISTING =
  `delete D move M copy C set-upstream set-upstream-to unset-upstream edit-description show-current
  no-remotes no-all`.split(/\s+/);

export const BRANCH: ListOptions = {
  table: optionTable(`
    v|verbose q|quiet t|track? set-upstream u|set-upstream-to= unset-upstream color? r|remotes !contains~ !no-contains~
    !with~ !without~ abbrev? a|all d|delete D m|move M c|copy C l|list show-current create-reflog edit-description
    f|force !merged~ !no-merged~ column? sort= points-at= i|ignore-case recurse-submodules format= omit-empty`),
  shaping: [
    ...NOT_LISTING,
    ...'all remotes ignore-case force track create-reflog recurse-submodules'.split(' '),
  ],
  listing: 'list contains no-contains with without merged no-merged points-at'.split(' '),
};

const CREATING = 'annotate message file edit sign local-user force trailer'.split(' ');

export const TAG: ListOptions = {
  table: optionTable(`
    !l|list n? !d|delete !v|verify a|annotate m|message= F|file= e|edit s|sign cleanup= u|local-user= f|force
    create-reflog column? !contains~ !no-contains~ !with~ !without~ !merged~ !no-merged~ sort= points-at~ format=
    color? i|ignore-case omit-empty trailer=`),
  shaping: [...CREATING, ...'delete verify ignore-case cleanup create-reflog'.split(' ')],
  listing: [...BRANCH.listing, 'n'],
};

export const branch: Rule = (args, view) => {
  const parsed = parseOptions(args, BRANCH.table);
  if (parsed === undefined || hasOption(parsed, ...NOT_LISTING) || !isList(parsed, BRANCH)) return undefined;
  const kind = lastOption(parsed, 'remotes', 'all')?.name;
  const roots = kind === 'remotes' ? [REMOTES] : kind === 'all' ? [HEADS, REMOTES] : [HEADS];
  const hidden = roots.flatMap((root) => namespacesUnder(view, root));
  if (hidden.length === 0 || (roots.length > 1 && isAmbiguous(view, hidden))) return undefined;
  const current = kind === 'remotes' ? undefined : currentAgentBranchUnder(view, HEADS);
  const words = kind === undefined ? ['branch'] : ['branch', `--${kind}`];
  return visibleList(words, parsed, view, { options: BRANCH, hidden, current });
};

export const tag: Rule = (args, view) => {
  const hidden = namespacesUnder(view, TAGS);
  const parsed = hidden.length === 0 ? undefined : parseOptions(args, TAG.table);
  if (parsed === undefined || hasOption(parsed, 'delete', 'verify') || !isList(parsed, TAG)) return undefined;
  if (!hasOption(parsed, 'list') && hasOption(parsed, ...CREATING)) return undefined;
  return visibleList(['tag'], parsed, view, { options: TAG, hidden });
};

function isList(parsed: ParsedOptions, { listing }: ListOptions): boolean {
  return parsed.args.length === 0 || hasOption(parsed, ...listing);
}

/** Whether a visible remote-tracking branch has a short name in a hidden namespace of local branches. */
function isAmbiguous(view: View, hidden: readonly string[]): boolean {
  return view
    .visibleRefs()
    .filter((ref) => ref.startsWith(REMOTES))
    .some((ref) => hidden.some((namespace) => ref.startsWith(namespace, REMOTES.length)));
}

interface List {
  readonly options: ListOptions;
  /** Namespaces, as the command names their refs. */
  readonly hidden: readonly string[];
  /** The agent's branch that is checked out here stays in the list. */
  readonly current?: string | undefined;
}

/** `words`: the command, with options that choose the kind of refs. */
function visibleList(
  words: readonly string[],
  parsed: ParsedOptions,
  view: View,
  { options, hidden, current }: List,
): Rewrite | undefined {
  const everything = parsed.args.length === 0 || parsed.args.includes('*');
  const patterns =
    everything && !hasOption(parsed, 'ignore-case') && areAscii(hidden)
      ? [...globsOutside(hidden), ...(current === undefined ? [] : [escapeGlob(current)])]
      : visibleMatches(words, parsed, view);
  if (patterns === undefined || !fitsCommandLine(patterns)) return undefined;
  return { args: [...optionWordsBeforeArguments(parsed, options.table), '--list', '--', ...patterns] };
}

/** Globs for the visible refs that match the user's patterns; undefined when these match nothing hidden. */
function visibleMatches(
  words: readonly string[],
  parsed: ParsedOptions,
  view: View,
): readonly string[] | undefined {
  const ignoreCase = hasOption(parsed, 'ignore-case') ? ['--ignore-case'] : [];
  const format = ['--no-column', '--no-color', '--format=%(refname)'];
  const { exitCode, stdout } = view.ask([...words, '--list', ...ignoreCase, ...format, '--', ...parsed.args]);
  // A line that is no ref stands for a detached HEAD.
  const visible = visibleAmong(stdout.split('\n').filter(Boolean), view);
  if (exitCode !== 0 || visible === undefined) return undefined;
  return orMatchNothing(
    visible.map((line) =>
      line.startsWith('refs/') ? escapeGlob(line.replace(/^refs\/(heads|remotes|tags)\//, '')) : 'HEAD',
    ),
  );
}
