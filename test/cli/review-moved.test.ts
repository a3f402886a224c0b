/** Rejected hunks of files that the agent has renamed since, or staged, and those of forks. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';
import { hook, say } from '../integrations/hooks.ts';

const LINES = Array.from({ length: 20 }, (_, i) => `line ${i}\n`);
const START = LINES.join('');
const EDITED = START.replace('line 5\n', 'five\n');

test('renamed: the lines go at the end of the turn, and the label names only those that went', () => {
  const { repository, sandbox, id } = makeSession({ a: START, b: START, c: START });
  for (const name of ['a', 'b', 'c']) writeFileSync(join(sandbox, name), EDITED);
  for (const name of ['a', 'b', 'c']) agtOk(repository, 'review', id, '--reject', name, '-m', `no ${name}`);
  say(sandbox, 'rename it');
  git(sandbox, 'mv', 'a', 'd\n');
  writeFileSync(join(sandbox, 'c'), START);
  hook(sandbox, 'Stop');
  expect(readFileSync(join(sandbox, 'd\n'), 'utf8')).toBe(START);
  expect(readFileSync(join(sandbox, 'b'), 'utf8')).toBe(START);
  expect(agtOk(repository, 'session', 'log', id)).toMatch(/rejected: no a; no b$/m);
});

test('renamed: lines that the agent only hears of do not land under the new name', () => {
  const { repository, sandbox, id } = makeSession({ a: START });
  writeFileSync(join(sandbox, 'a'), EDITED.replace('line 15\n', 'fifteen\n'));
  agtOk(repository, 'review', id, '--reject', 'a:6', '-m', 'no', '--tell');
  git(sandbox, 'mv', 'a', 'z');
  expect(agt(repository, 'accept', id).stderr).toContain('1 rejected hunk stays out: z\n');
  expect(readFileSync(join(repository, 'z'), 'utf8')).toBe(START.replace('line 15\n', 'fifteen\n'));
  expect(existsSync(join(repository, 'a'))).toBe(false);
});

test('staged: the index loses them as well, and gets them back with them', () => {
  const { repository, sandbox, id } = makeSession({ a: START, gone: 'gone\n', old: START.repeat(2) });
  writeFileSync(join(sandbox, 'a'), EDITED.replace('line 15\n', 'fifteen\n'));
  git(sandbox, 'rm', '-q', 'gone');
  git(sandbox, 'mv', 'old', 'new');
  git(sandbox, 'add', 'a');
  const staged = git(sandbox, 'status', '--porcelain');
  agtOk(repository, 'review', id, '--reject', 'a:6', 'gone', 'new', '-m', 'no', '--now');
  expect(git(sandbox, 'status', '--porcelain')).toBe('M  a');
  expect(git(sandbox, 'diff', '--cached')).not.toContain('five');
  agtOk(repository, 'undo', id);
  expect(git(sandbox, 'status', '--porcelain')).toBe(staged);
});

test('a fork has the marks of its parent: the rejected lines do not land from there', () => {
  const { repository, sandbox, id } = makeSession({ a: START });
  writeFileSync(join(sandbox, 'a'), EDITED.replace('line 15\n', 'fifteen\n'));
  agtOk(repository, 'review', id, '--reject', 'a:6', '-m', 'no', '--tell');
  agtOk(repository, 'fork', id, '--id', 'k');
  expect(agt(repository, 'accept', 'k').stderr).toContain('1 rejected hunk stays out: a\n');
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe(START.replace('line 15\n', 'fifteen\n'));
});

test('an undo of the turn takes the rejection of its lines along, and a redo brings both', () => {
  const { repository, sandbox, id } = makeSession({ a: START, b: START });
  say(sandbox, 'work');
  writeFileSync(join(sandbox, 'a'), EDITED);
  writeFileSync(join(sandbox, 'b'), EDITED);
  agtOk(repository, 'review', id, '--reject', 'a', '-m', 'no');
  hook(sandbox, 'Stop');
  const look = () => ['a', 'b'].map((name) => readFileSync(join(sandbox, name), 'utf8'));
  expect(look()).toEqual([START, EDITED]);
  expect(agtOk(sandbox, 'undo', '--turn')).toContain('undone: turn "work", and all since\n');
  expect(look()).toEqual([START, START]);
  agtOk(sandbox, 'redo', '--turns');
  expect(look()).toEqual([START, EDITED]);
});
