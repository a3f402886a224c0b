/** git tag, its list forms: as branch, below refs/tags/. Only `agtsessions/` tags of an agent are hidden. */
import { canComplement, complement, escapeGlob } from '../../filter/globs.ts';
import { TAGS } from '../../git/files/refnames.ts';
import { closedOptionWords, hasOption, optionTable, scanOptions } from '../command-line/options.ts';
import { namespacesUnder } from '../view/view.ts';
import type { Rule } from './rule.ts';
import { fits, NOTHING } from './words.ts';

export const TAG_OPTIONS = optionTable(`
  !l|list n? !d|delete !v|verify a|annotate m|message= F|file= e|edit s|sign cleanup= u|local-user= f|force
  create-reflog column? !contains~ !no-contains~ !with~ !without~ !merged~ !no-merged~ sort= points-at~ format= color?
  i|ignore-case omit-empty trailer=`);

const LISTING = [
  'list',
  'n',
  'contains',
  'no-contains',
  'with',
  'without',
  'merged',
  'no-merged',
  'points-at',
];
const CREATING = ['annotate', 'message', 'file', 'edit', 'sign', 'local-user', 'force', 'trailer'];

export const tag: Rule = (args, view) => {
  const hidden = namespacesUnder(view, TAGS);
  const scan = hidden.length === 0 ? undefined : scanOptions(args, TAG_OPTIONS);
  if (scan === undefined || hasOption(scan, 'delete', 'verify')) return undefined;
  const listing = hasOption(scan, ...LISTING);
  if (!hasOption(scan, 'list') && hasOption(scan, ...CREATING)) return undefined;
  if (!listing && scan.args.length > 0) return undefined;

  const folding = hasOption(scan, 'ignore-case');
  let patterns = complement(hidden);
  if ((scan.args.length > 0 && !scan.args.includes('*')) || folding || !canComplement(hidden)) {
    const flags = folding ? ['--ignore-case'] : [];
    const format = ['--no-column', '--no-color', '--format=%(refname)'];
    const { stdout } = view.ask(['tag', '--list', ...flags, ...format, '--', ...scan.args]);
    const lines = stdout.split('\n').filter(Boolean);
    const visible = lines.filter((line) => !view.isHidden(line));
    if (visible.length === lines.length) return undefined;
    patterns = visible.length === 0 ? [NOTHING] : visible.map((line) => escapeGlob(line.slice(TAGS.length)));
  }
  if (!fits(patterns)) return undefined;
  return { args: [...closedOptionWords(scan, TAG_OPTIONS), '--list', '--', ...patterns] };
};
