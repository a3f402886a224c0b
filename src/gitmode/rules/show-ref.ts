/**
 * git show-ref. Its patterns have no wildcards and match the end of a name, so the rule adds the full names of visible
 * refs. git compares each ref with each name; when there are many, for-each-ref prints the same lines in linear time.
 */

import { HEADS, TAGS } from '../../git/files/ref-files.ts';
import { hasOption, optionTable, type ParsedOptions, parseOptions } from '../command-line/options.ts';
import type { View } from '../view/view.ts';
import { forEachRef } from './for-each-ref.ts';
import { fitsCommandLine, orMatchNothing, type Rewrite, type Rule, visibleAmong } from './rule.ts';

const SHOW_REF_OPTIONS = optionTable(`
  tags heads branches exists verify head d|dereference s|hash? abbrev? q|quiet exclude-existing?`);

/** With more names, for-each-ref is faster. */
const MAX_NAMES = 500;

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
    parsed.args.length === 0 ? view.visibleRefs().filter(isUnderRoots) : visibleMatches(view, parsed);
  if (visible === undefined) return undefined;
  const linear = visible.length > MAX_NAMES ? asForEachRef(parsed, roots, view) : undefined;
  if (linear !== undefined) return linear;
  return fitsCommandLine(visible)
    ? { args: [...parsed.optionWords, '--', ...orMatchNothing(visible)] }
    : undefined;
};

/** The visible refs that match the user's patterns; undefined when these match nothing hidden. */
function visibleMatches(view: View, parsed: ParsedOptions): readonly string[] | undefined {
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
  return list !== undefined && 'args' in list ? { command: 'for-each-ref', args: list.args } : undefined;
}
