/** `agt --help`: the words of agt, and every command under its heading. */
import { type Command, GROUPS } from '../command-line/command.ts';

export type Pairs = readonly (readonly [left: string, right: string])[];

export const HEADINGS: Record<(typeof GROUPS)[number], string> = {
  start: 'Start:',
  sessions: 'Sessions:',
  snapshots: 'Snapshots:',
  maintenance: 'Status and maintenance:',
  setup: 'Setup:',
};

export const BUILT_IN: Pairs = [
  ['agt help [command]', 'show this help, or the help of one command'],
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
  ['agt session new fix-login', 'create a session for an agent'],
  ['cd "$(agt session path fix-login)"', 'go to its sandbox and start the agent there'],
  ['agt watch', 'autocommit while agents work'],
  ['agt session log fix-login', 'list the snapshots'],
  ['agt session restore fix-login --to @{1}', 'go back to an earlier snapshot'],
  ['agt session export fix-login', 'push the commits of the agent'],
];

export function overview(commands: readonly Command[]): string {
  const width = widthOf([...commands.map(rowOf), ...BUILT_IN, ...EXAMPLES]);
  const section = (heading: string, pairs: Pairs) => `${heading}\n${lines(pairs, width)}\n`;
  return [
    'usage: agt [-C <path>] <command> [options]\n\n',
    ...INTRODUCTION.map((line) => `${line}\n`),
    `\nTerms:\n${lines(TERMS, widthOf(TERMS))}\n`,
    ...GROUPS.map((group) =>
      section(HEADINGS[group], commands.filter((command) => command.group === group).map(rowOf)),
    ),
    section('Help and git:', BUILT_IN),
    section('Options:', GLOBAL_OPTIONS),
    section('Examples:', EXAMPLES),
    'Called as "git", agt is git, but does not show work branches, shadow branches and snapshots.\n',
    'For that, put the script of "agt shim install" on the PATH of your agents.\n',
  ].join('');
}

function rowOf({ usage, summary }: Command): Pairs[number] {
  return [`agt ${usage}`, summary];
}

function lines(pairs: Pairs, width: number): string {
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}${right}\n`).join('');
}

/** Width of the left column, with the gap to the right one. */
function widthOf(pairs: Pairs): number {
  return Math.max(...pairs.map(([left]) => left.length)) + 2;
}
