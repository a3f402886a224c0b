/** agt mode: runs agt's commands, and leaves others to the real git, guarded as in git mode; push and stash are git mode's. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AgtError, attempt, EXIT, usageError } from '../errors.ts';
import { becomeGit, damagedArgument, runAsChild } from '../git/run/become.ts';
import { marked } from '../git/run/environment.ts';
import { queryGitSync } from '../git/run/run-sync.ts';
import { COMMANDS as GIT_COMMANDS } from '../gitmode/commands.ts';
import { guardWords, isOfGitMode } from '../gitmode/guard/guard.ts';
import { runGitMode } from '../gitmode/main.ts';
import { isStartedByGuard, printOwnVersion } from '../process/invocation.ts';
import { isTerminal, writer } from '../process/streams.ts';
import { isOutsideRepositories } from '../repository/find-repository.ts';
import { noteCommandWords, withAdviceIn } from '../session/advised-commands.ts';
import { didYouMean, similar } from '../similar.ts';
import { serveMount } from '../timetravel/mount/serve.ts';
import { adviceOnSession, besideGit, helpBesideGit, REFLOG } from './beside-git.ts';
import { commandName, isHelp } from './command-line/command.ts';
import {
  parseWithoutYargs,
  splitAtRest,
  takeGitOptions,
  withNewNames,
} from './command-line/parse-without-yargs.ts';
import { runCommand } from './command-line/run-command.ts';
import { COMMAND_GROUPS, COMMANDS, SHORT_FORMS } from './commands/index.ts';
import { type Context, openContext } from './context.ts';
import { enterDirectory, hintOutside, placeOutside } from './enter-directory.ts';
import { answerHook } from './hooks/answer.ts';
import { errorJson, json, lines } from './output/format.ts';
import { overview } from './output/help.ts';
import { adviseOnWords } from './restore-advice.ts';
import { sessionIfAny } from './session-here.ts';
import { welcome } from './welcome.ts';

/** Commands by which settings are mended: like the guard, they go on with defaults in place of what agt cannot use. */
const MENDING = ['doctor', 'config set', 'config add', 'config unset'];

/** First words of commands that agt runs itself. */
const OWN_WORDS = new Set(COMMANDS.map((command) => commandName(command).split(' ')[0] ?? ''));

function withSession(words: string[]): string[] {
  const [first = ''] = words;
  if (first === 'blame') {
    const { length } = splitAtRest(words)[0];
    const isRange = (word: string, i: number) => /^-L./.test(word) && i < length;
    return words.flatMap((word, i) => (isRange(word, i) ? ['-L', word.slice(2)] : [word]));
  }
  return SHORT_FORMS.has(first) ? ['session', ...words] : (besideGit(words) ?? words);
}

