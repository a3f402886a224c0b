/** git tag when it lists, as branch.ts. Only tags in the namespace of shadow branches (`agtsessions/`) are hidden. */
import { areAscii, escapeGlob, globsOutside } from '../../filter/globs.ts';
import { TAGS } from '../../git/files/ref-files.ts';
import { hasOption, optionTable, optionWordsBeforeArguments, parseOptions } from '../command-line/options.ts';
import { namespacesUnder, type View } from '../view/view.ts';
import { fitsCommandLine, orMatchNothing, visibleAmong } from './arguments.ts';
import type { Rule } from './rule.ts';

export const OPTIONS = optionTable(`
  !l|list n? !d|delete !v|verify a|annotate m|message= F|file= e|edit s|sign cleanup= u|local-user= f|force
  create-reflog column? !contains~ !no-contains~ !with~ !without~ !merged~ !no-merged~ sort= points-at~ format= color?
  i|ignore-case omit-empty trailer=`);

/** With one of these, an argument is a pattern and not the name of a new tag. */
export const LISTING = 'list n contains no-contains with without merged no-merged points-at'.split(' ');
const CREATING = 'annotate message file edit sign local-user force trailer'.split(' ');
/** With one of these, the line is no list, or a list of other tags. */
export const SHAPING = [...CREATING, ...'delete verify ignore-case cleanup create-reflog'.split(' ')];

export const tag: Rule = (args, view) => {
  const hidden = namespacesUnder(view, TAGS);
  const parsed = hidden.length === 0 ? undefined : parseOptions(args, OPTIONS);
  if (parsed === undefined || hasOption(parsed, 'delete', 'verify')) return undefined;
  if (!hasOption(parsed, 'list') && hasOption(parsed, ...CREATING)) return undefined;
  if (parsed.args.length > 0 && !hasOption(parsed, ...LISTING)) return undefined;

  const ignoreCase = hasOption(parsed, 'ignore-case');
  const everything = parsed.args.length === 0 || parsed.args.includes('*');
  const patterns =
    everything && !ignoreCase && areAscii(hidden)
      ? globsOutside(hidden)
      : visibleMatches(view, ignoreCase, parsed.args);
  if (patterns === undefined || !fitsCommandLine(patterns)) return undefined;
  return { args: [...optionWordsBeforeArguments(parsed, OPTIONS), '--list', '--', ...patterns] };
};

/** Globs for the visible tags that match the user's patterns; undefined when these match nothing hidden. */
function visibleMatches(
  view: View,
  ignoreCase: boolean,
  patterns: readonly string[],
): readonly string[] | undefined {
  const flags = ignoreCase ? ['--ignore-case'] : [];
  const format = ['--no-column', '--no-color', '--format=%(refname)'];
  const { stdout } = view.ask(['tag', '--list', ...flags, ...format, '--', ...patterns]);
  const visible = visibleAmong(stdout.split('\n').filter(Boolean), view);
  return visible && orMatchNothing(visible.map((ref) => escapeGlob(ref.slice(TAGS.length))));
}
