/** A command: a declaration, of which parser, help and manual page are made, and a function that runs it. */
import type { InferredOptionType, Options, PositionalOptions } from 'yargs';
import { usageError } from '../../errors.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { findSession, type Kind } from '../../session/find-session.ts';
import { checkId, idProblem } from '../../session/id.ts';
import { connectAgain } from '../../session/relocate.ts';
import { Session } from '../../session/session.ts';
import type { Context } from '../context.ts';
import { sessionAndWords, sessionHere } from '../session-here.ts';
import { type Answer, about, partOf, reportEach, warningsOf } from './report.ts';

/**
 * `seconds`: the value is a number of seconds, and the command gets milliseconds. `valueName`: what help calls the value, if
 * other options of this name take another one.
 */
export type OptionTable = Readonly<
  Record<string, Options & { readonly seconds?: true; readonly valueName?: string }>
>;
export type PositionalTable = Readonly<Record<string, PositionalOptions>>;

/** The arguments of a command: `--dry-run` is `dryRun`, and `--wait` with its seconds `waitMs`. */
export type Arguments<O> = {
  readonly [N in keyof O & string as ArgumentName<N, O[N]>]: O[N] extends Seconds
    ? number | (O[N] extends { readonly default: string } ? never : undefined)
    : O[N] extends Options | PositionalOptions
      ? InferredOptionType<O[N]>
      : never;
} & {
  /** The words after `--`: paths, as in git, or a command. */
  readonly rest: readonly string[];
  /** The options that git handles, as the user gave them. */
  readonly gitOptions: readonly string[];
};

type Seconds = { readonly seconds: true };
type ArgumentName<N extends string, O> = string extends N
  ? never
  : O extends Seconds
    ? `${CamelCase<N>}Ms`
    : CamelCase<N>;
type CamelCase<N extends string> = N extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : N;

