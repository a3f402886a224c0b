/**
 * Captures the session before a command that can destroy work in its sandbox. git's output and exit code stay its own:
 * whatever fails here is told in one line, and git goes on. Outside a sandbox there is nothing of it.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { localConfigPath } from '../../config/local-config.ts';
import { globalConfigPath, readSettingValues, toSettings } from '../../config/settings.ts';
import { type Repository, readLine } from '../../git/files/discover.ts';
import type { Answer } from '../../git/run/ask.ts';
import { ownCommand } from '../../process/invocation.ts';
import { agtDirectory, recordFile } from '../../repository/layout.ts';
import type { CommandLine } from '../command-line/parse.ts';
import { namesTaken } from './destroys.ts';

export interface Sandbox {
  readonly session: string;
  readonly path: string;
}

export interface GuardDoor {
  readonly env: NodeJS.ProcessEnv;
  /** Absolute; with every `-C` applied. */
  readonly cwd: string;
  readonly ask: (args: readonly string[]) => Answer;
}

export function guardWork(line: CommandLine, repository: Repository, door: GuardDoor): void {
  try {
    const sandbox = sandboxOf(repository);
    if (sandbox === undefined) return;
    const files = { global: globalConfigPath(door.env), local: localConfigPath(repository.commonDir) };
    if (!toSettings(readSettingValues(files, door.env)).guard) return;
    const keep = namesTaken(line).flatMap((question) => commitsLeft(question, door));
    const label = `before git ${[line.command, ...line.args].join(' ')}`;
    captureSession(sandbox, label, keep, door.env);
    for (const other of sandboxesNamed(line, repository, door.cwd))
      captureSession(other, label, [], door.env);
  } catch (error) {
    warn((error as Error).message);
  }
}

/** Other sandboxes that the command removes: of `worktree remove PATH`. */
function sandboxesNamed(line: CommandLine, { commonDir }: Repository, cwd: string): Sandbox[] {
  if (line.command !== 'worktree') return [];
  const paths = line.args.slice(1).filter((arg) => !arg.startsWith('-'));
  return paths.flatMap((path) => {
    const gitFile = readLine(join(resolve(cwd, path), '.git'));
    const gitDir = /^gitdir: (.*)$/.exec(gitFile ?? '')?.[1];
    const sandbox = gitDir === undefined ? undefined : sandboxOf({ gitDir, commonDir });
    return sandbox ?? [];
  });
}

/** The sandbox that a worktree is; undefined for any other. */
export function sandboxOf({ gitDir, commonDir }: Repository): Sandbox | undefined {
  const gitFile = gitDir === commonDir ? undefined : readLine(join(gitDir, 'gitdir'));
  if (gitFile === undefined) return undefined;
  const path = dirname(resolve(gitDir, gitFile));
  const session = basename(dirname(path));
  let record: { sandbox?: unknown; state?: unknown };
  try {
    record = JSON.parse(readFileSync(recordFile(agtDirectory(commonDir), session), 'utf8'));
  } catch {
    return undefined; // no session's worktree
  }
  return record.state === 'active' && typeof record.sandbox === 'string' && isSame(record.sandbox, path)
    ? { session, path }
    : undefined;
}

function isSame(one: string, other: string): boolean {
  return one === other || realpathSync(one) === realpathSync(other);
}

/** Of the commits that are asked for, those that no other one has as its parent: they keep the rest. */
function commitsLeft(question: readonly string[], { ask }: GuardDoor): string[] {
  const { exitCode, stdout } = ask(['rev-list', '--parents', ...question]);
  if (exitCode !== 0) return [];
  const lines = stdout.split('\n').filter((text) => text !== '');
  const parents = new Set(lines.flatMap((text) => text.split(' ').slice(1)));
  return [...new Set(lines.map((text) => text.split(' ')[0] as string))].filter(
    (commit) => !parents.has(commit),
  );
}

function captureSession(
  { session, path }: Sandbox,
  label: string,
  keep: readonly string[],
  env: NodeJS.ProcessEnv,
): void {
  const [program = '', ...words] = ownCommand();
  const args = ['autocommit', '--session-id', session, '--label', label, '--if-changed', '--wait', '5'];
  const run = spawnSync(
    program,
    [
      ...words.map((script) => realpathSync(script)),
      ...args,
      ...keep.flatMap((commit) => ['--keep', commit]),
    ],
    {
      argv0: 'agt',
      cwd: path,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    },
  );
  if (run.error !== undefined) throw run.error;
  if (run.status === 0) {
    const thinned = run.stderr.split('\n').find((text) => text.includes(': past agt.budget: '));
    if (thinned !== undefined) writeSync(2, `${thinned}\n`);
    return;
  }
  const [reason = `exit code ${run.status}`] = run.stderr
    .split('\n')
    .filter((text) => /^(error|warning): /.test(text))
    .map((text) => text.replace(/^\w+: /, ''));
  warn(reason);
}

function warn(reason: string): void {
  writeSync(2, `warning: agt: work was not captured before this: ${reason}\n`);
}
