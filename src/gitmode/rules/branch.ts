/**
 * git branch when it lists. git takes only positive patterns there: the rule adds globs for everything outside the
 * hidden namespaces or, when the user gave patterns, the visible names that match them.
 *
 * Limit: with `-a`, git matches a name without `refs/heads/` or `refs/remotes/`. A remote with the name of a prefix
 * (`agt`) cannot be told from the prefix; then the rule hides nothing.
 */
import { areAscii, escapeGlob, globsOutside } from '../../filter/globs.ts';
import { HEADS, REMOTES } from '../../git/files/ref-files.ts';
import {
  hasOption,
  lastOption,
  optionTable,
  optionWordsBeforeArguments,
  parseOptions,
} from '../command-line/options.ts';
import { currentAgentBranchUnder, namespacesUnder, type View } from '../view/view.ts';
import { fitsCommandLine, orMatchNothing, visibleAmong } from './arguments.ts';
import type { Rule } from './rule.ts';

export const OPTIONS = optionTable(`
  v|verbose q|quiet t|track? set-upstream u|set-upstream-to= unset-upstream color? r|remotes !contains~ !no-contains~
  !with~ !without~ abbrev? a|all d|delete D m|move M c|copy C l|list show-current create-reflog edit-description f|force
  !merged~ !no-merged~ column? sort= points-at= i|ignore-case recurse-submodules format= omit-empty`);

const WRITING = 'delete D move M copy C set-upstream set-upstream-to unset-upstream edit-description'.split(
  ' ',
);
const NOT_LISTING = [...WRITING, 'show-current', 'no-remotes', 'no-all'];
/** With one of these, the line is no list, or a list of other branches. */
export const SHAPING = [
  ...NOT_LISTING,
  ...'all remotes ignore-case force track create-reflog recurse-submodules'.split(' '),
];
/** With one of these, an argument is a pattern and not the name of a new branch. */
export const LISTING = 'list contains no-contains with without merged no-merged points-at'.split(' ');

export const branch: Rule = (args, view) => {
  const parsed = parseOptions(args, OPTIONS);
  if (parsed === undefined || hasOption(parsed, ...NOT_LISTING)) return undefined;
  if (parsed.args.length > 0 && !hasOption(parsed, ...LISTING)) return undefined;

  const kind = lastOption(parsed, 'remotes', 'all')?.name;
  const roots = kind === 'remotes' ? [REMOTES] : kind === 'all' ? [HEADS, REMOTES] : [HEADS];
  const hidden = roots.flatMap((root) => namespacesUnder(view, root));
  if (hidden.length === 0 || (roots.length > 1 && isAmbiguous(view, hidden))) return undefined;

  const ignoreCase = hasOption(parsed, 'ignore-case');
  const everything = parsed.args.length === 0 || parsed.args.includes('*');
  const patterns =
    everything && !ignoreCase && areAscii(hidden)
      ? [...globsOutside(hidden), ...currentBranchGlobs(view, kind)]
      : visibleMatches(view, kind, ignoreCase, parsed.args);
  if (patterns === undefined || !fitsCommandLine(patterns)) return undefined;
  return { args: [...optionWordsBeforeArguments(parsed, OPTIONS), '--list', '--', ...patterns] };
};

/** The agent's branch that is checked out here stays in the list. */
function currentBranchGlobs(view: View, kind: string | undefined): string[] {
  const current = kind === 'remotes' ? undefined : currentAgentBranchUnder(view, HEADS);
  return current === undefined ? [] : [escapeGlob(current)];
}

/** Whether a visible remote-tracking branch has a short name in a hidden namespace of local branches. */
function isAmbiguous(view: View, hidden: readonly string[]): boolean {
  return view
    .visibleRefs()
    .filter((ref) => ref.startsWith(REMOTES))
    .some((ref) => hidden.some((namespace) => ref.startsWith(namespace, REMOTES.length)));
}

/** Globs for the visible branches that match the user's patterns; undefined when these match nothing hidden. */
function visibleMatches(
  view: View,
  kind: string | undefined,
  ignoreCase: boolean,
  patterns: readonly string[],
): readonly string[] | undefined {
  const flags = [...(kind === undefined ? [] : [`--${kind}`]), ...(ignoreCase ? ['--ignore-case'] : [])];
  const format = ['--no-column', '--no-color', '--format=%(refname)'];
  const { exitCode, stdout } = view.ask(['branch', '--list', ...flags, ...format, '--', ...patterns]);
  // A line that is no ref stands for a detached HEAD.
  const visible = visibleAmong(stdout.split('\n').filter(Boolean), view);
  if (exitCode !== 0 || visible === undefined) return undefined;
  return orMatchNothing(
    visible.map((line) =>
      line.startsWith('refs/') ? escapeGlob(line.replace(/^refs\/(heads|remotes)\//, '')) : 'HEAD',
    ),
  );
}
