/** `agt --help`: every command under its heading, in yargs' layout. */
import { type Command, commandName, GROUPS } from '../command-line/command.ts';

export const HEADINGS: Record<(typeof GROUPS)[number], string> = {
  start: 'Start:',
  sessions: 'Sessions:',
  states: 'States:',
  look: 'Look around:',
  'set up': 'Set up:',
};

export const BUILT_IN: readonly (readonly [string, string])[] = [
  ['agt help [command]', 'this text, or the help of one command'],
  ['agt completion', 'print a completion script for bash or zsh'],
  ['agt git <args..>', 'the real git, unfiltered, also for commands whose names agt uses'],
  ['agt <git command>', 'the same: agt log --all, agt branch -a, …'],
];

export const GLOBAL_OPTIONS: readonly (readonly [string, string])[] = [
  ['-C <path>', 'run as if started in <path>'],
  ['--version', 'print the version'],
  ['-h, --help', 'print this text'],
];

const EXAMPLES: readonly (readonly [string, string])[] = [
  ['agt clone https://example.com/project.git', 'a clone with room for sessions'],
  ['agt session new --id fix-login', 'a sandbox and two branches for one agent'],
  ['agt autocommit --session-id fix-login', 'capture the whole session folder now'],
  ['agt session export --session-id fix-login', 'push what the agent committed'],
];

export function overview(commands: readonly Command[]): string {
  const rows = commands.map((command) => [`agt ${command.usage}`, command.summary] as const);
  const width = Math.max(...[...rows, ...BUILT_IN, ...EXAMPLES].map(([left]) => left.length)) + 2;
  const lines = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([left, right]) => `  ${left.padEnd(width)}${right}\n`).join('');
  const groups = GROUPS.map((group) => {
    const members = commands.filter((command) => command.group === group);
    const shown = members.map((command) => [`agt ${command.usage}`, command.summary] as const);
    return shown.length === 0 ? '' : `${HEADINGS[group]}\n${lines(shown)}\n`;
  });
  return [
    'agt [-C <path>] <command> [options]\n\n',
    'git for people who run coding agents: one sandbox and one shadow branch per session.\n\n',
    ...groups,
    `git:\n${lines(BUILT_IN)}\n`,
    `Options:\n${lines(GLOBAL_OPTIONS)}\n`,
    `Examples:\n${lines(EXAMPLES)}\n`,
    'Called as "git", agt is git without agent branches and agent-authored commits.\n',
  ].join('');
}

/** First words that are agt's own; every other one is git's. */
export function ownWords(commands: readonly Command[]): Set<string> {
  return new Set(commands.map((command) => commandName(command).split(' ')[0] ?? ''));
}
