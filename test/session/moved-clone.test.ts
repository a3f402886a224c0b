/** A clone or a repository that was moved: autocommits and agt doctor --fix connect it, with what is staged. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, write } from '../harness/world.ts';

test('doctor names no command that loses what is staged, and --fix connects all', () => {
  const from = join(makeTempDir('clone'), 'here');
  const to = join(makeTempDir('clone'), 'there');
  agtOk('/', 'clone', makeRepository(), '--path', from);
  const main = join(from, 'project/main');
  for (const id of ['s1', 's2']) agtOk(main, 'session', 'new', id);
  const sandbox = (id: string, top = from) => join(top, `project/sessions/${id}/sandbox`);
  for (const worktree of [main, sandbox('s1'), sandbox('s2')]) {
    write(join(worktree, 'staged'), 'staged\n');
    git(worktree, 'add', 'staged');
  }
  agtOk(main, 'session', 'remove', 's2');
  renameSync(from, to);
  const area = join(to, 'project');
  const { findings } = JSON.parse(agt(area, 'doctor', '--json').stdout);
  expect(findings).toMatchObject([
    { about: 's1', mend: 'agt doctor --fix' },
    { about: main, mend: `agt git worktree repair ${join(area, 'main')}` },
  ]);
  agtOk(area, 'doctor', '--fix');
  for (const worktree of [join(area, 'main'), sandbox('s1', to)])
    expect(git(worktree, 'status', '--porcelain')).toBe('A  staged');
  agtOk(area, 'autocommit', 's1');
  agtOk(area, 'session', 'restore', 's2', '--to', '@');
  expect(git(sandbox('s2', to), 'status', '--porcelain')).toBe('A  staged');
  expect(agt(area, 'doctor').stdout).toMatch(/(^|\n)nothing is wrong\n$/);
});

test('a worktree of the user that is away: doctor names how to connect it, before how to forget it', () => {
  const repository = makeRepository();
  const linked = join(makeTempDir('linked'), 'worktree');
  git(repository, 'worktree', 'add', '-q', linked);
  renameSync(linked, `${linked}-away`);
  const { findings } = JSON.parse(agt(repository, 'doctor', '--json').stdout);
  expect(findings).toMatchObject([
    {
      about: linked,
      mend: 'if it has moved: agt git worktree repair NEW-PLACE; if it is gone: agt git worktree prune',
    },
  ]);
});

test('an autocommit connects a sandbox that has moved with its clone, and a moved checkout', () => {
  const from = join(makeTempDir('clone'), 'here');
  const to = join(makeTempDir('clone'), 'there');
  agtOk('/', 'clone', makeRepository(), '--path', from);
  for (const id of ['s1', 's2']) agtOk(join(from, 'project/main'), 'session', 'new', id);
  renameSync(from, to);
  const area = join(to, 'project');
  const sandbox = (id: string) => join(area, 'sessions', id, 'sandbox');
  write(join(sandbox('s1'), 'staged'), 'staged\n');
  expect(agtOk(area, 'autocommit', '--all')).toContain('s1: captured 1 path');
  write(join(sandbox('s2'), 'new'), 'new\n');
  expect(agtOk(sandbox('s2'), 'autocommit')).toContain('s2: captured 1 path');
  expect(git(sandbox('s1'), 'status', '--porcelain')).toBe('?? staged');

  const repository = makeRepository();
  agtOk(repository, 'session', 'new', 'here', '--working-copy', 'in-place');
  const moved = `${repository}-moved`;
  renameSync(repository, moved);
  write(join(moved, 'new'), 'new\n');
  expect(agtOk(moved, 'autocommit', 'here')).toContain('here: captured 1 path');
  agtOk(moved, 'session', 'reject', 'here');
  expect(git(moved, 'status', '--porcelain')).toBe('');
});
