/** The agent amends the merge that a sync has made: the merge has work that no other commit has. */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

let repository: string;
let sandbox: string;
let merge: string;
beforeEach(() => {
  ({ repository, sandbox } = makeSession({ f: 'f\n', g: 'g\n', h: 'h\n' }));
  appendFileSync(join(sandbox, 'f'), 'two\n');
  git(sandbox, 'commit', '-qam', 'two');
  write(join(repository, 'g'), 'mine\n');
  git(repository, 'commit', '-qam', 'mine');
  agtOk(repository, 'sync', 's1');
  appendFileSync(join(sandbox, 'h'), 'important\n');
  git(sandbox, 'commit', '-qa', '--amend', '--no-edit');
  merge = git(sandbox, 'log', '-1', '--abbrev=10', '--format=%h');
});

test('--commits names it as left out, and its work does not go with the branches unasked', () => {
  const landed = agtOk(repository, 'accept', 's1', '--commits', 'main..agt/s1');
  expect(landed).toContain(`\nleft out ${merge} Merge branch 'main' into agt/s1\n`);
  expect(agtOk(repository, 'list', '--all')).toMatch(/ in part as \w+ on main/);
  expect(agt(repository, 'remove', 's1', '--delete-branch').stderr).toMatch(/would lose this work/);
  agtOk(repository, 'undo', 's1');
  expect(agtOk(repository, 'accept', 's1')).toContain('1 file changed, +1 -0\n  M h\n');
  agtOk(repository, 'remove', 's1', '--delete-branch');
});

test('sync --rebase refuses to drop it, unless the branch has it', () => {
  write(join(repository, 'g'), 'more\n');
  git(repository, 'commit', '-qam', 'more');
  const before = git(sandbox, 'rev-parse', 'HEAD');
  for (const option of ['-n', '--json'])
    expect(agt(repository, 'sync', 's1', '--rebase', option)).toMatchObject({
      exitCode: 1,
      stderr: `error: a rebase of "s1" would drop what the merge ${merge} has beside its sides, in h; nothing has changed\nhint: merge "main": agt sync s1\n`,
    });
  expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(before);
  agtOk(repository, 'accept', 's1', '--keep');
  write(join(sandbox, 'new'), 'new\n');
  git(sandbox, 'add', 'new');
  git(sandbox, 'commit', '-qm', 'new');
  expect(agtOk(repository, 'sync', 's1', '--rebase')).toContain('rebased ');
  expect(readFileSync(join(sandbox, 'h'), 'utf8')).toBe('h\nimportant\n');
});
