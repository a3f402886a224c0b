/** A fork of a checkout without a session has the index of the snapshot, as far as the repository has what was staged. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, REAL_GIT, run } from '../harness/world.ts';

function makeStaged() {
  const repository = makeRepository({ a: 'one\n', b: 'b\n' });
  const put = (name: string, text: string) => writeFileSync(join(repository, name), text);
  put('a', 'staged\n');
  put('new', 'new\n');
  git(repository, 'add', 'a', 'new');
  put('a', 'staged, and more\n');
  agtOk(repository, 'snapshot', '--label', 'staged');
  git(repository, 'reset', '-q', '--hard');
  const fork = () => {
    const { sandbox } = JSON.parse(agtOk(repository, 'fork', '--at', 'staged', '--json'));
    expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('staged, and more\n');
    return sandbox as string;
  };
  return { repository, fork };
}

test('what was staged', () => {
  const { repository, fork } = makeStaged();
  const sandbox = fork();
  expect(git(sandbox, 'status', '--short').split('\n')).toEqual(['MM a', 'A  new']);
  expect(git(sandbox, 'show', ':a')).toBe('staged');
  expect(git(repository, 'fsck', '--strict')).not.toContain('missing');
});

test('what was staged, and git gc has deleted since, is an uncommitted change', () => {
  const { repository, fork } = makeStaged();
  git(repository, 'gc', '-q', '--prune=now');
  expect(git(fork(), 'status', '--short').split('\n')).toEqual([' M a', '?? new']);
});

test('conflicts', () => {
  const repository = makeRepository({ a: 'one\n' });
  git(repository, 'switch', '-qc', 'side');
  writeFileSync(join(repository, 'a'), 'side\n');
  git(repository, 'commit', '-qam', 'side');
  git(repository, 'switch', '-q', 'main');
  writeFileSync(join(repository, 'a'), 'main\n');
  git(repository, 'commit', '-qam', 'main');
  expect(run(REAL_GIT, ['merge', 'side'], { cwd: repository }).exitCode).toBe(1);
  agtOk(repository, 'snapshot');
  const { sandbox } = JSON.parse(agtOk(repository, 'fork', '--id', 's1', '--json'));
  expect(git(sandbox, 'status', '--short')).toBe('UU a');
  expect(agt(repository, 'accept', 's1').stderr).toContain('a');
});
