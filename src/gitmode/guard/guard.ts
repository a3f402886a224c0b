/**
 * Captures the session before a command that can destroy work in its sandbox. Outside a sandbox it does nothing. When it
 * fails, it prints one warning, and git runs all the same, with its own output and exit code.
 */

import { spawnSync } from 'node:child_process';
import { realpathSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readSessionFile } from '../../filter/session-file.ts';
import type { DiscoveredRepository } from '../../git/files/discover-repository.ts';
import { readSmallFile } from '../../git/files/read-small-file.ts';
import { ownCommand } from '../../process/invocation.ts';
import { agtDirectory } from '../../repository/layout.ts';
import type { CommandLine } from '../command-line/parse.ts';
import type { GitAccess, Invocation } from '../invocation.ts';
import { commitsAtRisk, isDestructive } from './destructive.ts';

interface Sandbox {
  readonly session: string;
  readonly path: string;
}

/** `line` is the line of the invocation, with aliases expanded. */
export function captureBefore(line: CommandLine, invocation: Invocation): void {
  if (!isDestructive(line)) return;
  try {
    const { git, repository, cwd, env } = invocation;
    if (repository === undefined) return;
    const sandbox = sandboxOf(repository);
    if (sandbox === undefined || !invocation.settings.guard) return;
    const keep = commitsAtRisk(line).flatMap((question) => newestCommits(question, git));
    const label = `before git ${[line.command, ...line.args].join(' ')}`;
    captureSession(sandbox, label, keep, env);
    for (const other of removedSandboxes(line, repository, cwd)) captureSession(other, label, [], env);
  } catch (error) {
    warn((error as Error).message);
  }
}

/** The sandboxes that `git worktree remove PATH` removes. */
function removedSandboxes(line: CommandLine, { commonDir }: DiscoveredRepository, cwd: string): Sandbox[] {
  if (line.command !== 'worktree') return [];
  const paths = line.args.slice(1).filter((arg) => !arg.startsWith('-'));
  return paths.flatMap((path) => {
    const gitFile = readSmallFile(join(resolve(cwd, path), '.git'));
    const gitDir = /^gitdir: (.*)$/.exec(gitFile ?? '')?.[1];
    const sandbox = gitDir === undefined ? undefined : sandboxOf({ gitDir, commonDir });
    return sandbox ?? [];
  });
}

/** The sandbox at the current worktree of `repository`; undefined for any other worktree. */
function sandboxOf({ gitDir, commonDir }: DiscoveredRepository): Sandbox | undefined {
  const gitFile = gitDir === commonDir ? undefined : readSmallFile(join(gitDir, 'gitdir'));
  if (gitFile === undefined) return undefined;
  const path = dirname(resolve(gitDir, gitFile));
  const session = basename(dirname(path));
  const file = readSessionFile(agtDirectory(commonDir), session);
  return file?.state === 'active' && isSame(file.sandbox, path) ? { session, path } : undefined;
}

function isSame(one: string, other: string): boolean {
  return one === other || realpathSync(one) === realpathSync(other);
}

/** Among the commits of the question, those that are no parent of another: these keep all the others. */
function newestCommits(question: readonly string[], { ask }: GitAccess): string[] {
  const { exitCode, stdout } = ask(['rev-list', '--parents', ...question]);
  if (exitCode !== 0) return [];
  const lines = stdout.split('\n').filter((text) => text !== '');
  const parents = new Set(lines.flatMap((text) => text.split(' ').slice(1)));
  return [...new Set(lines.map((text) => text.split(' ')[0] as string))].filter(
    (commit) => !parents.has(commit),
  );
}

/** Runs `agt autocommit`, which prints nothing if it succeeds: its output would be among git's. */
function captureSession(
  { session, path }: Sandbox,
  label: string,
  keep: readonly string[],
  env: NodeJS.ProcessEnv,
): void {
  const [program = '', ...scripts] = ownCommand();
  const args = ['autocommit', '--session-id', session, '--label', label, '--if-changed', '--wait', '5'];
  const words = [...scripts.map((script) => realpathSync(script)), ...args];
  const run = spawnSync(program, [...words, ...keep.flatMap((commit) => ['--keep', commit])], {
    argv0: 'agt',
    cwd: path,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (run.error !== undefined) throw run.error;
  const lines = run.stderr.split('\n');
  if (run.status === 0) {
    // Snapshots that were thinned to stay within the budget are gone: that is worth a line.
    const thinned = lines.find((line) => /^warning: .*\bagt\.budget\b/.test(line));
    if (thinned !== undefined) writeSync(2, `${thinned}\n`);
    return;
  }
  const problem = lines.find((line) => /^(error|warning): /.test(line)) ?? `exit code ${run.status}`;
  warn(problem.replace(/^(error|warning): /, ''));
}

function warn(reason: string): void {
  writeSync(2, `warning: agt: the session was not captured before this command: ${reason}\n`);
}
