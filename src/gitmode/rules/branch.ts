/**
 * git branch, its list forms. Git takes only positive patterns there, so the list gets the complement of the hidden
 * prefixes, or the visible names among those that the user's own patterns match.
 *
 * Limit: with `-a` patterns match a name without `refs/heads/` or `refs/remotes/`, so a remote named like a prefix
 * (`agt`) cannot be told from it; nothing is hidden then.
 */
import { canComplement, complement, escapeGlob } from '../../filter/globs.ts';
import { HEADS, REMOTES } from '../../git/files/refnames.ts';
import {
  closedOptionWords,
  hasOption,
  lastOption,
  optionTable,
  scanOptions,
} from '../command-line/options.ts';
import { currentUnder, namespacesUnder, type View } from '../view/view.ts';
import type { Rule } from './rule.ts';
import { fits, NOTHING } from './words.ts';

export const BRANCH_OPTIONS = optionTable(`
  v|verbose q|quiet t|track? set-upstream u|set-upstream-to= unset-upstream color? r|remotes !contains~ !no-contains~
  !with~ !without~ abbrev? a|all d|delete D m|move M c|copy C l|list show-current create-reflog edit-description f|force
  !merged~ !no-merged~ column? sort= points-at= i|ignore-case recurse-submodules format= omit-empty`);

const WRITING = [
  'delete',
  'D',
  'move',
  'M',
  'copy',
  'C',
  'set-upstream',
  'set-upstream-to',
  'unset-upstream',
];
const OTHER = ['edit-description', 'show-current', 'no-remotes', 'no-all'];
const LISTING = ['list', 'contains', 'no-contains', 'with', 'without', 'merged', 'no-merged', 'points-at'];

export const branch: Rule = (args, view) => {
  const scan = scanOptions(args, BRANCH_OPTIONS);
  if (scan === undefined || hasOption(scan, ...WRITING, ...OTHER)) return undefined;
  if (scan.args.length > 0 && !hasOption(scan, ...LISTING)) return undefined;

  const kind = lastOption(scan, 'remotes', 'all')?.name;
  const roots = kind === 'remotes' ? [REMOTES] : kind === 'all' ? [HEADS, REMOTES] : [HEADS];
  const hidden = roots.flatMap((root) => namespacesUnder(view, root));
  if (hidden.length === 0 || (roots.length > 1 && isAmbiguous(view, hidden))) return undefined;

  const folding = hasOption(scan, 'ignore-case');
  const everything = scan.args.length === 0 || scan.args.includes('*');
  const patterns =
    everything && !folding && canComplement(hidden)
      ? [...complement(hidden), ...kept(view, kind)]
      : matching(view, kind, folding, scan.args);
  if (patterns === undefined || !fits(patterns)) return undefined;
  return { args: [...closedOptionWords(scan, BRANCH_OPTIONS), '--list', '--', ...patterns] };
};

function kept(view: View, kind: string | undefined): string[] {
  const current = kind === 'remotes' ? undefined : currentUnder(view, HEADS);
  return current === undefined ? [] : [escapeGlob(current)];
}

/** A visible branch whose short name lies in another root's hidden namespace. */
function isAmbiguous(view: View, hidden: readonly string[]): boolean {
  return view
    .visibleRefs()
    .filter((ref) => ref.startsWith(REMOTES))
    .some((ref) => hidden.some((namespace) => ref.startsWith(namespace, REMOTES.length)));
}

/** The visible branches that the user's patterns match, or undefined where those match nothing hidden. */
function matching(
  view: View,
  kind: string | undefined,
  folding: boolean,
  patterns: readonly string[],
): string[] | undefined {
  const flags = [...(kind === undefined ? [] : [`--${kind}`]), ...(folding ? ['--ignore-case'] : [])];
  const format = ['--no-column', '--no-color', '--format=%(refname)'];
  const { exitCode, stdout } = view.ask(['branch', '--list', ...flags, ...format, '--', ...patterns]);
  const lines = stdout.split('\n').filter(Boolean);
  const visible = lines.filter((line) => !view.isHidden(line));
  if (exitCode !== 0 || visible.length === lines.length) return undefined;
  if (visible.length === 0) return [NOTHING];
  return visible.map((line) =>
    line.startsWith('refs/') ? escapeGlob(line.replace(/^refs\/(heads|remotes)\//, '')) : 'HEAD',
  );
}
