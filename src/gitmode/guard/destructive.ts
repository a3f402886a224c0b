/** Looks up in the table of commands whether a command line can destroy work, and which commits. */
import { type CommandLine, SHELL_ALIAS } from '../command-line/parse.ts';
import { COMMANDS } from '../commands.ts';

export function isDestructive({ command, args }: CommandLine): boolean {
  if (command === SHELL_ALIAS) return namesDestructiveCommand(args[0] ?? '');
  return !args.includes('-h') && (COMMANDS.get(command)?.destroys?.(args) ?? false);
}

/** Arguments for `git rev-list`, one list for each question. */
export function commitsAtRisk({ command, args }: CommandLine): readonly (readonly string[])[] {
  return COMMANDS.get(command)?.commitsAtRisk?.(args) ?? [];
}

/** A shell alias runs any command: its text is searched for the names. */
function namesDestructiveCommand(text: string): boolean {
  const names = [...COMMANDS].filter(([, { destroys }]) => destroys !== undefined).map(([name]) => name);
  return new RegExp(`(?<![\\w-])(?:${names.join('|')})(?![\\w-])`).test(text);
}
