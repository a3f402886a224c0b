/** A checkout without a session, and all that git tells of it. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { git, makeRepository, run, write } from '../harness/world.ts';

/** A repository with a branch, a tag, two stashes, staged and unstaged changes. */
export function makeCheckout(): string {
  const folder = makeRepository({ a: '1\n', b: '1\n' });
  for (const n of [2, 3]) {
    write(join(folder, 'a'), `${n}\n`);
    git(folder, 'commit', '-qam', `a is ${n}`);
  }
  git(folder, 'branch', 'topic', 'HEAD~1');
  git(folder, 'tag', '-m', 'first', 'v1', 'HEAD~2');
  for (const text of ['one\n', 'two\n']) {
    write(join(folder, 'b'), text);
    git(folder, 'stash', 'push', '-q', '-m', text.trim());
  }
  write(join(folder, 'staged'), 'staged\n');
  git(folder, 'add', 'staged');
  write(join(folder, 'staged'), 'newer\n');
  write(join(folder, 'untracked'), 'untracked\n');
  return folder;
}

/** All that git tells of a repository. */
export function stateOf(folder: string): string {
  const questions = [
    ['status', '--porcelain=v2', '--branch'],
    ['for-each-ref'],
    ['stash', 'list', '--format=%gd %H %s'],
    ['ls-files', '--stage'],
    ['diff'],
    ['fsck', '--no-dangling', '--connectivity-only'],
  ];
  return questions.map((words) => run('git', words, { cwd: folder }).stdout).join('\n--\n');
}

/** Lines of reflogs: no undo takes one away. */
export function reflogs(folder: string): string[] {
  return ['HEAD', 'main', 'topic'].flatMap((ref) =>
    git(folder, 'reflog', 'show', '--format=%H %gs', ref)
      .split('\n')
      .map((line) => `${ref} ${line}`),
  );
}

export const sh = (folder: string, script: string) => {
  expect(run('sh', ['-c', script], { cwd: folder }).exitCode).toBe(0);
};
