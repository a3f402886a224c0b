/** Objects are flushed to disk before a ref moves to them: the system calls show it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession } from '../harness/session.ts';
import { NO_STRACE, strace, straceWorks } from '../harness/strace.ts';
import { AGT, git, makeTempDir, write } from '../harness/world.ts';

const CALLS = 'trace=fsync,fdatasync,sync_file_range,rename,renameat,renameat2,link,linkat';

test('pack, index and staged trees, then the lock of the ref, then the ref', ({ skip }) => {
  skip(!straceWorks, NO_STRACE);
  const session = makeSession();
  autocommit(session);
  write(join(session.sandbox, 'dir/new'), 'new\n');
  git(session.sandbox, 'add', '.');
  const calls = callsOf(session.repository, 'autocommit', '--session-id', 's1');
  const first = (pattern: RegExp) => firstOf(calls, pattern);
  const moved = first(/rename\w*\(.*refs\/agt\/tip\/s1\.lock"/);
  expect(first(/f(data)?sync\(\d+<.*objects\/pack\/(tmp_pack_|pack-.*\.pack)/)).toBeLessThan(moved);
  expect(first(/f(data)?sync\(\d+<.*objects\/pack\/(tmp_idx_|pack-.*\.idx)/)).toBeLessThan(moved);
  expect(first(/(sync_file_range|f(data)?sync)\(\d+<.*objects\/tmp_objdir-bulk-fsync/)).toBeLessThan(moved);
  expect(first(/f(data)?sync\(\d+<.*refs\/agt\/tip\/s1\.lock>/)).toBeLessThan(moved);
});

test('metadata, by content and by name, before the branches that they name', ({ skip }) => {
  skip(!straceWorks, NO_STRACE);
  const calls = callsOf(makeSession().repository, 'session', 'new', 's2');
  const written = firstOf(calls, /f(data)?sync\(\d+<.*agt\/sessions\/s2\.json\.tmp>/);
  const renamed = firstOf(calls, /rename\w*\(.*agt\/sessions\/s2\.json\.tmp"/);
  const flushed = calls.findIndex(
    (call, at) => at > renamed && /fsync\(\d+<[^>]*\/agt\/sessions>/.test(call),
  );
  expect(renamed).toBeGreaterThan(written);
  expect(flushed).toBeGreaterThan(renamed);
  expect(firstOf(calls, /rename\w*\(.*refs\/heads\/agtsessions\/s2\.lock"/)).toBeGreaterThan(flushed);
});

function callsOf(cwd: string, ...words: string[]): string[] {
  const list = join(makeTempDir('strace'), 'calls');
  expect(strace(list, ['-y', '-s', '300', '-e', CALLS], [AGT, ...words], cwd).exitCode).toBe(0);
  return readFileSync(list, 'utf8').split('\n');
}

function firstOf(calls: readonly string[], pattern: RegExp): number {
  const at = calls.findIndex((call) => pattern.test(call));
  expect(at, String(pattern)).toBeGreaterThan(-1);
  return at;
}