export async function runAgtMode(args: string[]): Promise<number> {
  // Before anything can fail: to an agent, exit codes of hooks are orders.
  if (args[0] === 'hook' && args[1] !== undefined && !isHelp(args[1])) return answerHook(args.slice(1));
  if (args[0] === '--place-outside') {
    writer(1)(`${placeOutside(args[1] ?? '/')}\n`); // asked by the function of `agt shell-init`
    return EXIT.done;
  }
  noteCommandWords([...OWN_WORDS, ...SHORT_FORMS, 'git']);
  const { directory, rest: typed } = takeDirectories(args);
  const given = typed.length > 1 && isHelp(typed[0] ?? '') ? ['help', ...typed.slice(1)] : typed;
  const named = withSession(given);
  const rest = named[0] === 'session' && named[1] === 'info' ? ['session', 'show', ...named.slice(2)] : named;
  const [word, ...others] = rest;
  const tolerant =
    isStartedByGuard(process.env) ||
    MENDING.some((name) => `${rest.slice(0, 2).join(' ')} `.startsWith(`${name} `));
  const context = openContext(enterDirectory(directory), process.env, tolerant);
  const print = (text: string, exitCode: number = EXIT.done) => {
    context.out(text);
    return exitCode;
  };
  if (word === undefined && isTerminal(1)) return print(await welcome(context));
  if (word === undefined || (isHelp(word) && ['', 'agt'].includes(others.join(' '))))
    return print(overview(COMMAND_GROUPS, SHORT_FORMS), word === undefined ? EXIT.usage : EXIT.done);
  if (word === '--version' || word === '-v' || rest.join(' ') === 'version')
    return printOwnVersion(context.out);
  if (word === 'help' && SHORT_FORMS.has(others[0] ?? ''))
    return runOwnCommand(['session', ...others, '--help'], context);
  if (word === 'help' && OWN_WORDS.has(others[0] ?? '')) return runOwnCommand([...others, '--help'], context);
  const besides = helpBesideGit(rest);
  if (besides !== undefined) return print(besides);
  if (word === '--serve-mount') {
    await serveMount(await context.git(), others[0] ?? ''); // the process that `agt session mount` leaves behind
    return EXIT.done;
  }
  if (word === '--get-yargs-completions') {
    const { complete } = await import('./command-line/complete.ts');
    return print(lines(await complete(others, context)));
  }
  if (/^(session|snapshot)$/.test(word) && /^(restore|undo)$/.test(others[0] ?? ''))
    return runOwnCommand(rest, context).catch((error: unknown) =>
      adviseOnWords(error, others, given[0] === 'restore', context),
    );
  if (OWN_WORDS.has(word) && !isBisectOfGit(rest)) return runOwnCommand(rest, context);
  if (word === 'cd')
    throw usageError(
      'agt cannot change the directory of your shell by itself',
      'add agt cd to your shell: eval "$(agt shell-init)"',
    );
  const words = word === 'git' ? others : rest;
  if (word !== 'git') await reported(words, context, () => refuseUnknown(word, context));
  if (word === 'help' && others.length === 1 && !/^git/.test(others[0] ?? ''))
    refuseUnknown(others[0] ?? '', context);
  if (word !== 'git') await refuseWithoutGit(words, context);
  const advice = word === 'git' ? undefined : await adviceOnSession(words, context);
  const returns = advice !== undefined;
  const run = () => {
    // Snapshots must not reach others because a push names no refs, and a session has a stash of its own.
    if (word !== 'git' && isOfGitMode(words, context.gitPath(), process.env))
      return runGitMode(words, { isOfUser: true, returns });
    guardWords(words, context.gitPath(), process.env);
    return (returns ? runAsChild : becomeGit)(context.gitPath(), words, marked(process.env));
  };
  const exitCode = await run();
  if (returns && (exitCode !== EXIT.done || advice.startsWith(REFLOG))) context.err(`hint: ${advice}\n`);
  return exitCode;
}

/** Only `agt bisect run` is a command of agt. */
function isBisectOfGit([word, what = 'run']: readonly string[]): boolean {
  return word === 'bisect' && what !== 'run' && !isHelp(what);
}

/** git would say that it finds no repository, at length. @throws AgtError in a folder that has snapshots */
async function refuseWithoutGit([command = '', ...words]: readonly string[], context: Context) {
  if (!['log', 'diff'].includes(command) || words.includes('--no-index')) return;
  if (words.filter((word) => existsSync(resolve(context.cwd, word))).length > 1) return;
  if (!isOutsideRepositories(context.cwd, context.env) || (await sessionIfAny(context)) === undefined) return;
  throw new AgtError('this folder is in no git repository; agt has its snapshots', {
    hints: [command === 'log' ? 'see: agt snapshot list' : 'see: agt snapshot diff'],
    exitCode: EXIT.git,
  });
}

async function runOwnCommand(given: string[], context: Context): Promise<number> {
  const words = withNewNames(COMMANDS, given);
  try {
    const parsed = await reported(given, context, () => parse(words));
    return parsed === undefined ? EXIT.done : await runCommand(parsed.command, parsed.args, context);
  } finally {
    context.err(hintOutside());
  }
}

