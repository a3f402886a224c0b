/** Makes a yargs parser from the declarations of commands: strict, and without conversions (`1e5` is a branch name). */
import yargs, { type Argv } from 'yargs';
import { usageError } from '../../errors.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { writer } from '../../process/streams.ts';
import { didYouMean } from '../../similar.ts';
import { sentence } from '../output/format.ts';
import { type Command, commandName, findCommand, usageOf } from './command.ts';
import { splitAtRest } from './parse-without-yargs.ts';
import { withValueNames } from './value-names.ts';

/** Wider lines are hard to read. */
const MAX_HELP_COLUMNS = 100;

/** Shown above the commands of a family in its help. */
const FAMILY_SUMMARIES: Readonly<Record<string, string>> = {
  bisect: 'find the first snapshot at which a command fails',
  snapshot: 'record any folder, and go back',
  session: 'create, inspect, restore, export and remove sessions',
  config: 'list, read and change settings',
  hooks: 'let agents record what they do, without a word',
  key: 'your key, with which sessions on a remote are encrypted',
  cron: 'autocommit sessions from cron',
  shim: 'install the git script for the PATH of your agents',
};

/** The parser calls `run` with the command that it finds and the parsed arguments. */
export type RunCommand = (command: Command, args: never) => Promise<void>;

/** Undefined if the words ask for help, which yargs has printed then. @throws AgtError */
export async function parseWithYargs(commands: readonly Command[], given: string[]) {
  refuseLongLetters(commands, given);
  const words = withoutValuesOfFlags(commands, given);
  let parsed: { readonly command: Command; readonly args: Record<string, unknown> } | undefined;
  const parser = makeParser(commands, words, async (command, args) => {
    parsed = { command, args };
  });
  const command = findCommand(commands, words);
  await parser.parseAsync(words, {}, (_error, _args, help) => {
    if (help !== '') writer(1)(`${command === undefined ? help : withValueNames(help, command)}\n`);
  });
  return parsed;
}

/** `words` is the command line, for messages about it. */
export function makeParser(commands: readonly Command[], words: readonly string[], run: RunCommand) {
  const parser = configure(yargs().scriptName('agt'));
  for (const [family, members] of groupByFamily(commands)) {
    if (family === undefined) for (const command of members) register(parser, command, command.usage, run);
    else registerFamily(parser, family, members, run);
  }
  return parser.fail((message, error) => {
    if (error && error.name !== 'YError') throw error;
    const command = findCommand(commands, words);
    const problem = message ?? error.message;
    const reason = rephrase(problem, command, words);
    const word = /^unknown argument "(.*)"$/.exec(reason)?.[1];
    const at = words.indexOf(word ?? '');
    const path = [...words.slice(0, at), '--', ...words.slice(at)].map(shellQuote).join(' ');
    const isPath = command?.takesRest === 'paths' && at > 0 && !words.includes('--');
    const ofPath = isPath ? `if that is a path: agt ${path}` : undefined;
    const excess = (word !== undefined && (command?.excess?.replace('WORD', () => word) ?? ofPath)) || [];
    const list = `${words.join(' ')} list`;
    const hasList = commands.some((one) => commandName(one) === list);
    throw usageError(
      reason,
      ...(command === undefined && hasList ? [`to list what there is: agt ${list}`] : []),
      ...suggestions(problem, commands, command, words),
      ...[excess].flat(),
      helpHint(command, words),
    );
  });
}

/** By the first of two words, with the command of that word alone; the others under undefined. */
function groupByFamily(commands: readonly Command[]): Map<string | undefined, Command[]> {
  const names = commands.map(commandName);
  return Map.groupBy(commands, (command) => {
    const [first = ''] = commandName(command).split(' ');
    return names.some((name) => name.startsWith(`${first} `)) ? first : undefined;
  });
}

function configure(parser: Argv): Argv {
  return parser
    .parserConfiguration({
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'dot-notation': false,
      'camel-case-expansion': false,
      'duplicate-arguments-array': true,
      'populate--': true,
    })
    .strict()
    .version(false)
    .help('help')
    .alias('help', 'h')
    .exitProcess(false)
    .showHelpOnFail(false)
    .updateStrings({ 'Positionals:': 'Arguments:', 'Show help': 'show this help' })
    .wrap(columns());
}

