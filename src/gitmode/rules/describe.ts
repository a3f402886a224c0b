/**
 * git describe and name-rev, which derive names from refs.
 *
 * With any `--exclude`, `describe --all` ignores refs outside heads, tags and remotes, so the rule adds it only when
 * git's own answer is a hidden name. `name-rev --all` names refs before it excludes them: it needs other refs.
 */
import { HEADS, REMOTES, TAGS } from '../../git/files/ref-files.ts';
import {
  hasOption,
  optionTable,
  type ParsedOptions,
  parseOptions,
  withoutOptions,
} from '../command-line/options.ts';
import { hiddenGlobs, type View } from '../view/view.ts';
import { excludeOptions } from './revisions.ts';
import { type FilteredOutput, type Rewrite, type Rule, replacingRefs } from './rule.ts';

const DESCRIBE_OPTIONS = optionTable(`
  contains debug all tags long first-parent abbrev? exact-match candidates= match= exclude= always dirty? broken?`);
const NAME_REV_OPTIONS = optionTable(`
  name-only tags refs= exclude= all stdin annotate-stdin undefined always peel-tag`);

export const describe: Rule = (args, view) => {
  const parsed = view.namespaces.length === 0 ? undefined : parseOptions(args, DESCRIBE_OPTIONS);
  if (parsed === undefined) return undefined;
  const all = hasOption(parsed, 'all');
  if (hasOption(parsed, 'contains') && all) return describeContains(parsed, view);
  const roots = all ? [HEADS, TAGS, REMOTES] : [TAGS];
  const hidden = roots.flatMap((root) => hiddenGlobs(view, root));
  if (hidden.length === 0 || (all && !answersHiddenName(args, view))) return undefined;
  return { args: [...excludeOptions(hidden), ...args] };
};

export const nameRev: Rule = (args, view) => {
  const parsed = view.namespaces.length === 0 ? undefined : parseOptions(args, NAME_REV_OPTIONS);
  if (parsed === undefined) return undefined;
  if (hasOption(parsed, 'all')) return replacingRefs(args, view) ?? nameAll(parsed, view);
  const hidden = hiddenGlobs(view, hasOption(parsed, 'tags') ? TAGS : '');
  if (hidden.length === 0) return undefined;
  return { args: [...excludeOptions(hiddenGlobs(view, '')), ...args] };
};

/**
 * `name-rev --all` parses each ref before it excludes it, and then lists the commit as undefined. agt leaves out these
 * lines. Limit: git lists commits in the order of a hash table, which those commits can change.
 */
function nameAll(parsed: ParsedOptions, view: View): FilteredOutput | undefined {
  const hidden = excludeOptions(hiddenGlobs(view, ''));
  const options = withoutOptions(parsed, 'undefined');
  if (hidden.length === 0 || options === undefined) return undefined;
  const choice = parsed.options.filter(({ name }) => ['all', 'tags', 'refs', 'exclude'].includes(name));
  const named = view.ask(['name-rev', ...hidden, ...choice.flatMap(({ words }) => words)]);
  const parsedCommits = commitsAtVisibleRefs(view);
  const lines = named.stdout.split('\n').map((line) => {
    const [commit = '', name] = line.split(' ');
    return {
      isUndefined: name === 'undefined',
      isVisible: name !== 'undefined' || parsedCommits.has(commit),
    };
  });
  const fails = hasOption(parsed, 'no-undefined') && lines.some((line) => line.isUndefined && line.isVisible);
  if (named.exitCode !== 0 || fails) return undefined;
  return {
    filtered: () => {
      const { exitCode, stdout } = view.capture(['name-rev', ...hidden, ...options]);
      const kept = stdout.split('\n').filter((_, i) => lines[i]?.isVisible !== false);
      return { exitCode, stdout: kept.join('\n') };
    },
  };
}

/** The commits that visible refs point to, and their parents: git knows these when it has parsed the refs. */
function commitsAtVisibleRefs(view: View): Set<string> {
  const { stdout } = view.ask([
    'for-each-ref',
    '--format=%(refname) %(objectname) %(parent) %(*objectname) %(*parent)',
  ]);
  const lines = stdout.split('\n').map((line) => line.split(' '));
  return new Set(lines.flatMap(([ref = '', ...objects]) => (view.isHidden(ref) ? [] : objects)));
}

/** Whether a line of git's answer, such as `heads/agt/x-3-gabc1234`, names a hidden ref. */
function answersHiddenName(args: readonly string[], view: View): boolean {
  const { exitCode, stdout } = view.ask(['describe', ...args]);
  // When no ref is left to name anything, git complains about that before it looks at the revision.
  if (exitCode !== 0) return view.visibleRefs().length === 0;
  return stdout.split('\n').some((line) => view.isHidden(`refs/${line.replace(/-\d+-g[0-9a-f]+.*$/, '')}`));
}

/** Options that may accompany `--contains --all`; describe then ignores most of them. */
const WITH_CONTAINS = 'contains all always tags first-parent candidates exact-match abbrev'.split(' ');

/** For `--contains`, describe itself runs name-rev; the rule does so, because describe would not pass the excludes on. */
function describeContains(parsed: ParsedOptions, view: View): Rewrite | undefined {
  if (parsed.options.some(({ name }) => !WITH_CONTAINS.includes(name))) return undefined;
  const options = [
    '--peel-tag',
    '--name-only',
    '--no-undefined',
    ...(hasOption(parsed, 'always') ? ['--always'] : []),
  ];
  const revisions = parsed.args.length === 0 ? ['HEAD'] : parsed.args;
  return {
    command: 'name-rev',
    args: [...options, ...excludeOptions(hiddenGlobs(view, '')), '--', ...revisions],
  };
}
