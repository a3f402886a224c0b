/** agt captures and restores bytes that a process writes through its memory, although no time of the file changes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession } from '../harness/session.ts';
import { agt, write } from '../harness/world.ts';

/** Maps a file, and writes each line that it reads to the beginning of the mapping. */
const PROGRAM = `
import mmap, sys
with open('data', 'r+b') as f:
    m = mmap.mmap(f.fileno(), 0)
    m[0:1] = b'0'
    print('mapped', flush=True)
    for line in sys.stdin:
        m[0:1] = line[0].encode()
        print('written', flush=True)
`;

async function say(child: ChildProcess, text: string): Promise<void> {
  child.stdin?.write(`${text}\n`);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
}

test('a mapped file', async ({ skip }) => {
  skip(process.platform !== 'linux', 'needs /proc');
  skip(spawnSync('python3', ['--version']).status !== 0, 'there is no python3(1)');
  const session = makeSession();
  const data = join(session.sandbox, 'data');
  write(data, 'x'.repeat(8192));
  const child = spawn('python3', ['-c', PROGRAM], {
    cwd: session.sandbox,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  autocommit(session, '--label', 'then');
  for (const text of ['1', '2']) {
    await say(child, text);
    expect(autocommit(session).changes).toEqual([{ path: 'sandbox/data', status: 'modified' }]);
  }
  expect(autocommit(session).outcome).toBe('unchanged');
  const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
  expect(done).toMatchObject({ exitCode: 0, stderr: '' });
  expect(readFileSync(data, 'latin1').slice(0, 2)).toBe('0x');
  child.stdin.end();
  await ended;
});

test('what was written last, by a process that is gone', async ({ skip }) => {
  skip(process.platform !== 'linux', 'needs /proc');
  skip(spawnSync('python3', ['--version']).status !== 0, 'there is no python3(1)');
  const session = makeSession();
  write(join(session.sandbox, 'data'), 'x'.repeat(8192));
  const child = spawn('python3', ['-c', PROGRAM], {
    cwd: session.sandbox,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  autocommit(session);
  await say(child, '9');
  child.stdin.end();
  await ended;
  expect(autocommit(session).changes).toEqual([{ path: 'sandbox/data', status: 'modified' }]);
});
