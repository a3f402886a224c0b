/**
 * git describe and name-rev: names that are worked out from refs.
 *
 * Any `--exclude` makes `describe --all` forget refs outside heads, tags and remotes, so it is added only where git's
 * own answer is a hidden name. Limits: `name-rev --all` names refs before it excludes them; it is left alone.
 */

import { HEADS, REMOTES, TAGS } from '../../git/files/refnames.ts';
import { hasOption, optionTable, type Scan, scanOptions } from '../command-line/options.ts';
import { hiddenGlobs, type View } from '../view/view.ts';
import type { Rewrite, Rule } from './rule.ts';

export const DESCRIBE_OPTIONS = optionTable(`
  contains debug all tags long first-parent abbrev? exact-match candidates= match= exclude= always dirty? broken?`);
export const NAME_REV_OPTIONS = optionTable(`
  name-only tags refs= exclude= all stdin annotate-stdin undefined always peel-tag`);

export const describe: Rule = (args, view) => {
  const scan = view.namespaces.length === 0 ? undefined : scanOptions(args, DESCRIBE_OPTIONS);
  if (scan === undefined) return undefined;
  const all = hasOption(scan, 'all');
  if (hasOption(scan, 'contains') && all) return describeContains(scan, view);
  const hidden = all
    ? [HEADS, TAGS, REMOTES].flatMap((root) => hiddenGlobs(view, root))
    : hiddenGlobs(view, TAGS);
  if (hidden.length === 0 || (all && !answersHidden(args, view))) return undefined;
  return { args: [...hidden.map((pattern) => `--exclude=${pattern}`), ...args] };
};

export const nameRev: Rule = (args, view) => {
  const scan = view.namespaces.length === 0 ? undefined : scanOptions(args, NAME_REV_OPTIONS);
  if (scan === undefined || hasOption(scan, 'all')) return undefined;
  const hidden = hiddenGlobs(view, hasOption(scan, 'tags') ? TAGS : '');
  if (hidden.length === 0) return undefined;
  return { args: [...hiddenGlobs(view, '').map((pattern) => `--exclude=${pattern}`), ...args] };
};

/** `heads/agt/x-3-gabc1234`: the answer names a hidden ref, or one of several does. */
function answersHidden(args: readonly string[], view: View): boolean {
  const { exitCode, stdout } = view.ask(['describe', ...args]);
  // Without a single name git complains of that before it looks at the revision.
  if (exitCode !== 0) return view.visibleRefs().length === 0;
  return stdout.split('\n').some((line) => view.isHidden(`refs/${line.replace(/-\d+-g[0-9a-f]+.*$/, '')}`));
}

/** What may stand beside --contains and --all; describe does not look at most of it then. */
const WITH_CONTAINS = 'contains all always tags first-parent candidates exact-match abbrev'.split(' ');

/** What describe itself becomes for `--contains`, with an exclude that it would not pass on. */
function describeContains(scan: Scan, view: View): Rewrite | undefined {
  if (scan.options.some(({ name }) => !WITH_CONTAINS.includes(name))) return undefined;
  const excludes = hiddenGlobs(view, '').map((pattern) => `--exclude=${pattern}`);
  const always = hasOption(scan, 'always') ? ['--always'] : [];
  const revisions = scan.args.length === 0 ? ['HEAD'] : scan.args;
  return {
    command: 'name-rev',
    args: ['--peel-tag', '--name-only', '--no-undefined', ...always, ...excludes, '--', ...revisions],
  };
}
