/**
 * Parses command lines that need no rules: full option names, each value a word of its own, and plain arguments. Everything else
 * needs yargs, which takes a tenth of the time of a small autocommit to load.
 */
import { type Command, commandName, findCommand } from './command.ts';

/** The arguments as yargs would give them to the command; undefined if the command line needs yargs. */
export function parseWithoutYargs(commands: readonly Command[], words: readonly string[]) {
  const command = findCommand(commands, words);
  if (command === undefined || /<|\.\./.test(command.usage)) return undefined;
  const { options = {} } = command;
  const positionals = plainPositionals(command);
  const withDefault = Object.entries(options).filter(([, option]) => 'default' in option);
  const args: Record<string, unknown> = Object.fromEntries(
    withDefault.map(([name, option]) => [name, option.default]),
  );
  const given = new Set<string>();
  const rest = words.slice(commandName(command).split(' ').length);
  // yargs takes all the words that follow for an option that may be repeated.
  let isList = false;
  while (rest.length > 0) {
    const word = rest.shift() ?? '';
    if (isList && !word.startsWith('-')) return undefined;
    if (word === '--') {
      if (command.takesRest === undefined) return undefined;
      if (rest.length > 0) args['--'] = rest.splice(0);
      break;
    }
    const argument = PLAIN.test(word) && !NO_NAME.test(word) ? positionals.shift() : undefined;
    if (argument !== undefined) {
      args[argument] = word;
      continue;
    }
    const name = /^--([a-z]+(?:-[a-z]+)*)$/.exec(word)?.[1] ?? '';
    // One that is an argument as well may be given twice.
    const isArgument = Object.hasOwn(command.positionals ?? {}, name);
    const option = Object.hasOwn(options, name) && !isArgument ? options[name] : undefined;
    if (option === undefined || !isPlain(option) || (given.has(name) && option.array !== true))
      return undefined;
    if (option.type === 'boolean') args[name] = true;
    else {
      const value = rest.shift() ?? '';
      if (!PLAIN.test(value)) return undefined;
      args[name] = option.array === true ? [...((args[name] ?? []) as string[]), value] : value;
    }
    given.add(name);
    isList = option.array === true;
  }
  const isIncomplete = Object.entries(options).some(
    ([name, { demandOption }]) => demandOption && !given.has(name),
  );
  return isIncomplete ? undefined : { command, args };
}

/** No option, and nothing that yargs would take quotes from. */
const PLAIN = /^[^-'"][^'"]*$/;
/** yargs takes these for the value of a boolean option before them. */
const NO_NAME = /^(true|false)$/;

/** The names of the arguments, in their order, if each is one word that may be left out. */
function plainPositionals({ usage, positionals = {} }: Command): string[] {
  const names = Object.keys(positionals);
  const arePlain = Object.values(positionals).every(({ type, array }) => type === 'string' && array !== true);
  return arePlain && usage.endsWith(names.map((name) => ` [${name}]`).join('')) ? names : [];
}

type Option = NonNullable<Command['options']>[string];

function isPlain({ type, choices, nargs }: Option): boolean {
  return ['boolean', 'string'].includes(type ?? '') && choices === undefined && nargs === undefined;
}

/** The words before `--`, and those after it. */
export function splitAtRest(words: readonly string[]): [own: string[], rest: string[] | undefined] {
  const end = words.indexOf('--');
  return end < 0 ? [[...words], undefined] : [words.slice(0, end), words.slice(end + 1)];
}

/** Options of the agt of simbo1905 that have another name here: its scripts go on working. */
const NEW_NAMES = new Map([
  ['session-id', 'session'],
  ['id', 'session'],
  ['from', 'session'],
  ['commit', 'to'],
]);

export function withNewNames(commands: readonly Command[], words: readonly string[]): string[] {
  const options = findCommand(commands, words)?.options ?? {};
  const { length } = splitAtRest(words)[0];
  return words.map((word, i) => {
    const isOption = i < length;
    // As in git log -3.
    const isCount = /^-\d+$/.test(word) && !/^(-n|--number)$/.test(words[i - 1] ?? '');
    if (isCount && isOption && options.number?.alias === 'n') return `--number=${word.slice(1)}`;
    const [, old = '', value = ''] = /^--([a-z-]+)(=.*)?$/s.exec(word) ?? [];
    const name = NEW_NAMES.get(old);
    const isOld = isOption && name !== undefined && !Object.hasOwn(options, old);
    return isOld && Object.hasOwn(options, name) ? `--${name}${value}` : word;
  });
}

/**
 * Takes options of git, which a command of agt hands on as they are, out of a command line. A declaration has them in the notation of `git diff --git-completion-helper`: `=` if a
 * value is needed, which may be the next word; an option without it may have one in the same word.
 */
export function takeGitOptions(commands: readonly Command[], given: readonly string[]) {
  const { gitOptions: known, options = {} } = findCommand(commands, given) ?? {};
  const [words, gitOptions]: [string[], string[]] = [[], []];
  const left = [...given];
  while (known !== undefined && left.length > 0 && left[0] !== '--') {
    const isOwn = Object.hasOwn(options, left[0]?.replace(/^--/, '') ?? '');
    const length = isOwn ? 0 : lengthOfOption(known, left);
    (length > 0 ? gitOptions : words).push(...left.splice(0, length || 1));
  }
  return { words: [...words, ...left], gitOptions };
}

/** How many of the words are the option that they begin with. */
function lengthOfOption(known: ReadonlySet<string>, [word = '', next]: readonly string[]): number {
  const name = (/^--[^=]+/.exec(word) ?? /^-[a-zA-Z]/.exec(word) ?? [''])[0];
  const hasValue = word !== name;
  if (known.has(`${name}=`)) return hasValue || next === undefined ? 1 : 2;
  return known.has(name) && (!hasValue || /^--|^-[BMU]/.test(name)) ? 1 : 0;
}