export interface CommandDeclaration<O extends OptionTable, P extends PositionalTable> {
  /** The words that call the command, then its arguments in the notation of yargs: `session show [id]`. */
  readonly usage: string;
  /** One line for lists: lower case, no full stop. */
  readonly summary: string;
  /** Sentences for the help of the command and the manual page. Default: the summary. */
  readonly description?: string;
  readonly positionals?: P;
  readonly options?: O;
  /** Options of git that it takes besides (parse-without-yargs.ts). */
  readonly gitOptions?: ReadonlySet<string>;
  /** The next step for a person who gives more arguments than it takes; WORD is the first of those. */
  readonly excess?: string;
  /** Words that people try here, and the command that does this. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** The command of git that may have the options that it lacks. */
  readonly otherOptions?: string;
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  /** It can do something only with these, as far as the metadata tell: a survey would take too long. */
  readonly only?: Kind;
  /** The words that it takes after `--`. */
  readonly takesRest?: 'paths' | 'command';
  /** The command of somebody else uses the terminal meanwhile, or agt prints all the time: no progress is shown. */
  readonly runsLong?: true;
  readonly run: (args: Arguments<O> & Arguments<P>, context: Context) => Promise<Answer>;
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

/** For help: the words that call it, and its arguments. */
export function usageOf({ usage, takesRest }: Command): string {
  return `agt ${usage} [options]${takesRest === undefined ? '' : ` [-- ${takesRest}]`}`;
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

export function camelCase(name: string): string {
  return name.replace(/-./g, ([, letter = '']) => letter.toUpperCase());
}

/** The forms in which a command takes a snapshot (src/snapshot/resolve-snapshot.ts). */
export const SNAPSHOT_FORMS =
  'a commit of the shadow branch or its tree, @{<n>} (@{0} is the latest, @{1} the one before), a time, the id of a ' +
  'call, a label, or the beginning of a label or of a prompt';

const flag = (describe: string, alias?: string) =>
  ({ type: 'boolean', default: false, describe, ...(alias && { alias }) }) as const;
const value = (describe: string, alias?: string) =>
  ({ type: 'string', describe, ...(alias && { alias }) }) as const;

/** A number of seconds. Without a default, the user may leave it out. */
function seconds<const D extends string | undefined = undefined>(describe: string, byDefault?: D) {
  const option = { ...value(describe), seconds: true } as const;
  return { ...option, ...(byDefault && { default: byDefault }) } as typeof option & { readonly default: D };
}

/** Options that stand in several commands. */
const SHARED = {
  session: value('session id, in place of the argument'),
  wait: seconds('wait this many seconds if another agt works on the same session or folder', '10'),
  'fs-snapshots': {
    choices: ['auto', 'git', 'btrfs', 'zfs', 'overlay', 'agentfs', 'disable'],
    describe:
      'how to make the session: clone it (btrfs, zfs), mount it (overlay, agentfs) or copy files (git); disable: no snapshots by themselves',
  },
  profile: value(
    'set the variables of this profile: one in your settings, or the name of an agent (default: the profile of the session)',
  ),
  'if-repo': flag('outside a repository, run the command all the same, and record nothing'),
  'files-only': flag('leave the refs, HEAD and index as they are'),
  'dry-run': flag('show what would be done, and change nothing', 'n'),
  /** For commands that report what they did: `runCommand` keeps them quiet. */
  quiet: flag('print only warnings and errors', 'q'),
  everywhere: flag('in all repositories with sessions where you have run agt'),
  json: flag('print JSON'),
} as const;

/** The kinds of options, and of arguments. */
export const option = {
  flag,
  value,
  withDefault: (byDefault: string, describe: string) => ({ ...value(describe), default: byDefault }) as const,
  named: (valueName: string, describe: string) => ({ ...value(describe), valueName }) as const,
  required: (describe: string) => ({ ...value(describe), demandOption: true }) as const,
  /** Such a flag is set unless the user says `--no-`. */
  on: (describe: string) => ({ type: 'boolean', default: true, describe }) as const,
  choice: <const C extends readonly string[]>(choices: C, describe: string) => ({ choices, describe }),
  /** It may be given more than once. */
  many: (describe: string) => ({ ...value(describe), array: true }) as const,
  /** The same, with one value each time. */
  each: (describe: string, alias?: string) => ({ ...value(describe, alias), array: true, nargs: 1 }) as const,
  seconds,
  shared: <const N extends keyof typeof SHARED>(...names: readonly N[]) =>
    Object.fromEntries(names.map((name) => [name, SHARED[name]])) as Pick<typeof SHARED, N>,
};

export const SESSION_ARGUMENT = value('session id (default: the session of the current directory)');

/** The first argument or --session names the session; without both it is that of the current directory. */
interface SessionCommand<O extends OptionTable, P extends PositionalTable, T>
  extends Omit<CommandDeclaration<O, PositionalTable>, 'usage' | 'positionals' | 'run'> {
  /** The words that call the command. */
  readonly name: string;
  /** The session may also be the snapshots of a folder. */
  readonly alsoFolders?: true;
  /** It takes more than one session, and goes on with the others after one that fails. */
  readonly several?: true;
  /** With `several`: the sessions that an option names. Undefined: it is not given. */
  readonly choose?: (
    args: Arguments<O>,
    context: Context,
  ) => Promise<{ readonly ids: readonly string[]; readonly note: string; readonly by: string } | undefined>;
  /** With `several`: in which order they go, if not as given. */
  readonly order?: (ids: readonly string[], context: Context) => Promise<readonly string[]>;
  /** Arguments after the session. Without a session of that name, the first word is the first of these. */
  readonly more?: P;
  /** A hint for a person who names no session where there is none. */
  readonly instead?: string;
  /** Refuses what is wrong before agt looks for the session. `run` gets the result. */
  readonly check?: (args: Arguments<O>, context: Context) => T | Promise<T>;
  readonly run: (
    args: Arguments<O> & Arguments<P>,
    context: Context,
    session: Session,
    checked: T,
  ) => Promise<Answer>;
}

export function defineSessionCommand<
  const O extends OptionTable,
  const P extends PositionalTable = Record<never, never>,
  T = undefined,
>({
  name,
  alsoFolders,
  several,
  choose,
  order = async (ids) => ids,
  more,
  check,
  instead,
  run,
  ...declaration
}: SessionCommand<O, P, T>): Command {
  const further = Object.keys(more ?? {});
  return defineCommand({
    ...declaration,
    usage: [name, several ? '[ids..]' : '[id]', ...further.map((word) => `[${word}]`)].join(' '),
    positionals: several
      ? { ids: option.many('session ids (default: the session of the current directory)') }
      : { id: SESSION_ARGUMENT, ...more },
    options: { ...option.shared('session'), ...declaration.options },
    run: async (args, context) => {
      const own = args as never;
      const { ids = [], id = ids[0], session } = args as GivenSession & { readonly ids?: readonly string[] };
      const checked = (await check?.(own, context)) as T;
      if (more !== undefined) {
        const given = [id, ...further.map((word) => (args as Record<string, unknown>)[word])];
        const words = given.filter((word) => typeof word === 'string');
        const chosen = await sessionAndWords(context, words, session, further.length);
        const own = Object.fromEntries(further.map((word, i) => [word, chosen.words[i]]));
        return run({ ...args, ...own } as never, context, await connectAgain(chosen.session), checked);
      }
      const runOn = async (given: GivenSession, there = context) => {
        const found = alsoFolders === true ? sessionHere(there, givenSession(given), instead) : undefined;
        const session = await (found ?? sessionInRepository(there, given, declaration.only));
        return run(own, there, await connectAgain(session), checked);
      };
      const chosen = await choose?.(own, context);
      const word = ids.join(' ') || (session && '--session');
      if (chosen !== undefined && word)
        throw usageError('sessions are given by name and by an option', `leave out ${word}, or ${chosen.by}`);
      if (chosen === undefined && ids.length < 2) return runOn({ id, session });
      if (ids.length > 1 && session !== undefined)
        throw usageError('sessions are given as arguments and by --session', 'leave out --session');
      refusePath(ids, declaration.elsewhere?.['--path']);
      const done: string[] = [];
      const all = await order([...new Set(chosen?.ids ?? ids)], context);
      const report = await reportEach(
        all,
        (one) => ({ session_id: one }),
        async (one) => {
          const err: Context['err'] = (text) =>
            context.err(typeof text === 'string' ? warningsOf(one, text) : text);
          const answer = await runOn({ id: one }, { ...context, err }).catch((error: unknown) => {
            throw about(one, error);
          });
          const part = await partOf(answer);
          if (part.failed !== true) done.push(one);
          return { ...part, warnings: warningsOf(one, part.warnings ?? '') };
        },
      );
      const { dryRun } = args as { readonly dryRun?: boolean };
      const isPart = report.errors.length > 0 && done.length > 0 && dryRun !== true;
      const others = all.filter((one) => !done.includes(one)).join(', ');
      const besides = isPart ? `note: done for ${done.join(', ')}; not for ${others}\n` : '';
      return { ...report, notes: report.notes + besides + (chosen?.note ?? '') };
    },
  });
}

interface GivenSession {
  readonly id?: string | undefined;
  readonly session?: string | undefined;
}

export async function sessionInRepository(context: Context, given: GivenSession, only?: Kind) {
  const repository = await context.repository();
  return new Session(repository, findSession(repository, givenSession(given), context.cwd, only));
}

export function givenSession({ id, session }: GivenSession): string | undefined {
  if (id !== undefined && session !== undefined && id !== session)
    throw usageError(`two sessions are given: "${id}" and "${session}"`, 'give one');
  return id ?? session;
}

/** Before anything of the others is done. `meant`: the command that takes a path by its last option. */
function refusePath(ids: readonly string[], meant: string | undefined): void {
  const path = ids.find((id) => idProblem(id) !== undefined);
  if (path === undefined) return;
  if (meant === undefined) checkId(path);
  const option = meant?.replace(/^.* /, '').replace('PATH', shellQuote(path));
  throw usageError(`"${path}" is not a session id`, `in place of it: ${option}`);
}
