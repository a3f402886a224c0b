/**
 * git show-branch, where it takes branches by itself: they are named instead, in the order in which it sorts them.
 * It shows 26 at most and says which it leaves out, in the order of refs.
 *
 * Limit: a glob that matches more than 26 branches, hidden ones counted, is left alone.
 */
import { writeSync } from 'node:fs';
import { HEADS, REMOTES } from '../../git/files/refnames.ts';
import { hasOption, optionTable, type Scan, scanOptions, withoutOptions } from '../command-line/options.ts';
import { namespacesUnder, type View } from '../view/view.ts';
import type { Rewrite, Rule } from './rule.ts';
import { fits } from './words.ts';

export const SHOW_BRANCH_OPTIONS = optionTable(`
  a|all r|remotes color? more? list no-name current sha1-name merge-base independent topo-order topics sparse date-order
  g|reflog? !name`);

const MOST = 26;

export const showBranch: Rule = (args, view) => {
  const scan = scanOptions(args, SHOW_BRANCH_OPTIONS, true);
  if (scan === undefined || view.namespaces.length === 0 || hasOption(scan, 'reflog')) return undefined;
  if (hasOption(scan, 'no-all', 'no-remotes')) return undefined;
  const kind = hasOption(scan, 'all') ? 'all' : hasOption(scan, 'remotes') ? 'remotes' : undefined;
  if (kind === undefined && scan.args.length > 0) return byGlobs(scan, view);
  if (kind === undefined && view.config('showbranch.default').length > 0) return undefined;
  const roots = kind === 'all' ? [HEADS, REMOTES] : kind === 'remotes' ? [REMOTES] : [HEADS];
  if (roots.every((root) => namespacesUnder(view, root).length === 0)) return undefined;

  const names = roots.flatMap((root) => ordered(view, root, MOST - scan.args.length));
  const options = withoutOptions(scan, 'all', 'remotes');
  if (options === undefined || !fits(names)) return undefined;
  if (names.length + scan.args.length === 0) return { render: noRevisions };
  return { args: [...options, ...scan.args, ...names] };
};

/** What git says and how it ends where there is no branch at all. */
function noRevisions(): number {
  writeSync(2, 'No revs to be shown.\n');
  return 0;
}

/** Globs as what git makes of them, less what is hidden. */
function byGlobs(scan: Scan, view: View): Rewrite | undefined {
  if (!scan.args.some((arg) => /[*?[]/.test(arg))) return undefined;
  const names = view
    .ask(['show-branch', '--no-color', '--list', ...scan.args])
    .stdout.split('\n')
    .flatMap((line) => /^[* ] \[(.+?)\] /.exec(line)?.[1] ?? []);
  const isHidden = (name: string) => ['refs/', HEADS, REMOTES].some((root) => view.isHidden(root + name));
  const visible = names.filter((name) => !isHidden(name));
  if (visible.length === names.length || visible.length === 0) return undefined;
  return { args: [...scan.optionWords, ...visible] };
}

/** Short names: those that will be shown by version order, the others behind them. */
function ordered(view: View, root: string, most: number): string[] {
  const visible = view.visibleRefs().filter((ref) => ref.startsWith(root) && ref !== `${root}HEAD`);
  const shown = new Set(visible.slice(0, Math.max(most, 0)));
  const byVersion = view.ask(['for-each-ref', '--sort=version:refname', '--format=%(refname)', root]);
  const first = byVersion.stdout.split('\n').filter((ref) => shown.has(ref));
  return [...first, ...visible.filter((ref) => !shown.has(ref))].map((ref) => shortName(ref, root, view));
}

/** As show-branch writes it: `heads/x` where `x` alone is another commit. */
function shortName(ref: string, root: string, view: View): string {
  const short = ref.slice(root.length);
  const others = view.visibleRefs().some((other) => other !== ref && other.endsWith(`/${short}`));
  const oid = (name: string) => view.ask(['rev-parse', '--verify', '-q', name]).stdout;
  return others && oid(short) !== oid(ref) ? ref.slice('refs/'.length) : short;
}
