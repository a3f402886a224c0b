/**
 * git mode: decide, cheapest question first, and become git. Unless a rule changes the command line, git gets it as it
 * was given.
 */
import { writeSync } from 'node:fs';
import { becomeGit } from '../git/run/become.ts';
import { expandAlias } from './command-line/alias.ts';
import { type CommandLine, dropDisableFlag, parseCommandLine } from './command-line/parse.ts';
import { COMMANDS } from './commands.ts';
import { captureBefore } from './guard/guard.ts';
import { findRealGit, type Invocation, openInvocation } from './invocation.ts';
import { planCommand } from './plan.ts';
import { defaultChoice } from './rules/decorations.ts';
import type { Rendering } from './rules/rule.ts';
import { leaveLogWords } from './shim/log-words.ts';
import { openView } from './view/repository-view.ts';

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
  let plan: readonly string[] | Rendering = given;
  try {
    const decision = decide(invocation);
    plan = decision.plan ?? given;
    captureBefore(decision.line, invocation);
  } catch (error) {
    if (command?.publishes) throw error;
    warn(error);
  }
  return 'render' in plan ? plan.render() : await becomeGit(git.path, plan, env);
}

interface Decision {
  /** Undefined: git gets the line as it was given. */
  readonly plan: readonly string[] | Rendering | undefined;
  /** With aliases expanded, where git mode knows what they mean. */
  readonly line: CommandLine;
}

function decide(invocation: Invocation): Decision {
  const { line, env } = invocation;
  const unchanged = { plan: undefined, line };
  const view = openView(invocation);
  if (view === undefined || view.namespaces.length + view.worktrees.length === 0) return unchanged;
  if (line.command === 'log') leaveLogWords(view, defaultChoice([], view), env);
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
