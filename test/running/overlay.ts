/** Runs commands that see the sandbox at the path of the checkout. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { TestSession } from '../harness/session.ts';
import { AGT, git, type Outcome, REAL_GIT, run } from '../harness/world.ts';

export const OVERLAY = ['--working-copy', 'cow-overlay'];

export function probe(...words: string[]): string | undefined {
  const [program = '', ...args] = words;
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return error?.message ?? (status === 0 ? undefined : stderr.trim());
}

export const problem =
  process.platform !== 'linux' || process.getuid?.() !== 0
    ? 'only root can make a mount namespace without more'
    : probe('unshare', '--mount', 'true');

export const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'].find(existsSync) ?? 'setpriv';
export const asUser = ['--reuid=65534', '--regid=65534', '--clear-groups'];
export const userProblem =
  problem ?? probe('setpriv', ...asUser, 'unshare', '--user', '--map-root-user', '--mount', 'true');

export function programPath(name: string): string {
  const found = (process.env['PATH'] ?? '').split(':').map((directory) => join(directory, name));
  return name === 'git' ? REAL_GIT : (found.find(existsSync) ?? `/bin/${name}`);
}

const children: ChildProcess[] = [];

/** At the end of a test. */
export function killChildren(): void {
  for (const child of children.splice(0)) child.kill('SIGKILL');
}

/** A shell script in the session. */
export function inside({ repository, id }: TestSession, script: string, cwd = repository): Outcome {
  return run(AGT, ['run', id, ...OVERLAY, '--', 'sh', '-c', script], { cwd });
}

export function lines({ stdout, stderr, exitCode }: Outcome): string[] {
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  return stdout.trim().split('\n');
}

export function snapshots({ repository, id }: TestSession): number {
  return Number(git(repository, 'rev-list', '--count', '--first-parent', `refs/agt/tip/${id}`, '^main'));
}

/** Starts a script that prints a line and then waits for one. */
export async function start(
  { repository, id }: TestSession,
  script: string,
  more = {},
): Promise<ChildProcess> {
  const child = spawn(AGT, ['run', id, ...OVERLAY, '--', 'sh', '-c', script], {
    cwd: repository,
    env: { ...process.env, AGT_GIT_PATH: REAL_GIT, ...more },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  await new Promise((resolve, reject) => {
    child.stdout?.once('data', resolve);
    child.once('exit', (code) => reject(new Error(`it ended with ${code}, before its first line`)));
  });
  return child;
}

export function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })));
}

export function expectNothingMounted(path: string): void {
  const table = readFileSync('/proc/self/mountinfo', 'latin1');
  expect(table.split('\n').filter((line) => line.includes(path))).toEqual([]);
}
