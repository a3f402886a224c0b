/**
 * A command of agt: a declaration, from which agt makes the yargs parser, the help and the manual page, and a function
 * that runs it. The commands themselves are in src/agtmode/commands.
 */
import type { InferredOptionTypes, Options, PositionalOptions } from 'yargs';
import { withProgress } from '../../process/progress.ts';
import type { Context } from '../context.ts';

export type OptionTable = Readonly<Record<string, Options>>;
export type PositionalTable = Readonly<Record<string, PositionalOptions>>;

/** In the order of `agt --help`. */
export const GROUPS = ['start', 'sessions', 'snapshots', 'maintenance', 'setup'] as const;

export interface CommandDeclaration<O extends OptionTable, P extends PositionalTable> {
  /** The words that call the command, then its arguments in the notation of yargs: `session show [id]`. */
  readonly usage: string;
  readonly group: (typeof GROUPS)[number];
  /** One line for lists: lower case, no full stop. */
  readonly summary: string;
  /** Sentences for the help of the command and the manual page. Default: the summary. */
  readonly description?: string;
  readonly positionals?: P;
  readonly options?: O;
  /** Words that people try here, and the command that does this. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  /** It takes words after `--`: paths, or a command to run. */
  readonly takesRest?: true;
  /** The command of somebody else uses the terminal meanwhile, or agt prints all the time: no progress is shown. */
  readonly runsLong?: true;
  /** Returns the exit code. */
  readonly run: (args: InferredOptionTypes<O & P>, context: Context) => Promise<number>;
}

/** A declaration without the types of its arguments. */
export type Command = CommandDeclaration<OptionTable, PositionalTable>;

/** Checks the types of a declaration. */
export function defineCommand<const O extends OptionTable, const P extends PositionalTable>(
  declaration: CommandDeclaration<O, P>,
): Command {
  return declaration as unknown as Command;
}

/** The words that call a command: `session show`. */
export function commandName(command: Command): string {
  return command.usage.replace(/ [[<].*$/, '');
}

/** The command that a command line begins with. */
export function findCommand(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return commands.find((command) =>
    commandName(command)
      .split(' ')
      .every((word, i) => words[i] === word),
  );
}

/** In place of a command or an argument: a question for help. */
export function isHelp(word: string): boolean {
  return ['help', '--help', '-h'].includes(word);
}

export const JSON_OPTION = { type: 'boolean', default: false, describe: 'print JSON' } as const;
export const WAIT_OPTION = {
  type: 'string',
  default: '10',
  describe: 'wait this many seconds if another agt is working on the session',
} as const;

export const DRY_RUN_OPTION = {
  type: 'boolean',
  alias: 'n',
  default: false,
  describe: 'show what would be done, and change nothing',
} as const;

export const FS_SNAPSHOTS_OPTION = {
  choices: ['auto', 'git', 'btrfs', 'zfs', 'overlay', 'agentfs', 'disable'],
  describe:
    'how to make the session: clone it (btrfs, zfs), mount it (overlay, agentfs) or copy files (git); disable: no snapshots by themselves',
} as const;

/** For commands that report what they did: `runCommand` keeps them quiet. */
export const QUIET_OPTION = {
  type: 'boolean',
  alias: 'q',
  default: false,
  describe: 'print only warnings and errors',
} as const;

/** Runs a command. With --quiet it prints nothing on standard output, unless that is what --json asks for. */
export function runCommand(
  command: Command,
  args: Readonly<Record<string, unknown>>,
  context: Context,
): Promise<number> {
  const isQuiet =
    command.options?.['quiet'] === QUIET_OPTION && args['quiet'] === true && args['json'] !== true;
  const { out, err } = context;
  const run = (clear = () => {}) => {
    const print = (write: (text: string) => void) => (text: string) => {
      clear();
      write(text);
    };
    const quiet = isQuiet ? { out: () => undefined } : { out: print(out) };
    return command.run(args as never, { ...context, err: print(err), ...quiet });
  };
  if (!context.showsProgress || args['quiet'] === true || command.runsLong === true) return run();
  return withProgress(err, context.env, run);
}

/** The forms in which a command takes a snapshot (src/snapshot/resolve-snapshot.ts). */
export const SNAPSHOT_FORMS =
  'a commit of the shadow branch or its tree, @{<n>} (@{0} is the latest, @{1} the one before), a time or a label';
