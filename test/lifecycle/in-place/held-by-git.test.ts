/** Tracked files that no snapshot holds: git does. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, write } from '../../harness/world.ts';
import { begin, look } from './checkout.ts';

const LARGE = 'large\n'.repeat(1000);

test('the agent commits files that no snapshot holds: they come back, and only what nobody has captured stays', () => {
  const repository = makeRepository({
    large: LARGE,
    gone: LARGE,
    left: LARGE,
    'data/secret': 's\n',
    x: 'x\n',
  });
  const at = (path: string) => join(repository, path);
  const commit = (id: string) => {
    write(`${repository}.agt/sessions/${id}/.agtignore`, 'data\n');
    for (const path of ['large', 'new']) write(at(path), LARGE + LARGE);
    write(at('data/secret'), 'by the agent\n');
    rmSync(at('gone'));
    git(repository, 'add', '--all');
    git(repository, 'commit', '-qm', 'by the agent');
  };
  agtOk(repository, 'config', 'set', 'agt.maxFileSize', '1k');
  write(at('x'), 'mine\n');
  write(at('data/mine'), 'mine\n');
  const before = look(repository);
  begin(repository);
  commit('s1');
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);

  begin(repository, 's2');
  commit('s2');
  write(at('left'), `not captured\n${LARGE}`);
  agt(repository, 'remove', 's2');
  expect(git(repository, 'status', '--porcelain')).toBe(' M left\n M x\n?? data/mine');
  expect(readFileSync(at('left'), 'utf8')).toBe(`not captured\n${LARGE}`);
  write(at('left'), LARGE);

  begin(repository, 's3');
  commit('s3');
  agtOk(repository, 'accept', 's3');
  expect(git(repository, 'status', '--porcelain')).toBe(' M x\n?? data/mine');
  expect(readFileSync(at('large'), 'utf8')).toBe(LARGE + LARGE);
  expect(git(repository, 'ls-files')).toBe('data/secret\nlarge\nleft\nnew\nx');
});
