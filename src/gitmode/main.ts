/** git mode: the cheapest question first. git gets the line as it was given, unless a rule changes it. */
import { existsSync, rmSync, writeSync } from 'node:fs';
import { EXIT, errorCode, systemReason } from '../errors.ts';
import { becomeGit, endBySignal, runAsChild } from '../git/run/become.ts';
import { marked } from '../git/run/environment.ts';
import { asksWhetherAgt, SHIM_MARK } from '../git/run/find-git.ts';
import { agtDirectory } from '../layout.ts';
import { expandAlias } from './command-line/alias.ts';
import { type CommandLine, dropDisableFlag, parseCommandLine } from './command-line/parse.ts';
import { COMMANDS, usesFacts } from './commands.ts';
import { warn } from './guard/capture.ts';
import { captureBefore } from './guard/guard.ts';
import { refusalOf } from './guard/refuse.ts';
import { sessionsHere } from './guard/sessions.ts';
import { findRealGit, type Invocation, openInvocation } from './invocation.ts';
import { asksAlternates, type GitCall, planCommand } from './plan.ts';
import type { FilteredOutput } from './rules/rule.ts';
import { updateFactsFile } from './shim/facts-file.ts';
import { renewOwnShim } from './shim/renew.ts';
import { autostashMove } from './stash/autostash.ts';
import { sandboxWords, stashRun } from './stash/stash.ts';
import { openView } from './view/repository-view.ts';
import { hasNothingToHide } from './view/view.ts';

/** `isOfUser`: of `agt push`; agt.refuse is for the git of agents alone. `returns`: the caller has more to say. */
export async function runGitMode(
  words: string[],
  { isOfUser = false, returns = false } = {},
): Promise<number> {
  if (asksWhetherAgt(words, process.env)) {
    writeSync(1, `${SHIM_MARK}\n`);
    return EXIT.done;
  }
  const { words: given, disabled } = dropDisableFlag(words);
  const git = findRealGit(process.env);
  renewOwnShim(process.env);
  const env = marked(process.env);
  const line = parseCommandLine(given);
  if (disabled || isSet(env['AGT_DISABLE_FILTER']) || line === undefined)
    return becomeGit(git.path, given, env);
  const invocation = openInvocation(git, line, env);
  let publishes = COMMANDS.get(line.command)?.publishes;
  let plan: GitCall | FilteredOutput = { words: given };
  let decision: Decision = { plan: undefined, line };
  try {
    decision = decide(invocation);
    plan = decision.plan ?? plan;
    publishes ||= COMMANDS.get(decision.line.command)?.publishes;
    if (publishes) requirePrefixes(invocation);
    const refusal = isOfUser ? undefined : refusalOf(invocation.refuses, decision.line, invocation.git);
    if (refusal !== undefined) {
      writeSync(2, `${refusal}\n`);
      return EXIT.failed; // as a git whose hook has refused
    }
    captureBefore(decision.line, invocation);
  } catch (error) {
    if (publishes) throw error;
    warn(`nothing is hidden: ${(error as Error).message}`);
  }
  for (const { error } of invocation.problems) warn(error.message);
  const stash = stashRun(decision.line, invocation, git.path);
  if (stash !== undefined) return stash();
  if ('filtered' in plan) {
    const { exitCode, stdout } = plan.filtered();
    print(stdout);
    return exitCode;
  }
  const { directory } = plan;
  const rewritten = sandboxWords(decision, plan.words, invocation);
  const gitEnv = { ...env, ...plan.env };
  const move = autostashMove(decision.line, invocation);
  if (directory === undefined && move === undefined && !returns)
    return becomeGit(git.path, rewritten, gitEnv);
  const clean = () => {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    move?.();
  };
  return runAsChild(git.path, rewritten, gitEnv, clean);
}

interface Decision {
  /** Undefined: git gets the line as it was given. */
  readonly plan: GitCall | FilteredOutput | undefined;
  /** With aliases expanded, if git mode knows what they mean. */
  readonly line: CommandLine;
}

function decide(invocation: Invocation): Decision {
  const { line, env } = invocation;
  const unchanged = { plan: undefined, line };
  const command = COMMANDS.get(line.command);
  if (command !== undefined && command.rule === undefined) return unchanged;
  // Shells' completion asks for the options of a command. git answers if there is no other word.
  if (line.args[0]?.startsWith('--git-completion-helper')) return unchanged;
  const view = openView(invocation);
  if (view === undefined) return unchanged;
  if (command !== undefined && usesFacts(command)) updateFactsFile(view, env);
  const hidesNothing = hasNothingToHide(view) && !asksAlternates(line.args);
  // In a session, the guard wants to know what an alias stands for, and agt.refuse everywhere.
  const isGuarded = () => invocation.refuses.length > 0 || sessionsHere(invocation).length > 0;
  if (hidesNothing && (command !== undefined || !isGuarded())) return unchanged;
  const expanded = expandAlias(line, view, env);
  if (expanded === undefined) return unchanged;
  const hasRule = !hidesNothing && COMMANDS.get(expanded.command)?.rule !== undefined;
  return { plan: hasRule ? planCommand(expanded, view) : undefined, line: expanded };
}

/** @throws AgtError if the settings that cannot be used may have named the refs that nobody must get. */
function requirePrefixes({ repository, problems }: Invocation): void {
  const isOfRefs = (name: string | undefined) =>
    name === undefined || name === 'agt.branchPrefix' || name === 'agt.workPrefix';
  const problem = problems.find(({ name }) => isOfRefs(name));
  if (problem !== undefined && repository !== undefined && existsSync(agtDirectory(repository.commonDir)))
    throw problem.error;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'no'].includes(value);
}

/** Prints all bytes in git's place, and ends as git does if the reader is gone or nothing can be written. */
function print(latin1: string): void {
  const bytes = Buffer.from(latin1, 'latin1');
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if (errorCode(error) === 'EPIPE') endBySignal('SIGPIPE');
      if (errorCode(error) === 'EAGAIN') continue;
      const reason = systemReason(error).replace(/^./, (letter) => letter.toUpperCase());
      writeSync(2, `fatal: write failure on standard output: ${reason}\n`);
      process.exit(EXIT.git);
    }
  }
}
