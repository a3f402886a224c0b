/**
 * git for-each-ref, `git refs list` and show-ref. A whole directory of refs (no pattern, or `refs/heads`) becomes globs for
 * everything in it but the hidden namespaces; every git understands those. For a pattern with wildcards the rule asks
 * git which refs match. `--stdin`, `--start-after` and `--include-root-refs` change the meaning of patterns: there it
 * adds `--exclude`, which every git with these options has (except 2.41, which then refuses the line). An older git
 * knows none of them, and says so of the line as it was given.
 */
import { areAscii, escapeGlob, pathGlobsOutside } from '../../filter/globs.ts';
import { HEADS, TAGS } from '../../git/files/ref-files.ts';
import {
  hasOption,
  optionTable,
  optionWordsBeforeArguments,
  type ParsedOptions,
  parseOptions,
} from '../command-line/options.ts';
import { namespacesUnder, type View } from '../view/view.ts';
import type { ListOptions } from './branch-and-tag.ts';
import { fitsCommandLine, orMatchNothing, type Rewrite, type Rule, visibleAmong } from './rule.ts';

/** These change what patterns mean. */
const NO_GLOBS = ['stdin', 'start-after', 'include-root-refs'];

export const FOR_EACH_REF: ListOptions = {
  table: optionTable(`
    s|shell p|perl python tcl omit-empty count= format= start-after= color? exclude= sort= points-at= !merged~
    !no-merged~ !contains~ !no-contains~ i|ignore-case stdin include-root-refs`),
  shaping: [...NO_GLOBS, 'ignore-case', 'exclude'],
  listing: [],
};

export function forEachRef(args: readonly string[], view: View): Rewrite | undefined {
  const parsed = parseOptions(args, FOR_EACH_REF.table);
  if (parsed === undefined || view.namespaces.length === 0) return undefined;
  if (hasOption(parsed, ...NO_GLOBS))
    return view.gitIsAtLeast(2, 41) ? { args: withExcludes(args, view) } : undefined;
  const directories = parsed.args.length === 0 ? ['refs/'] : parsed.args.map(asDirectory);
  if (!directories.some((directory) => mayHoldHidden(directory, view))) return undefined;
  const patterns = globsForDirectories(view, directories, parsed) ?? visibleMatches(view, parsed);
  if (patterns === undefined || !fitsCommandLine(patterns)) return undefined;
  return { args: [...optionWordsBeforeArguments(parsed, FOR_EACH_REF.table), '--', ...patterns] };
}

export const refs: Rule = (args, view) => {
  const list = args[0] === 'list' ? forEachRef(args.slice(1), view) : undefined;
  return list && { args: ['list', ...list.args] };
};

