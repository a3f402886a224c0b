/** Mounts snapshots, and looks at what is left of them. */
import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { TestSession } from '../harness/session.ts';
import { agtOk, git, write } from '../harness/world.ts';

export interface Mount {
  readonly directory: string;
  readonly way: string;
  readonly state: string;
  readonly commit: string;
  readonly reason?: string | null;
}

export const mountProblem =
  process.getuid?.() !== 0
    ? 'only root can mount a file system'
    : existsSync('/dev/fuse')
      ? undefined
      : 'there is no /dev/fuse';

export function mount({ repository, id }: TestSession, ...words: string[]): Mount {
  return JSON.parse(agtOk(repository, 'session', 'mount', id, '--to', '@', '--json', ...words)) as Mount;
}

export function mounted(repository: string): Mount[] {
  return JSON.parse(agtOk(repository, 'session', 'mount', '--json')) as Mount[];
}

export function umount({ repository, id }: TestSession): void {
  agtOk(repository, 'session', 'umount', id);
}

/** The server of a mount, by its record. */
export function serverOf(repository: string, { directory }: Mount): number {
  for (const name of readdirSync(join(repository, '.git/agt/mounts'))) {
    const record = JSON.parse(readFileSync(join(repository, '.git/agt/mounts', name), 'utf8'));
    if (record.directory === directory) return record.process.pid as number;
  }
  throw new Error(`nobody serves ${directory}`);
}

export async function ended(pid: number): Promise<void> {
  for (let n = 0; n < 500; n++) {
    try {
      if (/^[ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, ''))) return;
    } catch {
      return;
    }
    await sleep(20);
  }
  throw new Error(`process ${pid} runs on`);
}

/** Nothing of any mount is left. */
export function expectNothingLeft(repository: string): void {
  const table = readFileSync('/proc/self/mountinfo', 'latin1');
  expect(table.split('\n').filter((line) => line.includes(`${repository}.agt/mounts`))).toEqual([]);
  expect(git(repository, 'for-each-ref', 'refs/agt/mounted')).toBe('');
  expect(existsSync(`${repository}.agt/mounts`)).toBe(false);
  const records = join(repository, '.git/agt/mounts');
  expect(existsSync(records) ? readdirSync(records) : []).toEqual([]);
}

/** Files of every kind that a snapshot can hold. */
export function fill({ folder, sandbox, repository, id }: TestSession): void {
  write(join(sandbox, 'key'), 'secret\n', 0o600);
  write(join(sandbox, 'program'), '#!/bin/sh\n', 0o755);
  write(join(sandbox, 'read-only/file'), 'x\n', 0o444);
  chmodSync(join(sandbox, 'read-only'), 0o750);
  symlinkSync('../no/such/file', join(sandbox, 'link'));
  mkdirSync(join(sandbox, 'empty/in/empty'), { recursive: true });
  write(join(sandbox, '.GIT'), 'not of git\n');
  write(join(sandbox, 'sub/.gitmodules'), 'odd\n');
  writeFileSync(Buffer.from(`${sandbox}/not utf-8 \xff\n`, 'latin1'), 'odd name\n');
  write(join(sandbox, 'n'.repeat(255)), 'long name\n');
  write(join(sandbox, 'nothing'), '');
  write(join(sandbox, 'large'), LARGE);
  for (let n = 0; n < 500; n++) write(join(sandbox, `many/of them/file ${n}`), `content ${n}\n`);
  write(join(folder, 'xdg/agent/log'), 'log\n');
  write(join(folder, '.agtignore'), 'sandbox/ignored\n');
  write(join(sandbox, 'ignored'), 'ignored\n');
  agtOk(repository, 'autocommit', id);
  rmSync(join(sandbox, 'ignored'));
  agtOk(repository, 'autocommit', id);
}

export const ALL_STEPS = process.env['AGT_TEST_STEPS'] === 'all';

/** More than agt keeps in memory at once. */
export const LARGE = Buffer.alloc(9_000_001, 'a large file\n');

export function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve) => child.on('close', () => resolve(output)));
}
