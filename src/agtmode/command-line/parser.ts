/** Turns the declarations of commands into a yargs parser, strict and without the conversions that suit no git tool. */
import yargs, { type Argv } from 'yargs';
import { usageError } from '../../errors.ts';
import type { Context } from '../context.ts';
import { sentence } from '../output/format.ts';
import { type Command, commandName } from './command.ts';

export interface ParserRun {
  exitCode: number;
}

/** A parser that runs the command it finds and notes its exit code. */
export function makeParser(commands: readonly Command[], context: Context, outcome: ParserRun): Argv {
  const parser = configure(yargs().scriptName('agt'));
  for (const [parent, children] of families(commands)) {
    if (parent === undefined)
      for (const command of children) register(parser, command, command.usage, context, outcome);
    else {
      parser.command(parent, FAMILY_SUMMARIES[parent] ?? '', (inner) => {
        configure(inner);
        for (const child of children) {
          register(inner, child, child.usage.slice(parent.length + 1), context, outcome);
        }
        return inner.demandCommand(1, `no command after "agt ${parent}"`);
      });
    }
  }
  return parser.completion('completion', false).fail((message, error) => {
    if (error && error.name !== 'YError') throw error;
    throw usageError(rephrase(message ?? error.message), 'see: agt help');
  });
}

/** Shown above the commands of a family. */
const FAMILY_SUMMARIES: Readonly<Record<string, string>> = {
  session: 'create, inspect, restore, export and remove sessions',
  config: 'list, read and change settings',
  cron: 'autocommit sessions from cron',
  shim: 'install the git script for the PATH of your agents',
};

/** The messages of yargs, in the manner of git. */
function rephrase(message: string): string {
  const unknown = /^Unknown (argument|command)s?: (.*)$/.exec(message);
  if (unknown !== null)
    return `unknown ${unknown[1] === 'command' ? 'command' : 'option or argument'} "${unknown[2]}"`;
  const withoutValue = /^Not enough arguments following: (.*)$/.exec(message)?.[1];
  if (withoutValue !== undefined) return `option "--${withoutValue}" needs a value`;
  const required = /^Missing required arguments?: (.*)$/.exec(message)?.[1];
  if (required !== undefined) return `option "--${required}" is required`;
  const choice = /Argument: (\S+), Given: (.*), Choices: (.*)/.exec(message);
  if (choice !== null)
    return `invalid value ${choice[2]} for option "--${choice[1]}"; choose from ${choice[3]}`;
  if (/^Not enough non-option arguments/.test(message)) return 'an argument is missing';
  return message.charAt(0).toLowerCase() + message.slice(1);
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
    .wrap(Math.min(100, process.stdout.columns ?? 100));
}

function register(parser: Argv, command: Command, usage: string, context: Context, outcome: ParserRun): void {
  parser.command(
    usage,
    command.summary,
    (inner) => {
      inner.usage(`agt ${command.usage} [options]\n\n${command.description ?? sentence(command.summary)}`);
      for (const [name, positional] of Object.entries(command.positionals ?? {}))
        inner.positional(name, positional);
      for (const [name, option] of Object.entries(command.options ?? {})) {
        inner.option(name, { ...option, requiresArg: option.type === 'string' });
      }
      for (const [line, what] of command.examples) inner.example(line.replace(/^agt/, '$0'), what);
      return inner;
    },
    async (args) => {
      for (const name of Object.keys({ ...command.options, ...command.positionals })) {
        const many = command.options?.[name]?.array === true || /\.\./.test(usage);
        if (Array.isArray(args[name]) && !many)
          throw usageError(`option "--${name}" is given more than once`);
      }
      outcome.exitCode = await command.run(args as never, context);
    },
  );
}

/** Commands by their first word; those of one word stand under undefined. */
function families(commands: readonly Command[]): Map<string | undefined, Command[]> {
  return Map.groupBy(commands, (command) => {
    const words = commandName(command).split(' ');
    return words.length > 1 ? words[0] : undefined;
  });
}
