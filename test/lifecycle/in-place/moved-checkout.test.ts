/** A session in place is found again after its checkout was moved, and a copy never touches the original. */
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, write } from '../../harness/world.ts';
import { begin, metadata } from './checkout.ts';

const ID = ['s1'];

/** A session in place with a file of the agent's; `mine` is set aside. */
function working(): string {
  const repository = makeRepository();
  write(join(repository, 'mine'), 'mine\n');
  begin(repository);
  write(join(repository, 'agent'), 'agent\n');
  return repository;
}

function findings(repository: string): { problem: string; mend: string }[] {
  return JSON.parse(agt(repository, 'doctor', '--json').stdout).findings;
}

/** The session goes on at `checkout`, and its end brings the user's work back. */
function expectWhole(checkout: string): void {
  expect(findings(checkout)).toEqual([]);
  agtOk(checkout, 'autocommit', ...ID);
  expect(git(checkout, 'show', 'agtsessions/s1:sandbox/agent')).toBe('agent');
  agtOk(checkout, 'session', 'remove', ...ID);
  expect(git(checkout, 'status', '--porcelain', '--branch')).toBe('## main\n?? mine');
  expect(readFileSync(join(checkout, 'mine'), 'utf8')).toBe('mine\n');
  expect(existsSync(`${checkout}.agt`)).toBe(false);
}

test.each([
  ['with its session folder', true],
  ['alone', false],
])('moved %s: commands that end or go back change nothing, and doctor --fix connects it', (_, together) => {
  const repository = working();
  const place = join(makeTempDir('moved'), 'project');
  renameSync(repository, place);
  if (together) renameSync(`${repository}.agt`, `${place}.agt`);
  const [found] = findings(place);
  expect(found).toMatchObject({ problem: `its checkout has moved to ${place}`, mend: 'agt doctor --fix' });
  for (const words of [['session', 'remove'], ['reject'], ['session', 'undo']]) {
    expect(agt(place, ...words, ...ID)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^error: the checkout of "s1" is gone or has moved: /),
    });
  }
  expect(metadata(place)).not.toHaveProperty('intent');
  agtOk(place, 'doctor', '--fix');
  expectWhole(place);
});

test('in a copy of the repository', () => {
  const repository = working();
  const copy = join(makeTempDir('copy'), 'project');
  cpSync(repository, copy, { recursive: true, verbatimSymlinks: true });
  for (const words of [['autocommit'], ['session', 'remove', '--force'], ['accept'], ['session', 'undo']])
    expect(agt(copy, ...words, ...ID).stderr).toMatch(
      /^error: the checkout of "s1" belongs to another repository: /,
    );
  expect(metadata(copy)).not.toHaveProperty('intent');
  agtOk(copy, 'doctor', '--fix');
  expectWhole(copy);
  expectWhole(repository);
});

test('a linked worktree that is gone: the session can end, and agt says where the work of the user is', () => {
  const repository = makeRepository();
  const linked = join(makeTempDir('linked'), 'worktree');
  git(repository, 'worktree', 'add', '-q', '-b', 'topic', linked);
  write(join(linked, 'mine'), 'mine\n');
  begin(linked);
  write(join(linked, 'agent'), 'agent\n');
  agtOk(linked, 'autocommit', ...ID);
  rmSync(linked, { recursive: true });
  expect(findings(repository)[0]).toMatchObject({
    problem: `its checkout is gone: ${linked}`,
    mend: 'agt session remove s1; its snapshots are kept',
  });
  const ended = agt(repository, 'session', 'remove', ...ID);
  expect(ended.stderr).toContain(
    `error: ${linked} is gone, so agt could not put back the work that you had not committed when session "s1" began`,
  );
  expect(ended.stderr).toContain('git stash apply --index refs/agt/stash/s1');
  expect(metadata(repository)).toMatchObject({ state: 'removed', working_copy: 'worktree' });
  git(repository, 'worktree', 'prune');
  git(repository, 'stash', 'apply', '-q', 'refs/agt/stash/s1');
  expect(readFileSync(join(repository, 'mine'), 'utf8')).toBe('mine\n');
  agtOk(repository, 'session', 'restore', 's1', '--to', '@{0}');
  expect(readFileSync(`${repository}.agt/sessions/s1/sandbox/agent`, 'utf8')).toBe('agent\n');
});

test('doctor misses the note that makes git mode guard the checkout, and the link to it', () => {
  const repository = working();
  const note = join(repository, '.git/agt-in-place');
  rmSync(note);
  expect(findings(repository)[0]?.problem).toContain(`git mode does not guard ${repository}`);
  agtOk(repository, 'doctor', '--fix');
  expect(readFileSync(note, 'utf8')).toBe('s1');
  rmSync(`${repository}.agt`, { recursive: true });
  expect(findings(repository)[0]?.problem).toBe(`the link to its checkout is missing: ${repository}`);
  agtOk(repository, 'doctor', '--fix');
  expectWhole(repository);
});

test('the branch to return to is gone: nothing changes, and the session ends once it is there again', () => {
  const repository = working();
  const start = git(repository, 'rev-parse', '--short=10', 'main');
  git(repository, 'branch', '-q', '-D', 'main');
  expect(findings(repository)).toMatchObject([
    {
      problem: 'main is gone, the branch that the checkout returns to at its end',
      mend: `git branch main ${start}`,
    },
  ]);
  for (const words of [['session', 'remove', '--force'], ['reject']]) {
    expect(agt(repository, ...words, ...ID)).toMatchObject({
      exitCode: 1,
      stderr: `error: "main" is gone, so session "s1" cannot return to it\nhint: make it again: git branch main ${start}\nhint: if it had commits after that one, git fsck --lost-found finds them\n`,
    });
  }
  expect(metadata(repository)).not.toHaveProperty('intent');
  expect(readFileSync(join(repository, 'agent'), 'utf8')).toBe('agent\n');
  git(repository, 'branch', 'main', start);
  expectWhole(repository);
});
