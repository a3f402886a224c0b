import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { agt, agtOk, git, makeTempDir, run } from '../harness/world.ts';

let disk = '';
afterEach(() => {
  if (disk !== '') spawnSync('umount', [disk]);
});

test('on a full disk agt gc deletes its caches; if that is too little, it says so in one line', ({
  skip,
}) => {
  const place = makeTempDir('disk');
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', place]);
  skip(mount.status !== 0, 'a small disk cannot be mounted here');
  disk = place;
  const repository = join(disk, 'project');
  mkdirSync(repository);
  git(repository, 'init', '-q', '-b', 'main');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
  const { sandbox } = JSON.parse(agtOk(repository, 'new', 's1', '--json'));
  writeFileSync(join(sandbox, 'a'), 'a\n');
  agtOk(repository, 'autocommit', 's1');
  for (const id of ['s2', 's3']) agtOk(repository, 'new', id);
  for (const id of ['s1', 's2', 's3']) agtOk(repository, 'session', 'remove', id);
  const fill = join(disk, 'fill');
  run('sh', ['-c', `cat /dev/zero >'${fill}'`], { cwd: disk });
  const refs = git(repository, 'for-each-ref');
  const { exitCode, stdout, stderr } = agt(repository, 'gc');
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^error: the disk of .* is full, and nothing was cleaned up\nhint: free 128 KiB .*\n$/,
  );
  expect(git(repository, 'for-each-ref')).toBe(refs);
  truncateSync(fill, 0);
  const cache = join(repository, '.git/agt/scan/s1');
  mkdirSync(join(cache, '..'), { recursive: true });
  for (let i = 0; i < 8; i++) appendFileSync(cache, Buffer.alloc(64 * 1024));
  run('sh', ['-c', `cat /dev/zero >'${fill}'`], { cwd: disk });
  expect(agt(repository, 'gc', '--prune=now')).toMatchObject({ exitCode: 0, stderr: '' });
});
