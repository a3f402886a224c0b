/** agt mode: runs agt's commands, and leaves others to the real git, guarded as in git mode. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT, usageError } from '../errors.ts';
import { becomeGit, runAsChild } from '../git/run/become.ts';
import { marked } from '../git/run/environment.ts';
import { queryGitSync } from '../git/run/run-sync.ts';
import { COMMANDS as GIT_COMMANDS } from '../gitmode/commands.ts';
import { guardWords } from '../gitmode/guard/guard.ts';
import { recordFile } from '../layout.ts';
import { isStartedByGuard, printOwnVersion } from '../process/invocation.ts';
import { idProblem } from '../session/id.ts';
import { serveMount } from '../timetravel/mount/serve.ts';
import { commandName, isHelp } from './command-line/command.ts';
import { parseWithoutYargs, withNewNames } from './command-line/parse-without-yargs.ts';
import { runCommand } from './command-line/run-command.ts';
import { didYouMean, similar } from './command-line/similar.ts';
import { COMMAND_GROUPS, COMMANDS } from './commands/index.ts';
import { type Context, openContext } from './context.ts';
import { enterDirectory } from './enter-directory.ts';
import { answerHook } from './hooks/answer.ts';
import { lines } from './output/format.ts';
import { overview } from './output/help.ts';

/** Commands by which settings are mended: like the guard, they go on with defaults in place of what agt cannot use. */
const MENDING = ['doctor', 'config set', 'config unset'];

/** First words of commands that agt runs itself. */
const OWN_WORDS = new Set(COMMANDS.map((command) => commandName(command).split(' ')[0] ?? ''));

/** Commands on sessions that may be called without the word `session`. git has none of these names. */
const SHORT_FORMS = new Set('new list fork run sync accept reject remove undo redo open export'.split(' '));

export async function runAgtMode(args: string[]): Promise<number> {
  // Before anything can fail: to an agent, exit codes of hooks are orders.
  if (args[0] === 'hook' && args[1] !== undefined && !isHelp(args[1])) return answerHook(args.slice(1));
  const { directory, rest: given } = takeDirectories(args);
  const named = SHORT_FORMS.has(given[0] ?? '') ? ['session', ...given] : given;
  const rest = named[0] === 'session' && named[1] === 'info' ? ['session', 'show', ...named.slice(2)] : named;
  const [word, ...others] = rest;
  const tolerant =
    isStartedByGuard(process.env) ||
    MENDING.some((name) => `${rest.slice(0, 2).join(' ')} `.startsWith(`${name} `));
  const context = openContext(enterDirectory(directory), process.env, tolerant);
  if (word === undefined || (isHelp(word) && others.length === 0)) {
    context.out(overview(COMMAND_GROUPS));
    return word === undefined ? EXIT.usage : EXIT.done;
  }
  if (word === '--version' || word === '-v') return printOwnVersion(context.out);
  if (word === 'help' && SHORT_FORMS.has(others[0] ?? ''))
    return runOwnCommand(['session', ...others, '--help'], context);
  if (word === 'help' && OWN_WORDS.has(others[0] ?? '')) return runOwnCommand([...others, '--help'], context);
  if (word === '--serve-mount') {
    await serveMount(await context.git(), others[0] ?? ''); // the process that `agt session mount` leaves behind
    return EXIT.done;
  }
  if (word === '--get-yargs-completions') {
    const { complete } = await import('./command-line/complete.ts');
    const found = await complete(others, { commands: COMMANDS, shortForms: SHORT_FORMS }, context);
    context.out(lines(found));
    return EXIT.done;
  }
  if (OWN_WORDS.has(word)) return runOwnCommand(rest, context);
  if (word === 'cd') {
    throw usageError(
      'agt cannot change the directory of your shell by itself',
      'add agt cd to your shell: eval "$(agt shell-init)"',
    );
  }
  if (word === 'restore') {
    // Agents are told to call it for a snapshot. git would overwrite files that nobody has captured.
    throw usageError(
      'agt restore is a prompt for agents, and no command',
      'for a session: agt session restore --to SNAPSHOT',
      'for a folder: agt snapshot restore SNAPSHOT',
      "git's own command, which overwrites files: agt git restore",
    );
  }
  const words = word === 'git' ? others : rest;
  if (word !== 'git') refuseUnknown(word, context);
  guardWords(words, context.gitPath(), process.env);
  const advice = word === 'git' ? undefined : await adviceOnSession(words, context);
  if (advice === undefined) return becomeGit(context.gitPath(), words, marked(process.env));
  const exitCode = await runAsChild(context.gitPath(), words, marked(process.env));
  if (exitCode !== EXIT.done) context.err(`hint: ${advice}\n`);
  return exitCode;
}

