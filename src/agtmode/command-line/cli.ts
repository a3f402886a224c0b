/** Turns the declarations of commands into a yargs parser, strict and without the conversions that suit no git tool. */
import yargs, { type Argv } from 'yargs';
import { usageError } from '../../errors.ts';
import type { Program } from '../program.ts';
import { type Command, commandName } from './command.ts';

export interface ParserRun {
  exitCode: number;
}

/** A parser that runs the command it finds and notes its exit code. */
export function makeParser(commands: readonly Command[], program: Program, outcome: ParserRun): Argv {
  const parser = configure(yargs().scriptName('agt'));
  for (const [parent, children] of families(commands)) {
    if (parent === undefined)
      for (const command of children) register(parser, command, command.usage, program, outcome);
    else {
      parser.command(
        parent,
        `${children.map((child) => commandName(child).split(' ')[1]).join(', ')}`,
        (inner) => {
          configure(inner);
          for (const child of children) {
            register(inner, child, child.usage.slice(parent.length + 1), program, outcome);
          }
          return inner.demandCommand(1, `which command of agt ${parent}?`);
        },
      );
    }
  }
  return parser.completion('completion', false).fail((message, error) => {
    if (error && error.name !== 'YError') throw error;
    throw usageError(rephrase(message ?? error.message), 'see: agt help');
  });
}

/** yargs' complaints in the manner of git's. */
function rephrase(message: string): string {
  const unknown = /^Unknown (argument|command)s?: (.*)$/.exec(message);
  if (unknown !== null)
    return `unknown ${unknown[1] === 'command' ? 'command' : 'option or argument'} '${unknown[2]}'`;
  const few = /^Not enough non-option arguments/.test(message);
  return few ? 'an argument is missing' : message.charAt(0).toLowerCase() + message.slice(1);
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
    .wrap(Math.min(100, process.stdout.columns ?? 100));
}

function register(parser: Argv, command: Command, usage: string, program: Program, outcome: ParserRun): void {
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
          throw usageError(`--${name} given more than once`, 'give it once');
      }
      outcome.exitCode = await command.run(args as never, program);
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

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
