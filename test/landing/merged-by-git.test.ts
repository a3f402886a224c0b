/** Work branches that the user has merged by plain git: with a revert since, and what accept says of them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, run, write } from '../harness/world.ts';

function merged(...words: string[]): TestSession {
  const session = makeSession({ a: 'a\n' });
  const { repository, sandbox } = session;
  for (const name of ['m', 'n']) {
    write(join(sandbox, name), `${name}\n`);
    git(sandbox, 'add', name);
    git(sandbox, 'commit', '-qm', `work ${name}`);
  }
  write(join(repository, 'own'), 'own\n');
  git(repository, 'add', 'own');
  git(repository, 'commit', '-qm', 'own');
  git(repository, 'merge', '-q', ...words, 'agt/s1');
  return session;
}

const isMerged = ({ repository }: TestSession) => JSON.parse(agtOk(repository, 'list', '--json'))[0].merged;

test.each([
  ['the merge', ['-m1', 'HEAD']],
  ['one commit', ['HEAD^2~1']],
])('a revert of %s: the session is not merged, and accept says how to land it again', (_, reverted) => {
  const session = merged('--no-ff', '-m', 'merge');
  const { repository } = session;
  expect(isMerged(session)).toBe(true);
  expect(agt(repository, 'accept', 's1', '-n').stderr).toContain('"main" has all work of session "s1"');
  git(repository, 'revert', '--no-edit', ...reverted);
  expect(isMerged(session)).toBe(false);
  expect(agtOk(repository, 'remove', '--merged', '-n')).not.toContain('would remove');
  const by = git(repository, 'rev-parse', '--short=10', 'HEAD');
  expect(agt(repository, 'accept', 's1', '-n').stderr).toContain(
    `and has reverted work of it\nhint: to land that again, on "main": git revert ${by}\n`,
  );
  git(repository, 'revert', '--no-edit', 'HEAD');
  expect(isMerged(session)).toBe(true);
});

test('a revert of another commit takes nothing of the session back', () => {
  const session = merged('--no-ff', '-m', 'merge');
  git(session.repository, 'revert', '--no-edit', 'HEAD^1');
  expect(isMerged(session)).toBe(true);
});

test('beside a rejected hunk, an untracked file that stays out is named', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  writeFileSync(join(sandbox, 'a'), 'a\nbad\n');
  writeFileSync(join(sandbox, 'new.c'), 'keep\n');
  agtOk(repository, 'autocommit', 's1');
  agtOk(repository, 'review', 's1', '--reject', 'a:2', '-m', 'bad');
  const { stderr } = agt(repository, 'accept', 's1', '--untracked=none');
  expect(stderr).toContain('hint: take them all the same: --untracked=all (new.c)');
});

test('reverts that name each other, or only a few letters, stop nothing', () => {
  const session = merged('--no-ff', '-m', 'merge');
  const { repository } = session;
  const env = { GIT_AUTHOR_DATE: '2026-02-02T12:00:00+0100' };
  const forged = (subject: string, name: string) => {
    const message = `${subject}\n\nThis reverts commit ${name}.`;
    run('git', ['commit', '-q', '--allow-empty', '-m', message], { cwd: repository, env });
    return git(repository, 'rev-parse', 'HEAD');
  };
  const [one, two] = [forged('one', '0'.repeat(40)), forged('two', '0'.repeat(40))];
  git(repository, 'reset', '-q', '--hard', 'HEAD~2');
  for (const [subject, name] of [
    ['one', two],
    ['two', one],
    ['one', one],
  ] as const)
    forged(subject, name);
  for (const letter of '0123456789abcdef') forged('words', `${letter} and more`);
  expect(isMerged(session)).toBe(true);
  git(repository, 'revert', '--no-edit', '-m1', 'HEAD~19');
  expect(isMerged(session)).toBe(false);
});
