/**
 * Expands the user's aliases as git.c does, so that `git lg` shows what `git log --graph` shows. The result is undefined
 * when git should get the line as it is: without an alias, in a loop of aliases, or for an alias that git refuses. A
 * shell alias becomes a line with the command SHELL_ALIAS.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { succeeds } from '../../errors.ts';
import { COMMANDS } from '../commands.ts';
import { isConfigTrue, type View } from '../view/view.ts';
import { type CommandLine, parseCommandLine, SHELL_ALIAS } from './parse.ts';

export function expandAlias(line: CommandLine, view: View, env: NodeJS.ProcessEnv): CommandLine | undefined {
  let current = line;
  const seen = new Set<string>();
  while (!COMMANDS.has(current.command)) {
    const { command } = current;
    const value = aliasValue(command, view);
    const help = current.args.length === 1 && current.args[0] === '-h';
    if (value === undefined || help || seen.has(command)) return undefined;
    if (isExternal(command, view, env)) return undefined;
    if (value.startsWith(SHELL_ALIAS))
      return { ...current, command: SHELL_ALIAS, args: [value.slice(SHELL_ALIAS.length), ...current.args] };
    seen.add(command);
    const words = splitCommandLine(value);
    const inner = words === undefined ? undefined : parseCommandLine(words);
    if (inner === undefined || !inner.globals.every(changesNoEnvironment)) return undefined;
    const pager = seen.size === 1 ? pagerOptions(command, view) : [];
    current = {
      globals: [...current.globals, ...pager, ...inner.globals],
      command: inner.command,
      args: [...inner.args, ...current.args],
    };
  }
  return current;
}

/** Names of aliases ignore case; from git 2.54 on there is also `alias.<name>.command`. */
function aliasValue(name: string, view: View): string | undefined {
  return view.config(`alias.${name.toLowerCase()}`).at(-1) ?? view.config(`alias.${name}.command`).at(-1);
}

/** git refuses other global options in an alias: they would come too late. */
function changesNoEnvironment(word: string, i: number, all: readonly string[]): boolean {
  return all[i - 1] === '-c' || ['-c', '-p', '--paginate', '-P', '--no-pager'].includes(word);
}

/** git prefers a program `git-<name>` to an alias. */
function isExternal(name: string, view: View, env: NodeJS.ProcessEnv): boolean {
  const dirs = [view.ask(['--exec-path']).stdout.trim(), ...(env['PATH'] ?? '').split(delimiter)];
  return dirs.some((dir) => succeeds(() => accessSync(join(dir || '.', `git-${name}`), constants.X_OK)));
}

/** The options that have the effect of `pager.<alias>`. */
function pagerOptions(alias: string, view: View): string[] {
  const value = view.config(`pager.${alias.toLowerCase()}`).at(-1);
  if (value === undefined) return [];
  if (/^(false|no|off|0|)$/i.test(value)) return ['-P'];
  return isConfigTrue(value) ? ['-p'] : ['-p', '-c', `core.pager=${value}`];
}

/** Splits at blanks, with quotes and backslashes, as git's split_cmdline(); undefined for text that it refuses. */
export function splitCommandLine(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (quote === '' && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (quote === '' && (char === "'" || char === '"')) {
      quote = char;
      word ??= '';
    } else if (char === quote) {
      quote = '';
    } else if (char === '\\' && quote !== "'") {
      if (++i >= text.length) return undefined;
      word = (word ?? '') + text[i];
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== '') return undefined;
  return word === undefined ? words : [...words, word];
}
