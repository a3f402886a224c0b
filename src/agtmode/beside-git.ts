/** `agt log` and `agt diff` are git's own, but for options that only agt has. */
import { commandName, isHelp, type OptionTable } from './command-line/command.ts';
import { COMMANDS } from './commands/index.ts';
import { optionLines } from './output/help.ts';

/** For each command of git: the options, and the command of agt that takes them. */
const BESIDE_GIT: Readonly<Record<string, readonly (readonly [option: string, command: string])[]>> = {
  log: [
    ['all-sessions', 'session activity'],
    ['turns', 'session log'],
    ['turn', 'session log'],
    ['json', 'session log'],
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

function rowsOf(name: string) {
  return Object.hasOwn(BESIDE_GIT, name) ? (BESIDE_GIT[name] ?? []) : [];
}

function optionsOf(command: string): OptionTable {
  return COMMANDS.find((one) => commandName(one) === command)?.options ?? {};
}
