/**
 * Understands the command line that needs no rules: words that are whole names of options, each value a word of its own.
 * Everything else (short options, `--no-x`, `--x=y`, arguments, quotes, mistakes, help) is left to yargs, which takes a
 * tenth of the time of a small capture.
 */
import { type Command, commandName } from './command.ts';

export interface ParsedCommandLine {
  readonly command: Command;
  /** As yargs would give them to the command. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** Undefined where it takes yargs to tell. */
export function parseWithoutYargs(
  commands: readonly Command[],
  words: readonly string[],
): ParsedCommandLine | undefined {
  const command = commands.find((one) => isCalled(commandName(one).split(' '), words));
  if (command === undefined || !hasPlainOptions(command)) return undefined;
  const { options = {} } = command;
  const args: Record<string, unknown> = Object.fromEntries(
    Object.entries(options).flatMap(([name, option]) =>
      'default' in option ? [[name, option.default]] : [],
    ),
  );
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

function isCalled(name: readonly string[], words: readonly string[]): boolean {
  return name.every((word, at) => words[at] === word);
}

/** Whether nothing is asked of its options, or done with them, but what is understood here. */
function hasPlainOptions({ usage, options, positionals }: Command): boolean {
  const known = ['type', 'default', 'describe', 'alias', 'array'];
  return (
    !/<|\.\./.test(usage) &&
    Object.values(positionals ?? {}).every((positional) => !('default' in positional)) &&
    Object.values(options ?? {}).every(
      (option) =>
        ['boolean', 'string'].includes(option.type ?? '') &&
        Object.keys(option).every((key) => known.includes(key)),
    )
  );
}
