/** The words of agt restore. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, write } from '../harness/world.ts';

test('agt restore [ID] [SNAPSHOT] [-- PATH…] is one grammar, inside of a session and outside', () => {
  const session = makeSession({ a: '0\n', b: '0\n', 'd/c': '0\n' });
  const { repository, sandbox } = session;
  const texts = () =>
    ['a', 'b', 'd/c'].map((name) => readFileSync(join(sandbox, name), 'utf8').trim()).join('');
  for (const n of ['1', '2']) {
    for (const name of ['a', 'b', 'd/c']) write(join(sandbox, name), `${n}\n`);
    agtOk(repository, 'autocommit', 's1', '-m', `all are ${n}`);
  }
  const restored = (cwd: string, ...words: string[]) => {
    agtOk(cwd, ...words);
    const result = texts();
    agtOk(repository, 'undo', 's1');
    expect(texts()).toBe('222');
    return result;
  };
  for (const restore of [['restore'], ['session', 'restore']]) {
    for (const snapshot of [['all are 1'], ['--to', 'all are 1']]) {
      expect(restored(repository, ...restore, 's1', ...snapshot)).toBe('111');
      expect(restored(sandbox, ...restore, ...snapshot)).toBe('111');
      expect(restored(repository, ...restore, 's1', ...snapshot, '--', 'b', 'd/c')).toBe('211');
      expect(restored(join(sandbox, 'd'), ...restore, ...snapshot, '--', 'c', '../a')).toBe('121');
    }
  }
  expect(restored(repository, 'restore', 's1', 'all are 1', '--path', 'a', '--', 'b')).toBe('112');
  const refusals = [
    [2, /^error: no snapshot given\nhint: for example: agt restore s1 @\{1\}\n/, ['s1']],
    [2, /^error: no snapshot given\n/, ['s1', '--', 'a']],
    [2, /^error: two snapshots are given: "@\{1\}" and "@\{2\}"\n/, ['s1', '@{1}', '--to', '@{2}']],
    [1, /^error: no session "@?\w*" in |^error: no session given/, ['@{1}']],
    [1, /^error: no session "nosuch"/, ['nosuch', '@{1}']],
    [2, /^error: a path is empty\n/, ['s1', '@{1}', '--', '']],
    [2, /^error: there are no paths after --\n/, ['s1', '@{1}', '--']],
    [2, /^error: paths and --only exclude each other\n/, ['s1', '@{1}', '--only', 'xdg', '--', 'a']],
  ] as const;
  for (const [exitCode, stderr, words] of refusals)
    expect(agt(repository, 'restore', ...words)).toEqual({
      exitCode,
      stdout: '',
      stderr: expect.stringMatching(stderr),
    });
  expect(agt(sandbox, 'restore', '@{1}', 'a').stderr).toMatch(/^error: unknown argument "a"\n/);
  expect(texts()).toBe('222');
});
