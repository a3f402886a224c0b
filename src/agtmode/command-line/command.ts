/**
 * What a command of agt is: a declaration that yargs parses and prints, that the manual page is made from, and one
 * function that runs it. One file per command in src/agtmode/commands.
 */
import type { InferredOptionTypes, Options, PositionalOptions } from 'yargs';
import type { Context } from '../context.ts';

export type OptionTable = Readonly<Record<string, Options>>;
export type PositionalTable = Readonly<Record<string, PositionalOptions>>;

/** Headings of `agt --help`, in their order. */
export const GROUPS = ['start', 'sessions', 'snapshots', 'maintenance', 'setup'] as const;

export interface CommandDeclaration<O extends OptionTable, P extends PositionalTable> {
  /** The words that call it, then its arguments in yargs' notation: `session show [id]`. */
  readonly usage: string;
  readonly group: (typeof GROUPS)[number];
  /** One line, lower case, no full stop: shown in lists. */
  readonly summary: string;
  /** Whole sentences for the command's own help and the manual. */
  readonly description?: string;
  readonly positionals?: P;
  readonly options?: O;
  readonly examples: readonly (readonly [command: string, what: string])[];
  /** Returns the exit code. */
  readonly run: (args: InferredOptionTypes<O & P>, context: Context) => Promise<number>;
}

/** A declaration whose argument types have been checked and may be forgotten. */
export type Command = CommandDeclaration<OptionTable, PositionalTable>;

export function defineCommand<const O extends OptionTable, const P extends PositionalTable>(
  declaration: CommandDeclaration<O, P>,
): Command {
  return declaration as unknown as Command;
}

/** The words that call a command, without its arguments: `session show`. */
export function commandName(command: Command): string {
  return command.usage.replace(/ [[<].*$/, '');
}

/** Options that many commands share. */
export const JSON_OPTION = { type: 'boolean', default: false, describe: 'print JSON' } as const;
export const DRY_RUN_OPTION = {
  type: 'boolean',
  alias: 'n',
  default: false,
  describe: 'show what would be done, and change nothing',
} as const;
export const SESSION_ID_OPTION = {
  type: 'string',
  describe: 'session id (default: the session of the current directory)',
} as const;
/** The forms in which a command takes a SNAPSHOT (src/snapshot/select.ts). */
export const SNAPSHOT_FORMS =
  'a commit of the shadow branch, @{<n>} (@{0} is the latest, @{1} the one before), a time or a label';