function columns(): number {
  return Math.min(MAX_HELP_COLUMNS, process.stdout.columns ?? MAX_HELP_COLUMNS);
}

function registerFamily(parser: Argv, family: string, members: readonly Command[], run: RunCommand): void {
  parser.command(family, sentence(FAMILY_SUMMARIES[family] ?? ''), (inner) => {
    configure(inner);
    const own = members.find((command) => commandName(command) === family);
    for (const command of members) {
      const usage = command.usage.slice(family.length + 1);
      register(inner, command, command === own ? `$0 ${usage}` : usage, run);
    }
    return own === undefined ? inner.demandCommand(1, `no command after "agt ${family}"`) : inner;
  });
}

function register(parser: Argv, command: Command, usage: string, run: RunCommand): void {
  parser.command(
    usage,
    command.summary,
    (inner) => describe(inner, command),
    async (args) => {
      refuseRepeatedOptions(command, args);
      takeRest(command, args);
      await run(command, args as never);
    },
  );
}

function describe(parser: Argv, command: Command): Argv {
  parser.usage(`${usageOf(command)}\n\n${command.description ?? sentence(command.summary)}`);
  for (const [name, positional] of Object.entries(command.positionals ?? {}))
    parser.positional(name, positional);
  for (const [name, option] of Object.entries(command.options ?? {}))
    parser.option(name, { ...option, requiresArg: option.type === 'string' });
  for (const [line, purpose] of command.examples) {
    const example = line.replace(/^agt/, '$0');
    // yargs would break it, and a part of a command may run.
    if (line.length > columns() / 2) parser.example(`# ${purpose}`, '').example(example, '');
    else parser.example(example, purpose);
  }
  return parser;
}

/** yargs makes an array of an option that is given twice. */
function refuseRepeatedOptions({ usage, options, positionals }: Command, args: Record<string, unknown>) {
  for (const name of Object.keys({ ...options, ...positionals })) {
    const takesMany = options?.[name]?.array === true || /\.\./.test(usage);
    if (Array.isArray(args[name]) && !takesMany)
      throw usageError(`option "--${name}" is given more than once`);
  }
}

/** As with git, an argument after `--` may begin with a hyphen. A word too many would count for nothing. */
function takeRest(command: Command, args: Record<string, unknown>): void {
  if (command.takesRest !== undefined) return;
  const rest = [...((args['--'] ?? []) as unknown[])];
  const ofPaths = command.elsewhere?.['--path'];
  for (const [name, { array }] of ofPaths ? [] : Object.entries(command.positionals ?? {}))
    if (array && rest.length > 0) args[name] = [...((args[name] ?? []) as unknown[]), ...rest.splice(0)];
    else args[name] ??= rest.shift();
  const [word] = rest;
  if (word !== undefined)
    throw usageError(
      `unexpected argument "${word}" after --`,
      ...(ofPaths ? [`use: ${ofPaths}`] : []),
      helpHint(command, []),
    );
}

/** Without a command, the words begin with the name of a family. */
function helpHint(command: Command | undefined, [family]: readonly string[]): string {
  return command === undefined ? `see: agt help ${family}` : `see: agt ${commandName(command)} --help`;
}

/** yargs takes `--n` for `-n`. */
function refuseLongLetters(commands: readonly Command[], words: readonly string[]): void {
  const letter = splitAtRest(words)[0].find((word) => /^--[a-z](=|$)/.test(word));
  if (letter !== undefined)
    throw usageError(`unknown option "${letter}"`, helpHint(findCommand(commands, words), words));
}

