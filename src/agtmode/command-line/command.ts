/**
 * A command of agt: a declaration, from which agt makes the yargs parser, the help and the manual page, and a function
 * that runs it. The commands themselves are in src/agtmode/commands.
 */
import type { InferredOptionTypes, Options, PositionalOptions } from 'yargs';
import { EXIT, exitCodeFor, formatError, worstExitCode } from '../../errors.ts';
import { withProgress } from '../../process/progress.ts';
import type { Context } from '../context.ts';
import { errorJson, json } from '../output/format.ts';

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
  readonly run: (args: InferredOptionTypes<O & P>, context: Context) => Promise<Answer>;
}

/** The exit code of a command that has printed everything itself; or what is still to print. */
export type Answer = number | string | Report;

export interface Report {
  /** For --json. */
  readonly json?: unknown;
  /** Otherwise. */
  readonly text?: string | (() => Promise<string>) | undefined;
  /** For standard error. */
  readonly warnings?: string;
  /** For standard error, and for people alone. */
  readonly notes?: string;
  /** From the parts that failed while the command went on with others. They decide on the exit code. */
  readonly errors?: readonly unknown[];
  readonly failed?: boolean;
  /** To throw when everything is printed. */
  readonly trouble?: unknown;
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

/** An option that is on or off. */
/* @__NO_SIDE_EFFECTS__ */
export function flag(describe: string) {
  return { type: 'boolean', default: false, describe } as const;
}

/** An option with a value, or an argument. */
/* @__NO_SIDE_EFFECTS__ */
export function withValue(describe: string) {
  return { type: 'string', describe } as const;
}

/** A value that the user may leave out. */
/* @__NO_SIDE_EFFECTS__ */
export function withDefault(value: string, describe: string) {
  return { type: 'string', default: value, describe } as const;
}

/* @__NO_SIDE_EFFECTS__ */
export function required(describe: string) {
  return { type: 'string', demandOption: true, describe } as const;
}

/** It may be given more than once. */
/* @__NO_SIDE_EFFECTS__ */
export function many(describe: string) {
  return { type: 'string', array: true, describe } as const;
}

export const JSON_OPTION = flag('print JSON');
export const WAIT_OPTION = withDefault(
  '10',
  'wait this many seconds if another agt works on the same session or folder',
);

export const FS_SNAPSHOTS_OPTION = {
  choices: ['auto', 'git', 'btrfs', 'zfs', 'overlay', 'agentfs', 'disable'],
  describe:
    'how to make the session: clone it (btrfs, zfs), mount it (overlay, agentfs) or copy files (git); disable: no snapshots by themselves',
} as const;

/** For commands that report what they did: `runCommand` keeps them quiet. */
export const QUIET_OPTION = { ...flag('print only warnings and errors'), alias: 'q' };

const DRY_RUN_OPTION = { ...flag('show what would be done, and change nothing'), alias: 'n' };

/** For commands that change something. */
export const DRY_RUN = { 'dry-run': DRY_RUN_OPTION } as const;
export const DRY_RUN_JSON = { ...DRY_RUN, json: JSON_OPTION } as const;
export const DRY_RUN_QUIET_JSON = { ...DRY_RUN, quiet: QUIET_OPTION, json: JSON_OPTION } as const;

/** Runs a command. With --quiet it prints nothing on standard output, unless that is what --json asks for. */
export function runCommand(
  command: Command,
  args: Readonly<Record<string, unknown>>,
  context: Context,
): Promise<number> {
  const isQuiet =
    command.options?.['quiet'] === QUIET_OPTION && args['quiet'] === true && args['json'] !== true;
  const { out, err } = context;
  const run = async (clear = () => {}) => {
    const print = (write: (text: string) => void) => (text: string) => {
      clear();
      write(text);
    };
    const streams = { out: isQuiet ? () => undefined : print(out), err: print(err) };
    const answer = await command.run(args as never, { ...context, ...streams });
    if (typeof answer === 'number') return answer;
    return printReport(
      streams,
      typeof answer === 'string' ? { text: answer } : answer,
      args['json'] === true,
    );
  };
  if (!context.showsProgress || args['quiet'] === true || command.runsLong === true) return run();
  return withProgress(err, context.env, run);
}

/** Returns the exit code. */
async function printReport(
  { out, err }: Pick<Context, 'out' | 'err'>,
  { json: value, text = '', warnings = '', notes = '', errors = [], failed = false, trouble }: Report,
  asJson: boolean,
): Promise<number> {
  if (asJson) out(json(value));
  else out(typeof text === 'string' ? text : await text());
  err(asJson ? warnings : warnings + notes);
  for (const error of errors) err(formatError(error, false));
  if (trouble !== undefined) throw trouble;
  return failed ? EXIT.failed : worstExitCode(errors.map(exitCodeFor));
}

type PartReport = Pick<Report, 'json' | 'notes' | 'failed' | 'errors'> & { readonly text?: string };

/** The report of a command that goes on with the others after one that fails. `about` names it in the list of JSON. */
export async function reportEach<T>(
  subjects: readonly T[],
  about: (subject: T) => object | Promise<object>,
  act: (subject: T) => Promise<PartReport>,
): Promise<Required<PartReport>> {
  const failure = async (subject: T, error: unknown): Promise<PartReport> => ({
    json: { ...(await about(subject)), outcome: 'failed', ...errorJson(error) },
    errors: [error],
  });
  const reports = await Array.fromAsync(subjects, (subject) =>
    act(subject).catch((error: unknown) => failure(subject, error)),
  );
  return {
    json: reports.flatMap((report) => report.json ?? []),
    text: reports.map(({ text = '' }) => text).join(''),
    notes: reports.map(({ notes = '' }) => notes).join(''),
    errors: reports.flatMap(({ errors = [] }) => errors),
    failed: reports.some(({ failed }) => failed === true),
  };
}

/** The forms in which a command takes a snapshot (src/snapshot/resolve-snapshot.ts). */
export const SNAPSHOT_FORMS =
  'a commit of the shadow branch or its tree, @{<n>} (@{0} is the latest, @{1} the one before), a time or a label';
