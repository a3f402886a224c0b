/** `agt --help`: every command under its heading, in yargs' layout. */
import { type Command, commandName, GROUPS } from '../command-line/command.ts';

type Pairs = readonly (readonly [left: string, right: string])[];

export const HEADINGS: Record<(typeof GROUPS)[number], string> = {
  start: 'Start:',
  sessions: 'Sessions:',
  snapshots: 'Snapshots:',
  maintenance: 'Status and maintenance:',
  setup: 'Setup:',
};

export const BUILT_IN: Pairs = [
  ['agt help [command]', 'show this help, or the help of one command'],
  ['agt completion', 'print a completion script for bash or zsh'],
  ['agt git <args..>', 'run the real git, which hides nothing'],
  ['agt <git command>', 'run any git command that agt does not have, such as agt log --all'],
];

export const GLOBAL_OPTIONS: Pairs = [
  ['-C <path>', 'run as if agt was started in <path>'],
  ['--version', 'print the version'],
  ['-h, --help', 'show this help'],
];

/** One line of introduction each, for the overview and the manual. */
export const INTRODUCTION = [
  'agt gives each coding agent a session on your git repository, and records everything that the agent does.',
  'Every snapshot can be restored. Your own branches and files stay as they are.',
];

/** The words that every command's help uses. */
export const TERMS: Pairs = [
  ['session', 'a folder for one agent, with a sandbox and two branches'],
  ['sandbox', 'a git worktree in that folder; the agent edits and commits here'],
  ['work branch', 'the branch agt/<id>, checked out in the sandbox; holds the commits of the agent'],
  ['shadow branch', 'the branch agtsessions/<id>; holds one commit for each snapshot; only agt writes it'],
  ['snapshot', 'the whole session folder at one time, with the index, untracked and ignored files'],
  ['autocommit', 'adds a snapshot; run it after each step of the agent, with agt watch, or from cron'],
];

const EXAMPLES: Pairs = [
  ['agt session new --id fix-login', 'create a session for an agent'],
  ['cd "$(agt session path fix-login)"', 'go to its sandbox and start the agent there'],
  ['agt watch', 'autocommit while agents work'],
  ['agt session log fix-login', 'list the snapshots'],
  ['agt session restore fix-login --to @{1}', 'go back to an earlier snapshot'],
  ['agt session export fix-login', 'push the commits of the agent'],
];

export function overview(commands: readonly Command[]): string {
  const rows = commands.map((command) => [`agt ${command.usage}`, command.summary] as const);
  const width = widthOf([...rows, ...BUILT_IN, ...EXAMPLES]);
  const lines = (pairs: Pairs, own = width) =>
    pairs.map(([left, right]) => `  ${left.padEnd(own)}${right}\n`).join('');
  const groups = GROUPS.map((group) => {
    const members = commands.filter((command) => command.group === group);
    const shown = members.map((command) => [`agt ${command.usage}`, command.summary] as const);
    return shown.length === 0 ? '' : `${HEADINGS[group]}\n${lines(shown)}\n`;
  });
  return [
    'usage: agt [-C <path>] <command> [options]\n\n',
    ...INTRODUCTION.map((line) => `${line}\n`),
    `\nTerms:\n${lines(TERMS, widthOf(TERMS))}\n`,
    ...groups,
    `Help and git:\n${lines(BUILT_IN)}\n`,
    `Options:\n${lines(GLOBAL_OPTIONS)}\n`,
    `Examples:\n${lines(EXAMPLES)}\n`,
    'Called as "git", agt is git, but does not show work branches, shadow branches and snapshots.\n',
    'For that, put the script of "agt shim install" on the PATH of your agents.\n',
  ].join('');
}

/** Of the left column, with the gap to the right one. */
function widthOf(pairs: Pairs): number {
  return Math.max(...pairs.map(([left]) => left.length)) + 2;
}

/** First words that are agt's own; every other one is git's. */
export function commandWords(commands: readonly Command[]): Set<string> {
  return new Set(commands.map((command) => commandName(command).split(' ')[0] ?? ''));
}
