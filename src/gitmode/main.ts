/**
 * git mode: decides what to run, with the cheapest question first, and becomes git. git gets the command line as it was
 * given, unless a rule changes it.
 */
import { writeSync } from 'node:fs';
import { becomeGit } from '../git/run/become.ts';
import { expandAlias } from './command-line/alias.ts';
import { type CommandLine, dropDisableFlag, parseCommandLine } from './command-line/parse.ts';
import { COMMANDS } from './commands.ts';
import { captureBefore } from './guard/guard.ts';
import { findRealGit, type Invocation, openInvocation } from './invocation.ts';
import { planCommand } from './plan.ts';
import type { FilteredOutput } from './rules/rule.ts';
import { updateDecorationsFile } from './shim/decorations-file.ts';
import { openView } from './view/repository-view.ts';
import { hasNothingToHide } from './view/view.ts';

export async function runGitMode(words: string[]): Promise<number> {
  const { env } = process;
  const { words: given, disabled } = dropDisableFlag(words);
  const git = findRealGit(env);
  const line = parseCommandLine(given);
  if (disabled || isSet(env['AGT_DISABLE_FILTER']) || line === undefined)
    return becomeGit(git.path, given, env);
  const invocation = openInvocation(git, line, env);
  const command = COMMANDS.get(line.command);
  if (command !== undefined && command.rule === undefined) {
    captureBefore(line, invocation);
    return becomeGit(git.path, given, env);
  }
  let plan: readonly string[] | FilteredOutput = given;
  try {
    const decision = decide(invocation);
    plan = decision.plan ?? given;
    captureBefore(decision.line, invocation);
  } catch (error) {
    if (command?.publishes) throw error;
    warn(error);
  }
  return 'printFiltered' in plan ? plan.printFiltered() : await becomeGit(git.path, plan, env);
}

interface Decision {
  /** Undefined: git gets the line as it was given. */
  readonly plan: readonly string[] | FilteredOutput | undefined;
  /** With aliases expanded, if git mode knows what they mean. */
  readonly line: CommandLine;
}

function decide(invocation: Invocation): Decision {
  const { line, env } = invocation;
  const unchanged = { plan: undefined, line };
  const view = openView(invocation);
  if (view === undefined || hasNothingToHide(view)) return unchanged;
  if (line.command === 'log') updateDecorationsFile(view, env);
  const expanded = expandAlias(line, view, env);
  if (expanded === undefined) return unchanged;
  const hasRule = COMMANDS.get(expanded.command)?.rule !== undefined;
  return { plan: hasRule ? planCommand(expanded, view) : undefined, line: expanded };
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'no'].includes(value);
}

function warn(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  writeSync(2, `warning: agt: nothing is hidden: ${reason}\n`);
}