/** Commands of git that people try on a session, and what does it. */
const ON_SESSIONS: Readonly<Record<string, (id: string) => string>> = {
  diff: (id) => `agt session diff ${id}`,
  log: (id) => `agt session log ${id}`,
  show: (id) => `agt session show ${id}`,
  rm: (id) => `agt remove ${id}`,
  merge: (id) => `agt accept ${id}`,
  switch: (id) => `cd "$(agt session path ${id})"`,
  checkout: (id) => `cd "$(agt session path ${id})"`,
};

/** For a command of git whose only argument is a session. */
async function adviceOnSession(words: readonly string[], context: Context): Promise<string | undefined> {
  const [command = '', id = ''] = words;
  const advice = Object.hasOwn(ON_SESSIONS, command) ? ON_SESSIONS[command] : undefined;
  if (advice === undefined || words.length !== 2 || idProblem(id) !== undefined) return undefined;
  const repository = await context.repository().catch(() => undefined);
  if (repository === undefined || !existsSync(recordFile(repository.agtDir, id))) return undefined;
  return `"${id}" is a session: ${advice(id)}`;
}

async function runOwnCommand(given: string[], context: Context): Promise<number> {
  const words = withNewNames(COMMANDS, given);
  const parsed = parseWithoutYargs(COMMANDS, words);
  if (parsed !== undefined) return runCommand(parsed.command, parsed.args, context);
  const { runWithYargs } = await import('./command-line/parser.ts');
  return runWithYargs(COMMANDS, context, words);
}

/** Not every git that agt supports has these, and people mean something else by them. */
const NEW_IN_GIT = ['history'];

/** @throws AgtError for a word that is neither a command of git or agt nor an option of git. */
function refuseUnknown(word: string, { gitPath, env }: Context): void {
  const options = ['--help', '--version'];
  if (word.startsWith('--') && !options.includes(word) && similar(word, options).length > 0)
    throw usageError(`unknown option "${word}"`, ...didYouMean(word, options, 'agt '));
  if (word.startsWith('-') || (GIT_COMMANDS.has(word) && !NEW_IN_GIT.includes(word))) return;
  const { exitCode, stdout } = queryGitSync(gitPath(), ['--list-cmds=main,others,alias'], env);
  const ofGit = stdout.split('\n').filter((name) => name !== '');
  if (exitCode !== EXIT.done || ofGit.includes(word)) return;
  const known = new Map(ofGit.map((name) => [name, name]));
  for (const name of COMMANDS.map(commandName)) known.set(name.split(' ').at(-1) ?? '', name);
  for (const name of [...OWN_WORDS, ...SHORT_FORMS]) known.set(name, name);
  const meant = similar(word, known.keys()).map((name) => `agt ${known.get(name)}`);
  throw usageError(
    `"${word}" is not a command of agt or git`,
    ...(meant.length === 0 ? [] : [`did you mean: ${meant.join(', ')}?`]),
    'see: agt help, agt help -a',
  );
}

/** `-C <path>` before the command, and for a command of agt also after it. */
function takeDirectories(args: string[]): { directory: string | undefined; rest: string[] } {
  const first = takeDirectoryOptions(args);
  const [word = '', ...others] = first.rest;
  if (!OWN_WORDS.has(word) && !SHORT_FORMS.has(word)) return first;
  const end = others.indexOf('--');
  const at = others.indexOf('-C');
  if (at < 0 || (end >= 0 && end < at)) return first;
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
    directory = resolve(directory ?? '.', rest[1]);
    rest = rest.slice(2);
  }
  return { directory, rest };
}
