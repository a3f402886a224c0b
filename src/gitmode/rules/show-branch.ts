/**
 * git show-branch. When it chooses the branches itself, the rule names them instead, in git's order: git shows the first
 * 26 in the order of refs, sorted by version, and warns about the others in the order of refs.
 *
 * Limit: the rule leaves a glob that matches more than 26 branches, hidden ones included.
 */
import { writeSync } from 'node:fs';
import { HEADS, REMOTES } from '../../git/files/ref-files.ts';
import type { GitOutput } from '../../git/run/run-sync.ts';
import {
  hasOption,
  optionTable,
  type ParsedOptions,
  parseOptions,
  withoutOptions,
} from '../command-line/options.ts';
import { namespacesUnder, type View } from '../view/view.ts';
import { fitsCommandLine, type Rewrite, type Rule } from './rule.ts';

const SHOW_BRANCH_OPTIONS = optionTable(`
  a|all r|remotes color? more? list no-name current sha1-name merge-base independent topo-order topics sparse date-order
  g|reflog? !name`);

/** git's MAX_REVS. */
const MAX_SHOWN = 26;

export const showBranch: Rule = (args, view) => {
  const parsed = parseOptions(args, SHOW_BRANCH_OPTIONS, { stopAtArgument: true });
  if (parsed === undefined || view.namespaces.length === 0 || hasOption(parsed, 'reflog')) return undefined;
  if (hasOption(parsed, 'no-all', 'no-remotes')) return undefined;
  const kind = hasOption(parsed, 'all') ? 'all' : hasOption(parsed, 'remotes') ? 'remotes' : undefined;
  if (kind === undefined && parsed.args.length > 0) return visibleMatches(parsed, view);
  if (kind === undefined && view.config('showbranch.default').length > 0) return undefined;
  const roots = kind === 'all' ? [HEADS, REMOTES] : kind === 'remotes' ? [REMOTES] : [HEADS];
  if (roots.every((root) => namespacesUnder(view, root).length === 0)) return undefined;

  const names = roots.flatMap((root) => namesInGitsOrder(view, root, MAX_SHOWN - parsed.args.length));
  const options = withoutOptions(parsed, 'all', 'remotes');
  if (options === undefined || !fitsCommandLine(names)) return undefined;
  if (names.length + parsed.args.length === 0) return { filtered: printNoRevisions };
  return { args: [...options, ...parsed.args, ...names] };
};

/** git's message and exit code when there is no branch at all. */
function printNoRevisions(): GitOutput {
  writeSync(2, 'No revs to be shown.\n');
  return { exitCode: 0, stdout: '' };
}

/** The names that git makes of the user's globs, without the hidden ones. */
function visibleMatches(parsed: ParsedOptions, view: View): Rewrite | undefined {
  if (!parsed.args.some((arg) => /[*?[]/.test(arg))) return undefined;
  const names = view
    .ask(['show-branch', '--no-color', '--list', ...parsed.args])
    .stdout.split('\n')
    .flatMap((line) => /^[* ] \[(.+?)\] /.exec(line)?.[1] ?? []);
  const isHidden = (name: string) => ['refs/', HEADS, REMOTES].some((root) => view.isHidden(root + name));
  const visible = names.filter((name) => !isHidden(name));
  if (visible.length === names.length || visible.length === 0) return undefined;
  return { args: [...parsed.optionWords, ...visible] };
}

/** Short names: the `most` that git shows, sorted by version, then the others. */
function namesInGitsOrder(view: View, root: string, most: number): string[] {
  const visible = view.visibleRefs().filter((ref) => ref.startsWith(root) && ref !== `${root}HEAD`);
  const names = visible.map((ref) => shortName(ref, root, view));
  const count = Math.max(most, 0);
  return [...names.slice(0, count).sort(compareVersions), ...names.slice(count)];
}

/** As show-branch sorts, and no other command: numbers by value, and the end of a name or of a number before all else. */
export function compareVersions(a: string, b: string): number {
  const parts = (name: string) => name.match(/\d+|\D+/g) ?? [];
  const [left, right] = [a, b].map((name) => (/^\d/.test(name) ? parts(name) : ['0', ...parts(name)]));
  for (let i = 0; ; i++) {
    const [x, y] = [left?.[i], right?.[i]];
    if (x === undefined && y === undefined) return 0;
    const order = i % 2 === 0 ? compareNumbers(x ?? '0', y ?? '0') : compareText(x ?? '', y ?? '');
    if (order !== 0) return order;
  }
}

function compareNumbers(a: string, b: string): number {
  const [x, y] = [BigInt(a), BigInt(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** git compares chars, which are signed on most machines: a byte of a letter beyond ASCII comes before the end. */
function compareText(a: string, b: string): number {
  const [x, y] = [new Int8Array(Buffer.from(a)), new Int8Array(Buffer.from(b))];
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const order = (x[i] ?? 0) - (y[i] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}

/** As show-branch prints it: `heads/x` when `x` alone means another commit. */
function shortName(ref: string, root: string, view: View): string {
  const short = ref.slice(root.length);
  const hasNamesake = view.visibleRefs().some((other) => other !== ref && other.endsWith(`/${short}`));
  const commitOf = (name: string) => view.ask(['rev-parse', '--verify', '-q', name]).stdout;
  return hasNamesake && commitOf(short) !== commitOf(ref) ? ref.slice('refs/'.length) : short;
}
