import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, REAL_GIT, run } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

const LINES = ['1', '2', '3', '4', '5', '6', '7', '8', ''];

function lines(changes: Record<number, string>): string {
  return LINES.map((line, i) => changes[i] ?? line).join('\n');
}

/** The agent goes on in files that the user has changed and not committed: next to the user's lines. */
function begun() {
  const repository = makeRepository({ 'a.txt': lines({}), 'b.txt': 'b\n' });
  const file = (name: string) => join(repository, name);
  writeFileSync(file('a.txt'), lines({ 1: 'user' }));
  writeFileSync(file('new.txt'), 'user\n');
  const { sandbox } = JSON.parse(agtOk(repository, 'new', 's1', '--with-changes', '--json'));
  writeFileSync(join(sandbox, 'a.txt'), lines({ 1: 'user', 2: 'agent' }));
  writeFileSync(join(sandbox, 'new.txt'), 'user\nagent\n');
  const read = () => ['a.txt', 'new.txt'].map((name) => readFileSync(file(name), 'utf8'));
  return { repository, sandbox, file, read };
}

const accept = (repository: string) => agt(repository, 'accept', 's1', '--untracked=all');

test('files that are still as they were taken along are not in the way, and unaccept brings them back', () => {
  const { repository, read } = begun();
  const [status, before] = [git(repository, 'status', '--porcelain'), read()];
  for (let i = 0; i < 2; i++) {
    expect(accept(repository)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(git(repository, 'status', '--porcelain')).toBe('');
    expect(read()).toEqual([lines({ 1: 'user', 2: 'agent' }), 'user\nagent\n']);
    agtOk(repository, 'session', 'unaccept', 's1');
    expect([git(repository, 'status', '--porcelain'), read()]).toEqual([status, before]);
  }
});

test('after further changes agt says to commit them, and then it merges from the files that were taken along', () => {
  const { repository, file, read } = begun();
  writeFileSync(file('a.txt'), lines({ 1: 'user', 6: 'later' }));
  const { exitCode, stderr } = accept(repository);
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(
      /hint: commit all of them first, staged or not: agt merges both from .* began with\n$/,
    ),
  ]);
  git(repository, 'add', '.');
  git(repository, 'commit', '-qm', 'Mine');
  expect(accept(repository)).toMatchObject({ exitCode: 0 });
  expect(read()).toEqual([lines({ 1: 'user', 2: 'agent', 6: 'later' }), 'user\nagent\n']);
});

test('a part that the user has committed stays in the work, also if the rest is not committed', () => {
  const { repository, file, read } = begun();
  writeFileSync(file('a.txt'), lines({ 1: 'user', 6: 'also' }));
  agtOk(repository, 'new', 's2', '--with-changes');
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'show', 's2', '--json'));
  writeFileSync(join(sandbox, 'new.txt'), 'user\nagent\n');
  writeFileSync(join(sandbox, 'a.txt'), lines({ 1: 'user', 4: 'agent', 6: 'also' }));
  writeFileSync(file('a.txt'), lines({ 6: 'also' }));
  git(repository, 'commit', '-qm', 'A part', 'a.txt');
  writeFileSync(file('a.txt'), lines({ 1: 'user', 6: 'also' }));
  agtOk(repository, 'accept', 's2', '--untracked=all');
  expect(read()[0]).toBe(lines({ 1: 'user', 4: 'agent', 6: 'also' }));
});

test.each(['never', 'landing: worktree brought along#1', 'landing: branch moved#1'])(
  'unaccept where a file has come in the place of a directory, from which the user had deleted a file; killed: %s',
  (point) => {
    const { repository, sandbox } = makeSession({ 'src/main.c': 'main\n', 'src/util.c': 'util\n', a: 'a\n' });
    rmSync(join(sandbox, 'src'), { recursive: true });
    writeFileSync(join(sandbox, 'src'), 'file\n');
    rmSync(join(repository, 'src/main.c'));
    const before = git(repository, 'status', '--porcelain');
    agtOk(repository, 'accept', 's1', '--untracked=all');
    const env = { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT };
    if (point !== 'never')
      expect(run(process.execPath, [KILLABLE, 'unaccept', 's1'], { cwd: repository, env }).exitCode).toBe(
        null,
      );
    agtOk(repository, 'unaccept', 's1');
    expect(git(repository, 'status', '--porcelain')).toBe(before);
    expect(['main.c', 'util.c'].map((name) => existsSync(join(repository, 'src', name)))).toEqual([
      false,
      true,
    ]);
    expect(git(repository, 'ls-files')).toBe('a\nsrc/main.c\nsrc/util.c');
  },
);
