/** Commands of git: `agt log` and `agt diff` have options that only agt has, and others are tried on sessions. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { usageError } from '../errors.ts';
import { recordFile } from '../layout.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { commandToCompare, commandToList } from '../session/advised-commands.ts';
import { idProblem, type SessionId } from '../session/id.ts';
import { readRecord, sessionIds } from '../session/record.ts';
import { isOnRemote } from '../session/share-file.ts';
import { isEnded } from '../session/state.ts';
import { similar } from '../similar.ts';
import { isRemote } from '../travel/remote.ts';
import { commandName, isHelp, type OptionTable } from './command-line/command.ts';
import { splitAtRest, takeGitOptions } from './command-line/parse-without-yargs.ts';
import { COMMANDS } from './commands/index.ts';
import type { Context } from './context.ts';
import { optionLines } from './output/help.ts';
import { sessionIfAny } from './session-here.ts';

/** For each command of git: the options, and the command of agt that takes them. */
const BESIDE_GIT: Readonly<Record<string, readonly (readonly [option: string, command: string])[]>> = {
  log: [
    ['all-sessions', 'session activity'],
    ['turns', 'session log'],
    ['turn', 'session log'],
    ['json', 'session log'],
    ['everywhere', 'session activity'],
  ],
  diff: [
    ['turn', 'session diff'],
    ['base', 'session diff'],
    ['with', 'session diff'],
    ['json', 'session diff'],
  ],
};

/** The words that call the command of agt, if one of its options is among them. */
export function besideGit([first = '', ...words]: readonly string[]): string[] | undefined {
  const has = (option: string) =>
    words.some((word) => word === `--${option}` || word.startsWith(`--${option}=`));
  const found = rowsOf(first).find(([option]) => has(option));
  return found && [...found[1].split(' '), ...words];
}

/** For `agt log --help` and `agt help log`: git's manual page says nothing of agt's options. */
export function helpBesideGit([first = '', second = '']: readonly string[]): string | undefined {
  const name = isHelp(first) ? second : isHelp(second) && second !== 'help' ? first : '';
  const rows = rowsOf(name);
  if (rows.length === 0) return undefined;
  const options = rows.map(([option, command]) => [option, optionsOf(command)[option] ?? {}] as const);
  const others = [...new Set(rows.map(([, command]) => `agt ${command} --help`))];
  return [
    `agt ${name} [options]\n\n`,
    `git ${name}, but for options that only agt has:\n\n`,
    optionLines(Object.fromEntries(options)),
    `\nMore options go with these: ${others.join(', ')}\n`,
    `Every other option is git's: git ${name} --help\n`,
    `A name such as @{1} is git's reflog here; for a snapshot: agt session ${name}\n`,
  ].join('');
}

/** For completion. */
export function optionsBesideGit(name: string): string[] {
  return rowsOf(name).map(([option]) => `--${option}`);
}

function rowsOf(name: string) {
  return Object.hasOwn(BESIDE_GIT, name) ? (BESIDE_GIT[name] ?? []) : [];
}

function optionsOf(command: string): OptionTable {
  return COMMANDS.find((one) => commandName(one) === command)?.options ?? {};
}

/** Commands of git that people try on a session, and what does it. */
const ON_SESSIONS: Readonly<
  Record<string, (id: string, words: readonly string[], ended: boolean) => string>
> = {
  diff: (id, words, ended) =>
    ['agt session diff', id, ...(ended ? [] : ['--base']), ...optionsIn('session diff', words)].join(' '),
  log: (id, words) => ['agt session log', id, ...optionsIn('session log', words)].join(' '),
  show: (id, words) => {
    const file = words.find((word) => word.startsWith(`${id}:`))?.slice(id.length + 1);
    return file ? `agt cat ${id} ${shellQuote(`@:${file}`)}` : `agt session show ${id}`;
  },
  push: (id, words) => `agt session push ${id}${wordsAfter(id, words)}`,
  pull: (id, words) => `agt session pull ${id}${wordsAfter(id, words)}`,
  bundle: (id, words) =>
    [
      `agt session bundle ${id}${otherWord(id, words) || ' FILE'}`,
      ...optionsIn('session bundle', words),
    ].join(' '),
  rm: (id) => `agt remove ${id}`,
  merge: (id) => `agt accept ${id}`,
  rebase: (id) => `agt accept ${id}`,
  'cherry-pick': (id) => `agt accept ${id}`,
  switch: (id) => `cd "$(agt session path ${id})"`,
  checkout: (id) => `cd "$(agt session path ${id})"`,
};

