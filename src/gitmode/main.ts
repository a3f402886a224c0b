/**
 * git mode: decide, cheapest question first, and become git. Every way out that is not a rewrite is the command line
 * as it was given.
 */
import { writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { localConfigPath } from '../config/local-config.ts';
import { globalConfigPath, readSettingValues, toSettings } from '../config/settings.ts';
import { errorCode } from '../errors.ts';
import { discoverRepository } from '../git/files/discover.ts';
import { askGit, captureGit } from '../git/run/ask.ts';
import { becomeGit } from '../git/run/become.ts';
import { findGit, ownFiles } from '../git/run/find.ts';
import { packed } from '../process/invocation.ts';
import { expandAlias } from './command-line/alias.ts';
import { PASSED_ON } from './command-line/commands.ts';
import {
  type CommandLine,
  dropDisableFlag,
  parseCommandLine,
  startOf,
  withoutPager,
} from './command-line/parse.ts';
import { destroys } from './guard/destroys.ts';
import { guardWork } from './guard/guard.ts';
import { planCommand } from './plan.ts';
import { defaultChoice } from './rules/decorations.ts';
import { RULES } from './rules/index.ts';
import type { Rendering } from './rules/rule.ts';
import { leaveLogWords } from './shim/log-words.ts';
import { openView } from './view/repository-view.ts';
import type { View } from './view/view.ts';

/** Commands that send refs away: where agt fails, they must not run with everything in sight. */
const PUBLISHING = new Set(['push', 'send-pack', 'bundle', 'fast-export']);

export async function runGitMode(words: string[]): Promise<number> {
  const { env } = process;
  const { words: given, disabled } = dropDisableFlag(words);
  const git = realGit(env);
  const line = parseCommandLine(given);
  if (disabled || isSet(env['AGT_DISABLE_FILTER']) || line === undefined) return becomeGit(git, given, env);
  if (PASSED_ON.has(line.command)) {
    guard(line, git, env);
    return becomeGit(git, given, env);
  }
  let plan: readonly string[] | Rendering = given;
  try {
    const decided = decide(line, given, git, env);
    plan = decided.plan;
    guard(decided.line, git, env);
  } catch (error) {
    if (PUBLISHING.has(line.command)) throw error;
    warn(error);
  }
  return 'render' in plan ? plan.render() : await becomeGit(git, plan, env);
}

interface Decision {
  readonly plan: readonly string[] | Rendering;
  /** With aliases expanded, where git mode knows what they mean. */
  readonly line: CommandLine;
}

function decide(line: CommandLine, given: readonly string[], git: string, env: NodeJS.ProcessEnv): Decision {
  const view = viewFrom(line, git, env);
  if (view === undefined || view.spaces.length + view.worktrees.length === 0) return { plan: given, line };
  if (line.command === 'log') leaveLogWords(view, defaultChoice([], view), env);
  if (RULES.has(line.command)) return { plan: planCommand(line, view), line };
  const expanded = expandAlias(line, view, env);
  if (expanded === undefined) return { plan: given, line };
  return { plan: RULES.has(expanded.command) ? planCommand(expanded, view) : given, line: expanded };
}

function guard(line: CommandLine, git: string, env: NodeJS.ProcessEnv): void {
  if (!destroys(line)) return;
  const { cwd, repository } = locate(line, env);
  const globals = withoutPager(line.globals);
  const ask = (args: readonly string[]) => askGit(git, [...globals, ...args], env);
  if (repository !== undefined) guardWork(line, repository, { cwd, env, ask });
}

function locate(line: CommandLine, env: NodeJS.ProcessEnv) {
  const start = startOf(line.globals);
  const cwd = start.directories.reduce((dir, next) => resolve(dir, next), process.cwd());
  const gitDir = start.gitDir ?? env['GIT_DIR'] ?? (start.bare ? '.' : undefined);
  const repository = discoverRepository(cwd, gitDir === undefined ? env : { ...env, GIT_DIR: gitDir });
  return { cwd, repository };
}

/** The view of the repository that git would find, or undefined where there is none. */
function viewFrom(line: CommandLine, git: string, env: NodeJS.ProcessEnv): View | undefined {
  const { repository } = locate(line, env);
  if (repository === undefined) return undefined;
  const files = { global: globalConfigPath(env), local: localConfigPath(repository.commonDir) };
  const settings = toSettings(readSettingValues(files, env));
  const globals = withoutPager(line.globals);
  return openView(repository, settings, {
    ask: (args, input) => askGit(git, [...globals, ...args], env, input),
    show: (args) => captureGit(git, [...line.globals, ...args], env),
    print: (text) => printBytes(Buffer.from(text, 'latin1')),
  });
}

function realGit(env: NodeJS.ProcessEnv): string {
  const values = readSettingValues({ global: globalConfigPath(env), local: undefined }, env);
  const configured = values.find((value) => value.name === 'agt.gitPath');
  return findGit({
    configured:
      configured === undefined || configured.value === ''
        ? undefined
        : { path: configured.value, origin: configured.origin },
    path: env['PATH'],
    self: ownFiles(packed),
  });
}

/** All of it, however slowly the reader takes it; a reader that has gone ends the program as it ends git. */
function printBytes(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (errorCode(error) === 'EPIPE') process.kill(process.pid, 'SIGPIPE');
      if (errorCode(error) !== 'EAGAIN') return;
    }
  }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'no'].includes(value);
}

function warn(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  writeSync(2, `warning: agt: nothing is hidden: ${reason}\n`);
}
