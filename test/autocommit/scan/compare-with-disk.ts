/** Sessions whose files change, and the comparison of their snapshots with the disk, file by file. */
import { execFileSync, spawn } from 'node:child_process';
import { linkSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { autocommit, makeSession, onDisk, snapshotTree, type TestSession } from '../../harness/session.ts';
import { AGT, REAL_GIT } from '../../harness/world.ts';

export function expectCaptured(session: TestSession): void {
  expect(snapshotTree(session, 'agtsessions/s1')).toEqual(onDisk(session));
  expect(autocommit(session).outcome).toBe('unchanged');
}

export const OLD = new Date('2001-02-03T04:05:06Z');

export function shell(cwd: string, command: string): void {
  execFileSync('sh', ['-ec', command], { cwd });
}

/** Repeats `action` until the autocommit has ended. */
export async function during(
  session: TestSession,
  action: (round: number, pid: number | undefined) => void,
): Promise<number | null> {
  const child = spawn(AGT, ['autocommit', '--session-id', 's1'], {
    cwd: session.repository,
    env: { ...process.env, AGT_GIT_PATH: REAL_GIT },
    stdio: 'ignore',
  });
  let code: number | null | undefined;
  child.on('close', (status) => {
    code = status;
  });
  for (let round = 0; code === undefined; round++) {
    action(round, child.pid);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return code;
}

/** Everything is of the same size and age, so that nothing but the content tells one from another. */
export function makeTwins(): TestSession {
  const session = makeSession({
    'a.txt': 'aaaa\n',
    'b.txt': 'bbbb\n',
    'dir/a.txt': 'cccc\n',
    'dir/sub/b.txt': 'dddd\n',
    'dir2/a.txt': 'eeee\n',
    'dir2/sub/b.txt': 'ffff\n',
    'run.sh': '#!/x\n',
  });
  symlinkSync('a.txt', join(session.sandbox, 'link'));
  linkSync(join(session.sandbox, 'b.txt'), join(session.sandbox, 'hard'));
  for (const path of [
    'a.txt',
    'b.txt',
    'dir/a.txt',
    'dir/sub/b.txt',
    'dir2/a.txt',
    'dir2/sub/b.txt',
    'run.sh',
  ])
    utimesSync(join(session.sandbox, path), OLD, OLD);
  autocommit(session);
  return session;
}
