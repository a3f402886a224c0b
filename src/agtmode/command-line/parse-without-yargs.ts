/**
 * Parses command lines that need no rules: full option names, and each value a word of its own. Everything else (short
 * options, `--no-x`, `--x=y`, positional arguments, quotes, mistakes, help) needs yargs, and loading yargs takes a tenth
 * of the time of a small autocommit.
 */
import { type Command, commandName, findCommand } from './command.ts';

export interface ParsedCommandLine {
  readonly command: Command;
  /** As yargs would give them to the command. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** Undefined if the command line needs yargs. */
export function parseWithoutYargs(
  commands: readonly Command[],
  words: readonly string[],
): ParsedCommandLine | undefined {
  const command = findCommand(commands, words);
  if (command === undefined || !hasPlainOptions(command)) return undefined;
  const { options = {} } = command;
  const args = defaultsOf(command);
  const given = new Set<string>();
  const rest = words.slice(commandName(command).split(' ').length);
  while (rest.length > 0) {
    const name = /^--([a-z]+(?:-[a-z]+)*)$/.exec(rest.shift() ?? '')?.[1] ?? '';
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined || (given.has(name) && option.array !== true)) return undefined;
    if (option.type === 'boolean') args[name] = true;
    else {
      const value = rest.shift() ?? '';
      if (!/^[^-'"][^'"]*$/.test(value)) return undefined;
      if (option.array !== true) args[name] = value;
      else args[name] = given.has(name) ? [...(args[name] as string[]), value] : [value];
    }
    given.add(name);
  }
  return { command, args };
}

function defaultsOf({ options = {} }: Command): Record<string, unknown> {
  const withDefault = Object.entries(options).filter(([, option]) => 'default' in option);
  return Object.fromEntries(withDefault.map(([name, option]) => [name, option.default]));
}

/** Features of options that parseWithoutYargs handles as yargs does. */
const HANDLED = ['type', 'default', 'describe', 'alias', 'array'];

function hasPlainOptions({ usage, options, positionals }: Command): boolean {
  return (
    !/<|\.\./.test(usage) &&
    Object.values(positionals ?? {}).every((positional) => !('default' in positional)) &&
    Object.values(options ?? {}).every(
      (option) =>
        ['boolean', 'string'].includes(option.type ?? '') &&
        Object.keys(option).every((key) => HANDLED.includes(key)),
    )
  );
}