/** The flags among them that the command of agt has as well, and the options that it hands on. */
function optionsIn(name: string, words: readonly string[]): string[] {
  const options = optionsOf(name);
  const flags = words.filter((word) => word.startsWith('--') && options[word.slice(2)]?.type === 'boolean');
  return [...flags, ...takeGitOptions(COMMANDS, [...name.split(' '), ...words]).gitOptions.map(shellQuote)];
}

/** All of them, if the id is where git has the remote: they are for agt. */
function wordsAfter(id: string, words: readonly string[]): string {
  if (firstWord(words) !== id) return otherWord(id, words);
  return words.map((word) => (word === id ? '' : ` ${shellQuote(word)}`)).join('');
}

const firstWord = (words: readonly string[]) => words.find((word) => !word.startsWith('-'));

/** The last one that is no option: a remote, or a file. */
function otherWord(id: string, words: readonly string[]): string {
  const other = words.findLast((word) => word !== id && !word.startsWith('-'));
  return other === undefined ? '' : ` ${shellQuote(other)}`;
}

/** The command line with the options that only agt has, if one of these is nearly among the words. */
function withMeantOptions(command: string, words: readonly string[]): string | undefined {
  const own = rowsOf(command).map(([option]) => `--${option}`);
  const meant = words.map((word) => {
    const [near] = word.startsWith('--') ? similar(word, ['--all', ...own]) : [];
    return near !== undefined && own.includes(near) ? near : word;
  });
  if (meant.every((word, i) => word === words[i])) return undefined;
  return `did you mean: agt ${[command, ...meant.map(shellQuote)].join(' ')}?`;
}

/** Such a name means something in both. */
export const REFLOG = 'to git, this is in its reflog: ';

/** For a command of git one of whose arguments is a session, or a snapshot of the session here. */
export async function adviceOnSession([command = '', ...others]: readonly string[], context: Context) {
  const advice = Object.hasOwn(ON_SESSIONS, command) ? ON_SESSIONS[command] : undefined;
  if (advice === undefined) return undefined;
  const [words] = splitAtRest(others);
  if (command === 'show' && words.some((word) => /^--turn(=|$)/.test(word)))
    return `did you mean: agt diff ${others.map(shellQuote).join(' ')}?`;
  const meantOptions = withMeantOptions(command, words);
  if (meantOptions !== undefined) return meantOptions;
  const [, a = '', b = ''] =
    (command === 'diff' && /^(.+?)\.{2,3}(.+)$/.exec(words.find((word) => word.includes('..')) ?? '')) || [];
  const named = command === 'show' ? words.map((word) => word.replace(/:.*$/s, '')) : words;
  const names = [...named, a, b].filter((word) => idProblem(word) === undefined);
  const moment = ['diff', 'show', 'log'].includes(command)
    ? words.find((word) => /^@\{[^-up].*\}$/.test(word))
    : undefined;
  if (names.length === 0 && moment === undefined) return undefined;
  const repository = await context.repository().catch(() => undefined);
  if (repository === undefined) return undefined;
  const isSession = (name: string) =>
    existsSync(recordFile(repository.agtDir, name)) ||
    (command === 'pull' && isOnRemote(repository.agtDir, name));
  const advised = (id: string, given = words) => {
    const record = readRecord(repository, id as SessionId);
    return advice(id, given, record !== undefined && isEnded(record));
  };
  const [session, other] = names.filter(isSession);
  if (command === 'diff' && session && other)
    return `"${session}" and "${other}" are sessions: agt diff ${session} --with ${other}`;
  if (session !== undefined) {
    const said = `"${session}" is a session: ${advised(session)}`;
    const isRemoteToGit = ['push', 'pull'].includes(command) && firstWord(words) === session;
    if (!isRemoteToGit || existsSync(resolve(context.cwd, session))) return said;
    if (await isRemote(repository.git, session)) return said;
    throw usageError(`there is no remote "${session}" here`, said); // git would print its usage
  }
  const here = moment && (await sessionIfAny(context));
  if (here) {
    const number = command === 'show' ? /^@\{(\d+)\}$/.exec(moment)?.[1] : undefined;
    const name = moment.includes(' ') ? shellQuote(moment) : moment;
    const pair = number === undefined ? name : `@{${Number(number) + 1}} ${name}`;
    const shows = command === 'log' ? commandToList(here.record) : commandToCompare(here.record, pair);
    return `${REFLOG}${moment}; for snapshots of "${here.id}": ${shows}`;
  }
  const [meant] = others.length === 1 ? similar(names[0] ?? '', sessionIds(repository)) : [];
  return meant && `did you mean the session "${meant}": ${advised(meant, [meant])}`;
}