/** yargs takes any value but `true` for `false`. A number that a flag may have becomes a word of its own: `--turn=3`. */
function withoutValuesOfFlags(commands: readonly Command[], words: readonly string[]): string[] {
  const command = findCommand(commands, words);
  const { length } = splitAtRest(words)[0];
  return words.flatMap((word, i) => {
    const [, given = '', value = ''] = /^--?([a-z-]+)=(.*)$/is.exec(i < length ? word : '') ?? [];
    const found = Object.entries(command?.options ?? {}).find(
      ([name, { alias }]) => name === given.replace(/^no-/, '') || alias === given,
    );
    if (found === undefined || found[1].type !== 'boolean' || ['', 'true', 'false'].includes(value))
      return word;
    const [name, { valueName }] = found;
    if (valueName !== undefined && name === given) return [`--${name}`, value];
    throw usageError(`option "--${name}" takes no value, and "${value}" is given`, helpHint(command, words));
  });
}

function suggestions(
  message: string,
  commands: readonly Command[],
  command: Command | undefined,
  words: readonly string[],
): string[] {
  const valued = /^Not enough arguments following: (..+)$/.exec(message)?.[1];
  const value = words[words.indexOf(`--${valued}`) + 1];
  if (valued && value?.startsWith('-')) return [`if ${value} is the value: --${valued}=${shellQuote(value)}`];
  const unknown = /^Unknown (?:argument|command)s?: ([^,]*)/.exec(message)?.[1];
  if (unknown === undefined) return [];
  if (command === undefined) {
    const family = `${words[0]} `;
    const names = commands.map(commandName).filter((name) => name.startsWith(family));
    const seconds = names.map((name) => name.slice(family.length));
    return didYouMean(unknown, seconds, `agt ${family}`);
  }
  const isOption = words.some((word) => word === `--${unknown}` || word.startsWith(`--${unknown}=`));
  const { elsewhere = {} } = command;
  const other = elsewhere[isOption ? `--${unknown}` : `-${unknown}`] ?? elsewhere[words[1] ?? ''];
  if (other !== undefined) return [`use: ${other}`];
  const meant = isOption ? didYouMean(unknown, Object.keys(command.options ?? {}), '--') : [];
  if (meant.length === 0 && command.takesRest === 'command' && !words.includes('--'))
    return ['put the command to run, with its options, after --'];
  if (meant.length > 0 || command.otherOptions === undefined) return meant;
  return [`git's own command may have it: ${command.otherOptions}`];
}

/** A message of yargs, in the manner of git. */
function rephrase(message: string, command: Command | undefined, words: readonly string[]): string {
  const unknown = /^Unknown (argument|command)s?: (.*)$/.exec(message);
  if (unknown !== null && command === undefined) return `unknown command "${words.slice(0, 2).join(' ')}"`;
  if (unknown !== null) return describeUnknown((unknown[2] ?? '').split(', '), words);
  const withoutValue = /^Not enough arguments following: (.*)$/.exec(message)?.[1];
  if (withoutValue !== undefined)
    return `option "${withoutValue.length === 1 ? '-' : '--'}${withoutValue}" needs a value`;
  const required = /^Missing required arguments?: (.*)$/.exec(message)?.[1];
  if (required !== undefined) return `option "--${required}" is required`;
  const choice = /Argument: (\S+), Given: (.*), Choices: (.*)/.exec(message);
  if (choice !== null)
    return `invalid value ${choice[2]} for option "--${choice[1]}"; choose from ${choice[3]}`;
  const missing = /^Not enough non-option arguments: got (\d+)/.exec(message);
  const needed = command?.usage.match(/<[^>]+>/g) ?? [];
  if (missing !== null) return `${needed[Number(missing[1])] ?? 'an argument'} is missing`;
  return message.charAt(0).toLowerCase() + message.slice(1);
}

/** yargs names options without their dashes. */
function describeUnknown(names: readonly string[], words: readonly string[]): string {
  const asGiven = (name: string) =>
    words.find((word) => word === `--${name}` || word.startsWith(`--${name}=`)) ??
    words.find((word) => name.length === 1 && /^-[^-]/.test(word) && word.includes(name));
  const [name = ''] = names;
  const option = asGiven(name);
  if (option === undefined) return `unknown argument "${name}"`;
  return `unknown option "${option.startsWith('--') ? `--${name}` : `-${name}`}"`;
}
