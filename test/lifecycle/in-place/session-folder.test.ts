/** The end of a session in place deletes of its session folder only what a snapshot holds. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../../harness/world.ts';
import { begin, metadata } from './checkout.ts';

const folderOf = (repository: string) => `${repository}.agt/sessions/s1`;

test('files that no snapshot can hold are named, and nothing changes without --force', () => {
  const repository = makeRepository();
  begin(repository);
  const folder = folderOf(repository);
  write(join(folder, 'notes.txt'), 'mine\n');
  git(folder, 'init', '-q', 'xdg/nested');
  expect(run('mkfifo', [join(repository, 'pipe')], { cwd: '/' }).exitCode).toBe(0);
  for (const words of [['session', 'remove'], ['reject']]) {
    const refused = agt(repository, ...words, 's1');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('hint: notes.txt: lies beside sandbox/, xdg/ and config/\n');
    expect(refused.stderr).toContain('hint: xdg/nested/.git: belongs to a nested repository\n');
    expect(refused.stderr).not.toContain('pipe');
  }
  expect(git(repository, 'symbolic-ref', '--short', 'HEAD')).toBe('agt/s1');
  expect(metadata(repository)).not.toHaveProperty('intent');
  agtOk(repository, 'session', 'remove', 's1', '--force');
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(join(repository, 'pipe'))).toBe(true);
});

test('a conversation that an agent goes on writing is in the last snapshot, or stays and is named', async () => {
  const repository = makeRepository();
  begin(repository);
  const xdg = join(folderOf(repository), 'xdg');
  const log = join(makeTempDir('log'), 'written');
  write(log, '');
  const script =
    'i=0; while i=$((i + 1)); do echo "$i" > "$1/new-$i" 2>/dev/null && echo "new-$i" >> "$2"; sleep 0.001; done';
  const writer = spawn('sh', ['-c', script, 'sh', xdg, log], { stdio: 'ignore' });
  try {
    while (readFileSync(log, 'utf8').split('\n').length < 5) await new Promise((done) => setTimeout(done, 5));
    const outcome = agt(repository, 'session', 'remove', 's1');
    expect(outcome.stderr).toMatch(/^(error: session "s1" is removed, but \d+ files? came meanwhile\n|$)/);
  } finally {
    writer.kill('SIGKILL');
  }
  const kept = new Set(git(repository, 'ls-tree', '--name-only', 'agtsessions/s1:xdg').split('\n'));
  const written = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  expect(written.filter((name) => !kept.has(name) && !existsSync(join(xdg, name)))).toEqual([]);
  expect(git(repository, 'symbolic-ref', '--short', 'HEAD')).toBe('main');
});

test('a mount in the session folder stops the end before anything changes', ({ skip }) => {
  const repository = makeRepository();
  begin(repository);
  const cache = makeTempDir('cache');
  write(join(cache, 'precious'), 'mine\n');
  const mounted = join(folderOf(repository), 'xdg/cache');
  mkdirSync(mounted);
  const script = 'mount --bind "$1" "$2" || exit 77; shift 2; exec "$@"';
  const agtPath = join(import.meta.dirname, '../../../dist/agt');
  const words = [
    '-m',
    'sh',
    '-c',
    script,
    'sh',
    cache,
    mounted,
    agtPath,
    'session',
    'remove',
    's1',
    '--force',
  ];
  const outcome = run('unshare', words, { cwd: repository });
  skip(outcome.exitCode === 77 || /unshare/.test(outcome.stderr), 'no mounts can be made here');
  expect(outcome.stderr).toContain(`error: ${mounted} is a mount point`);
  expect(readFileSync(join(cache, 'precious'), 'utf8')).toBe('mine\n');
  expect(git(repository, 'symbolic-ref', '--short', 'HEAD')).toBe('agt/s1');
});
