/**
 * Reads a command's words as git's parse-options does: unique prefixes of long options, `--no-…`, bundled short
 * options, values attached or as the next word, options and arguments mixed. Undefined wherever git would complain or
 * the table does not know the word; the caller then lets git have the line as it is.
 */
import { once } from '../../once.ts';

/**
 * One option: `sort=` needs a value, `color?` takes one only attached, `contains~` takes the next word where there is
 * one, `delete` takes none. A short option stands in front: `i|ignore-case`. `!` in front: there is no `--no-` form.
 */
export type OptionTable = () => ReadonlyMap<string, OptionSpec>;

export interface OptionSpec {
  readonly name: string;
  readonly takes: 'nothing' | 'required' | 'attached' | 'last';
  readonly negatable: boolean;
}

export interface OptionWord {
  /** The long name (`no-` in front where negated), or the letter of an option that has only that. */
  readonly name: string;
  readonly value: string | undefined;
  /** Index of its word, and of the word after it and its value. Bundled short options share a word. */
  readonly at: number;
  readonly end: number;
  /** Its word and value as given. */
  readonly words: readonly string[];
}

type Read = Omit<OptionWord, 'words'>;

export interface Scan {
  readonly options: readonly OptionWord[];
  readonly args: readonly string[];
  /** The words that are options and their values, as given; no `--`. */
  readonly optionWords: readonly string[];
}

/** Parsed when it is first used: a command line needs one table of them all. */
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

export function scanOptions(
  words: readonly string[],
  table: OptionTable,
  stopAtArgument = false,
): Scan | undefined {
  const options: OptionWord[] = [];
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
    const read = word.startsWith('--') ? readLong(words, i, table) : readShort(words, i, table);
    if (read === undefined) return undefined;
    const end = (read.at(-1) as Read).end;
    const given = words.slice(i, end);
    options.push(...read.map((option) => ({ ...option, words: given })));
    optionWords.push(...given);
    i = end - 1;
  }
  return { options, args, optionWords };
}

function readLong(words: readonly string[], at: number, table: OptionTable): Read[] | undefined {
  const word = words[at] as string;
  const equals = word.indexOf('=');
  const given = equals === -1 ? word : word.slice(0, equals);
  const attached = equals === -1 ? undefined : word.slice(equals + 1);
  const found = lookUp(given, table);
  if (found === undefined) return undefined;
  const { spec, negated } = found;
  const name = negated ? `no-${spec.name}` : spec.name;
  if (negated || spec.takes === 'nothing') {
    return attached === undefined ? [{ name, value: undefined, at, end: at + 1 }] : undefined;
  }
  if (attached !== undefined || spec.takes === 'attached')
    return [{ name, value: attached, at, end: at + 1 }];
  return valueFromNext(words, at, name, spec);
}

function lookUp(given: string, table: OptionTable): { spec: OptionSpec; negated: boolean } | undefined {
  const exact = table().get(given);
  if (exact !== undefined) return { spec: exact, negated: false };
  const found = new Map<string, { spec: OptionSpec; negated: boolean }>();
  for (const [word, spec] of table()) {
    if (!word.startsWith('--')) continue;
    if (word.startsWith(given)) found.set(word, { spec, negated: false });
    if (!spec.negatable) continue;
    const no = `--no-${spec.name}`;
    if (no === given) return { spec, negated: true };
    if (no.startsWith(given)) found.set(no, { spec, negated: true });
  }
  return found.size === 1 ? found.values().next().value : undefined;
}

function readShort(words: readonly string[], at: number, table: OptionTable): Read[] | undefined {
  const word = words[at] as string;
  const read: Read[] = [];
  for (let i = 1; i < word.length; i++) {
    const spec = table().get(`-${word[i]}`);
    if (spec === undefined) return undefined;
    const rest = word.slice(i + 1);
    if (spec.takes === 'nothing') {
      read.push({ name: spec.name, value: undefined, at, end: at + 1 });
      continue;
    }
    if (rest !== '' || spec.takes === 'attached') {
      return [...read, { name: spec.name, value: rest === '' ? undefined : rest, at, end: at + 1 }];
    }
    const last = valueFromNext(words, at, spec.name, spec);
    return last === undefined ? undefined : [...read, ...last];
  }
  return read;
}

function valueFromNext(
  words: readonly string[],
  at: number,
  name: string,
  spec: OptionSpec,
): Read[] | undefined {
  const next = words[at + 1];
  if (next === undefined) {
    return spec.takes === 'last' ? [{ name, value: undefined, at, end: at + 1 }] : undefined;
  }
  return [{ name, value: next, at, end: at + 2 }];
}

/**
 * The option words with something to follow them: a last `--contains` without a value would swallow the next word, so
 * it gets the value that git would have given it.
 */
export function closedOptionWords(scan: Scan, table: OptionTable): string[] {
  const words = [...scan.optionWords];
  const last = scan.options.at(-1);
  if (last === undefined || last.value !== undefined || table().get(`--${last.name}`)?.takes !== 'last')
    return words;
  const word = words.at(-1) as string;
  return [...words.slice(0, -1), word.startsWith('--') ? `${word}=HEAD` : `${word}HEAD`];
}

export function hasOption(scan: Scan, ...names: string[]): boolean {
  return scan.options.some((option) => names.includes(option.name));
}

/** The last of several options that override each other. */
export function lastOption(scan: Scan, ...names: string[]): OptionWord | undefined {
  return scan.options.findLast((option) => names.includes(option.name));
}

/** The option words less some options; undefined where one of those shares its word with another. */
export function withoutOptions(scan: Scan, ...names: string[]): string[] | undefined {
  const isDropped = (option: OptionWord) => names.includes(option.name.replace(/^no-/, ''));
  const dropped = new Set(scan.options.filter(isDropped).map((option) => option.at));
  const kept = scan.options.filter((option) => !isDropped(option));
  if (kept.some((option) => dropped.has(option.at))) return undefined;
  return kept.filter((option, i) => kept[i - 1]?.at !== option.at).flatMap((option) => option.words);
}