/** The directory that a pattern without wildcards names, or undefined. A full name of a ref reads as a directory too. */
function asDirectory(pattern: string): string | undefined {
  if (/[*?[\\]/.test(pattern)) return undefined;
  return pattern.endsWith('/') ? pattern : `${pattern}/`;
}

function mayHoldHidden(directory: string | undefined, view: View): boolean {
  return (
    directory === undefined ||
    namespacesUnder(view, directory).length > 0 ||
    isInHiddenNamespace(directory, view)
  );
}

function isInHiddenNamespace(directory: string, view: View): boolean {
  return view.namespaces.some((namespace) => directory.startsWith(namespace));
}

/** Undefined when git itself has to match one of the patterns. */
function globsForDirectories(
  view: View,
  directories: readonly (string | undefined)[],
  parsed: ParsedOptions,
): string[] | undefined {
  if (hasOption(parsed, 'ignore-case') || !areAscii(view.namespaces)) return undefined;
  const words: string[] = [];
  for (const [i, directory] of directories.entries()) {
    if (directory === undefined || isInHiddenNamespace(directory, view)) return undefined;
    const hidden = view.namespaces.filter((namespace) => namespace.startsWith(directory));
    if (hidden.length === 0) words.push(parsed.args[i] as string);
    else words.push(...pathGlobsOutside(hidden, directory));
  }
  const current = view.currentAgentBranch;
  const keepsCurrent = directories.some((directory) => current?.startsWith(directory as string));
  return current !== undefined && keepsCurrent ? [...words, current] : words;
}

/** The visible refs that match the user's patterns; undefined when these match nothing hidden. */
function visibleMatches(view: View, parsed: ParsedOptions): readonly string[] | undefined {
  const flags = hasOption(parsed, 'ignore-case') ? ['--ignore-case'] : [];
  const { stdout } = view.ask(['for-each-ref', ...flags, '--format=%(refname)', '--', ...parsed.args]);
  const visible = visibleAmong(stdout.split('\n').filter(Boolean), view);
  return visible && orMatchNothing(visible.map(escapeGlob));
}

function withExcludes(args: readonly string[], view: View): string[] {
  const current = view.currentAgentBranch;
  const excludes = view.namespaces.flatMap((namespace) =>
    current?.startsWith(namespace)
      ? [...pathGlobsOutside([current], namespace), `${escapeGlob(current)}?*`]
      : [namespace],
  );
  return [...excludes.map((pattern) => `--exclude=${pattern}`), ...args];
}

const SHOW_REF_OPTIONS = optionTable(`
  tags heads branches exists verify head d|dereference s|hash? abbrev? q|quiet exclude-existing?`);

/** With more names, for-each-ref is faster. */
const MAX_NAMES = 500;

/**
 * The patterns of git show-ref have no wildcards and match the end of a name, so the rule adds the full names of visible
 * refs. git compares each ref with each name; when there are many, for-each-ref prints the same lines in linear time.
 */
export const showRef: Rule = (args, view) => {
  const parsed = parseOptions(args, SHOW_REF_OPTIONS);
  if (parsed === undefined || hasOption(parsed, 'verify', 'exists', 'exclude-existing')) return undefined;
  if (parsed.options.some((option) => option.name.startsWith('no-'))) return undefined;
  const roots = [
    ...(hasOption(parsed, 'heads', 'branches') ? [HEADS] : []),
    ...(hasOption(parsed, 'tags') ? [TAGS] : []),
  ];
  const isUnderRoots = (name: string) => roots.length === 0 || roots.some((root) => name.startsWith(root));
  if (!view.namespaces.some(isUnderRoots)) return undefined;

  const visible =
    parsed.args.length === 0 ? view.visibleRefs().filter(isUnderRoots) : namesThatMatch(view, parsed);
  if (visible === undefined) return undefined;
  const linear = visible.length > MAX_NAMES ? asForEachRef(parsed, roots, view) : undefined;
  if (linear !== undefined) return linear;
  return fitsCommandLine(visible)
    ? { args: [...parsed.optionWords, '--', ...orMatchNothing(visible)] }
    : undefined;
};

/** The visible refs that match the user's patterns; undefined when these match nothing hidden. */
function namesThatMatch(view: View, parsed: ParsedOptions): readonly string[] | undefined {
  const kinds = parsed.options.filter(({ name }) => ['heads', 'branches', 'tags', 'head'].includes(name));
  // git before 2.46 calls --branches --heads.
  const flags = kinds.map(({ name }) => `--${name === 'branches' ? 'heads' : name}`);
  const { stdout } = view.ask(['show-ref', ...flags, '--', ...parsed.args]);
  const lines = stdout.split('\n').filter(Boolean);
  const names = lines.map((line) => line.slice(line.indexOf(' ') + 1));
  return visibleAmong(names, view)?.filter((name) => name !== 'HEAD');
}

/** for-each-ref can print the plain list and that of `-d`. */
function asForEachRef(parsed: ParsedOptions, roots: readonly string[], view: View): Rewrite | undefined {
  const known = ['heads', 'branches', 'tags', 'dereference'];
  if (parsed.args.length > 0 || !parsed.options.every((option) => known.includes(option.name)))
    return undefined;
  const peeled = '%(if)%(*objectname)%(then)%0a%(*objectname) %(refname)^{}%(end)';
  const format = `%(objectname) %(refname)${hasOption(parsed, 'dereference') ? peeled : ''}`;
  const list = forEachRef([`--format=${format}`, ...roots], view);
  return list && { command: 'for-each-ref', args: list.args };
}
