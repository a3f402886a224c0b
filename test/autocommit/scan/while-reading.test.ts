/** Files that change while an autocommit reads them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, snapshotTree, tryAutocommit } from '../../harness/session.ts';
import { agt, GIT_MODE, git, run, write } from '../../harness/world.ts';
import { during, expectCaptured } from './compare-with-disk.ts';

describe('a file that changes while agt reads it', { timeout: 120_000 }, () => {
  test('a file that grows and shrinks all the time is captured whole, or agt says that it could not', async () => {
    const session = makeSession();
    const path = join(session.sandbox, 'busy');
    const sizes = [10, 5_000_000, 100_000];
    const content = sizes.map((size, i) => Buffer.alloc(size, 48 + i));
    let last: string | undefined;
    for (let attempt = 0; attempt < 5; attempt++) {
      const code = await during(session, (round) => {
        writeFileSync(path, content[round % 3] as Buffer);
        if (round % 2 === 0) truncateSync(path, 7);
      });
      expect(code === 0 || code === 1).toBe(true);
      const now = snapshotTree(session, 'agtsessions/s1').get('sandbox/busy');
      // A file that could not be captured keeps its last version.
      if (code === 1) expect(now).toBe(last);
      last = now;
    }
    expect(git(session.repository, 'fsck', '--strict', '--no-dangling')).toBe('');
    autocommit(session);
    expectCaptured(session);
  });

  test('files and directories that come and go', async () => {
    const session = makeSession();
    for (let i = 0; i < 300; i++) write(join(session.sandbox, `d${i % 30}/f${i}`), `${i}\n`);
    const code = await during(session, (round) => {
      const dir = join(session.sandbox, `d${round % 30}`);
      rmSync(dir, { recursive: true, force: true });
      if (round % 3 === 0) mkdirSync(dir);
      else if (round % 3 === 1) writeFileSync(dir, 'a file now');
      else symlinkSync('nowhere', dir);
    });
    expect(code === 0 || code === 1).toBe(true);
    autocommit(session);
    expectCaptured(session);
    expect(git(session.repository, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  test('a log that is written all the time, and rotated', async () => {
    const session = makeSession();
    const log = join(session.folder, 'xdg/log');
    writeFileSync(log, '');
    await during(session, (round) => {
      appendFileSync(log, `${round}\n`);
      if (round % 50 === 0) renameSync(log, `${log}.1`);
    });
    autocommit(session);
    expectCaptured(session);
  });

  test('a log that only grows: its beginning is captured, the guard is content, and undo brings back the rest', async () => {
    const session = makeSession({ a: 'a\n' });
    const log = join(session.sandbox, 'log');
    write(log, 'first\n');
    autocommit(session);
    const writer = spawn('sh', ['-c', 'while echo line >> "$0"; do :; done', log], { stdio: 'ignore' });
    try {
      await once(writer, 'spawn');
      for (let round = 0; round < 3; round++) {
        write(join(session.sandbox, 'a'), `${round}\n`);
        expect(tryAutocommit(session)).toMatchObject({ exitCode: 0, stderr: '' });
      }
      const reset = run(GIT_MODE, ['checkout', '-q', '--', 'a'], { cwd: session.sandbox });
      expect(reset).toMatchObject({ exitCode: 0, stderr: '' });
      expect(snapshotTree(session, 'agtsessions/s1').get('sandbox/log')).toMatch(/^100644 first\nline\n/);
      const undo = agt(session.repository, 'session', 'undo', 's1');
      // The log itself cannot be brought back while it is written, unless the writer pauses.
      expect(undo.stderr.replace(/\w{10}:/, '')).toMatch(
        /^(warning: log was not restored: [^\n]+\nerror: 1 path differs from snapshot \n {2}log\n(hint: [^\n]+\n)?|)$/,
      );
      expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('2\n');
    } finally {
      writer.kill('SIGKILL');
    }
  });
});
