/**
 * Parses a command's words as git's parse-options does: unique prefixes of long options, `--no-…`, bundled short
 * options, values attached or as the next word, options and arguments mixed. The result is undefined when git would
 * complain, or when the table does not know an option: git then gets the line as it is.
 */
import { once } from '../../once.ts';

/** The options of a command, in the notation of optionTable(). */
export type OptionTable = () => ReadonlyMap<string, OptionSpec>;

interface OptionSpec {
  readonly name: string;
  readonly takes: 'nothing' | 'required' | 'attached' | 'last';
  readonly negatable: boolean;
}

export interface ParsedOption {
  /** The long name, with `no-` before it if negated; the letter of an option without a long name. */
  readonly name: string;
  readonly value: string | undefined;
  /** Its word and its value, as given. Bundled short options share them. */
  readonly words: readonly string[];
}

interface ReadOption extends Omit<ParsedOption, 'words'> {
  /** Its value is the next word. */
  readonly usesNext?: boolean;
}

export interface ParsedOptions {
  readonly options: readonly ParsedOption[];
  readonly args: readonly string[];
  /** All options and their values, as given, without `--`. */
  readonly optionWords: readonly string[];
}

/**
 * In the text `sort=` needs a value, `color?` takes only an attached one, `contains~` takes the next word if there is
 * one, and `delete` takes none. A short option goes first, as in `i|ignore-case`; `!` marks an option without a
 * `--no-` form. The text is parsed at its first use: a command line needs only one of the tables.
 */
export function optionTable(text: string): OptionTable {
  return once(() => parseTable(text));
}

function parseTable(text: string): Map<string, OptionSpec> {
  const table = new Map<string, OptionSpec>();
  for (const item of text.split(/\s+/).filter(Boolean)) {
    const match = /^(!?)(?:(.)\|)?([\w-]+?)([=?~]?)$/.exec(item);
    if (match === null) throw new Error(`bad option table entry ${item}`);
    const [, fixed, short, name = '', mark] = match;
    const takes = mark === '=' ? 'required' : mark === '?' ? 'attached' : mark === '~' ? 'last' : 'nothing';
    const spec: OptionSpec = { name, takes, negatable: fixed === '' };
    if (name.length > 1) table.set(`--${name}`, spec);
    if (short !== undefined || name.length === 1) table.set(`-${short ?? name}`, spec);
  }
  return table;
}

export function parseOptions(
  words: readonly string[],
  table: OptionTable,
  { stopAtArgument = false } = {},
): ParsedOptions | undefined {
  const options: ParsedOption[] = [];
  const args: string[] = [];
  const optionWords: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (word === '--' || word === '--end-of-options') {
      args.push(...words.slice(i + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      if (stopAtArgument) {
        args.push(...words.slice(i));
        break;
      }
      args.push(word);
      continue;
    }
    const readWord = word.startsWith('--') ? readLong : readShort;
    const read = readWord(word, words[i + 1], table);
    if (read === undefined) return undefined;
    const given = words.slice(i, i + (read.at(-1)?.usesNext === true ? 2 : 1));
    options.push(...read.map(({ name, value }) => ({ name, value, words: given })));
    optionWords.push(...given);
    i += given.length - 1;
  }
  return { options, args, optionWords };
}

type ReadWord = (word: string, next: string | undefined, table: OptionTable) => ReadOption[] | undefined;

const readLong: ReadWord = (word, next, table) => {
  const [given = '', attached] = word.split(/=(.*)/s);
  const found = lookUp(given, table);
  if (found === undefined) return undefined;
  const { spec, negated } = found;
  const name = negated ? `no-${spec.name}` : spec.name;
  if (negated || spec.takes === 'nothing')
    return attached === undefined ? [{ name, value: undefined }] : undefined;
  if (attached !== undefined || spec.takes === 'attached') return [{ name, value: attached }];
  return valueFromNext(spec, next);
};

/** A whole name, or the beginning of one name alone. */
function lookUp(given: string, table: OptionTable): { spec: OptionSpec; negated: boolean } | undefined {
  const exact = table().get(given);
  if (exact !== undefined) return { spec: exact, negated: false };
  const found = new Map<string, { spec: OptionSpec; negated: boolean }>();
  for (const [word, spec] of table()) {
    if (!word.startsWith('--')) continue;
    if (word.startsWith(given)) found.set(word, { spec, negated: false });
    const no = `--no-${spec.name}`;
    if (spec.negatable && no.startsWith(given)) found.set(no, { spec, negated: true });
  }
  return found.get(given) ?? (found.size === 1 ? found.values().next().value : undefined);
}

const readShort: ReadWord = (word, next, table) => {
  const read: ReadOption[] = [];
  for (let i = 1; i < word.length; i++) {
    const spec = table().get(`-${word[i]}`);
    if (spec === undefined) return undefined;
    const rest = spec.takes === 'nothing' ? '' : word.slice(i + 1);
    const isLast = rest === '' && (spec.takes === 'required' || spec.takes === 'last');
    const found = isLast ? valueFromNext(spec, next) : [{ name: spec.name, value: rest || undefined }];
    if (found === undefined) return undefined;
    read.push(...found);
    if (rest !== '') break;
  }
  return read;
};

function valueFromNext(spec: OptionSpec, next: string | undefined): ReadOption[] | undefined {
  if (next === undefined && spec.takes !== 'last') return undefined;
  return [{ name: spec.name, value: next, usesNext: next !== undefined }];
}

/** For a line on which more words follow: a last `--contains` without a value gets git's default value. */
export function optionWordsBeforeArguments(parsed: ParsedOptions, table: OptionTable): string[] {
  const words = [...parsed.optionWords];
  const last = parsed.options.at(-1);
  if (last === undefined || last.value !== undefined || table().get(`--${last.name}`)?.takes !== 'last')
    return words;
  const word = words.at(-1) as string;
  return [...words.slice(0, -1), word.startsWith('--') ? `${word}=HEAD` : `${word}HEAD`];
}

export function hasOption(parsed: ParsedOptions, ...names: string[]): boolean {
  return parsed.options.some((option) => names.includes(option.name));
}

/** The last of these options: it overrides the others. */
export function lastOption(parsed: ParsedOptions, ...names: string[]): ParsedOption | undefined {
  return parsed.options.findLast((option) => names.includes(option.name));
}

/** All options but these; undefined if one of these shares its word with another option. */
export function withoutOptions(parsed: ParsedOptions, ...names: string[]): string[] | undefined {
  const isDropped = (option: ParsedOption) => names.includes(option.name.replace(/^no-/, ''));
  const dropped = new Set(parsed.options.filter(isDropped).map((option) => option.words));
  const kept = new Set(parsed.options.filter((option) => !isDropped(option)).map((option) => option.words));
  return kept.isDisjointFrom(dropped) ? [...kept].flat() : undefined;
}