async function parse(words: string[]) {
  const damaged = damagedArgument(words);
  if (damaged !== undefined)
    throw usageError(
      `"${damaged}" is not UTF-8, and commands of agt take no such argument`,
      'name the directory that it is in; git itself takes it: agt git',
    );
  refuseNoPaths(words);
  const { words: own, gitOptions } = takeGitOptions(COMMANDS, words);
  const parsed = parseWithoutYargs(COMMANDS, own) ?? (await withYargs(own));
  return parsed && { ...parsed, args: { ...parsed.args, gitOptions } };
}

async function withYargs(words: string[]) {
  const { parseWithYargs } = await import('./command-line/parser.ts');
  return parseWithYargs(COMMANDS, words);
}

/** With --json an error of the command line is one object on standard output, as those of a command are. */
async function reported<T>(words: readonly string[], { out, cwd }: Context, check: () => T | Promise<T>) {
  try {
    return await check();
  } catch (error) {
    const advised = withAdviceIn(cwd, error);
    if (splitAtRest(words)[0].includes('--json')) out(json(errorJson(advised)));
    throw advised;
  }
}

/** A script with an unset variable would restore everything. @throws AgtError */
function refuseNoPaths(words: readonly string[]): void {
  if (words[1] === 'restore' && words.at(-1) === '--')
    throw usageError('there are no paths after --', 'give some, or leave -- out to restore everything');
}

/** Not every git that agt supports has these, and people mean something else by them. */
const NEW_IN_GIT = ['history'];

/** @throws AgtError for a word that is neither a command of git or agt nor an option of git. */
function refuseUnknown(word: string, { gitPath, env }: Context): void {
  const options = ['--help', '--version'];
  if (word.startsWith('--') && !options.includes(word) && similar(word, options).length > 0)
    throw usageError(`unknown option "${word}"`, ...didYouMean(word, options, 'agt '));
  if (word.startsWith('-') || (GIT_COMMANDS.has(word) && !NEW_IN_GIT.includes(word))) return;
  const { exitCode, stdout } = queryGitSync(gitPath(), ['--list-cmds=main,others,alias,list-guide'], env);
  const ofGit = stdout.split('\n').filter((name) => name !== '');
  if (exitCode !== EXIT.done || ofGit.includes(word)) return;
  const known = new Map(ofGit.map((name) => [name, name]));
  for (const name of COMMANDS.map(commandName)) known.set(name.split(' ').at(-1) ?? '', name);
  for (const name of [...OWN_WORDS, ...SHORT_FORMS]) known.set(name, name);
  known.set('snapshots', 'snapshot list');
  const meant = similar(word, known.keys()).map((name) => `agt ${known.get(name)}`);
  throw usageError(
    `"${word}" is not a command of agt or git`,
    ...(meant.length === 0 ? [] : [`did you mean: ${meant.join(', ')}?`]),
    'see: agt help, agt help -a',
  );
}

/** `-C <path>` before the command, and for a command of agt also after it, unless it has an option of that name. */
function takeDirectories(args: string[]): { directory: string | undefined; rest: string[] } {
  const first = takeDirectoryOptions(args);
  const [word = '', ...others] = first.rest;
  const hasOwn = COMMANDS.some((one) => commandName(one) === word && one.options?.C !== undefined);
  if (hasOwn || (!OWN_WORDS.has(word) && !SHORT_FORMS.has(word))) return first;
  const at = splitAtRest(others)[0].indexOf('-C');
  if (at < 0) return first;
  const { directory = '.', rest } = takeDirectoryOptions(others.slice(at));
  const words = [word, ...others.slice(0, at), ...rest];
  return { directory: resolve(first.directory ?? '.', directory), rest: words };
}

/** `-C <path>`, which may be repeated as in git. */
function takeDirectoryOptions(args: string[]): { directory: string | undefined; rest: string[] } {
  let directory: string | undefined;
  let rest = args;
  while (rest[0] === '-C') {
    if (rest[1] === undefined)
      throw usageError('no directory given for -C', 'usage: agt -C <path> <command>');
    const [above, next] = [directory ?? '.', rest[1]];
    directory = attempt(() => resolve(above, next)) ?? join(above, next); // the current one may be gone
    rest = rest.slice(2);
  }
  return { directory, rest };
}
