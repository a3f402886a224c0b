/** The hint to commit files in the sandbox that are in the way. */
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, run, write } from '../harness/world.ts';

let repository: string;
let sandbox: string;
beforeEach(() => {
  ({ repository, sandbox } = makeSession({ a: '1\n2\n3\n', b: 'b\n' }));
  write(join(sandbox, 'new'), 'new\n');
});

test('the hints of a conflict commit only the files in its way, in the words of the prompt', () => {
  write(join(sandbox, 'a'), '1\nII\n3\n');
  write(join(sandbox, 'id_rsa'), 'key\n');
  agtOk(repository, 'autocommit', 's1', '--label', 'prompt: Count as the Romans do');
  write(join(repository, 'a'), '1\ntwo\n3\n');
  git(repository, 'commit', '-qam', 'two');
  const accept = ['accept', 's1', '--exclude', 'id_rsa'];
  const commit = `git -C ${sandbox} add -- a && git -C ${sandbox} commit -m 'Count as the Romans do'`;
  const hint = `hint: commit a in the sandbox first: ${commit}\n`;
  expect(agt(repository, ...accept).stderr).toContain(
    `${hint}hint: then solve the conflicts in the sandbox: agt sync`,
  );
  expect(agt(repository, 'sync', 's1').stderr).toContain(`hint: a: not committed\n${hint}`);
  expect(run('sh', ['-c', commit], { cwd: repository }).exitCode).toBe(0);
  expect(agt(repository, 'sync', 's1').exitCode).toBe(1);
  write(join(sandbox, 'a'), '1\nII, two\n3\n');
  git(sandbox, 'commit', '-qam', 'Merge');
  agtOk(repository, ...accept);
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('Count as the Romans do');
  expect(git(repository, 'ls-files').split('\n')).toEqual(['a', 'b', 'new']);
});

test('the hint to commit what is in the way adds an ignored link that leads nowhere', () => {
  write(join(repository, '.git/info/exclude'), 'link\n');
  for (const place of [repository, sandbox]) symlinkSync('nowhere', join(place, 'link'));
  git(repository, 'add', '-f', 'link');
  git(repository, 'commit', '-qm', 'link');
  const { stderr } = agt(repository, 'sync', 's1');
  const [, commit = ''] = /hint: link: not tracked\nhint: commit .* first: (.*)\n/.exec(stderr) ?? [];
  expect(run('sh', ['-c', commit], { cwd: repository }).exitCode).toBe(0);
  agtOk(repository, 'sync', 's1');
});

test('a file in the place of a directory is no error of its own in that hint', () => {
  write(join(repository, 'd/f'), 'f\n');
  git(repository, 'add', 'd');
  git(repository, 'commit', '-qm', 'd');
  agtOk(repository, 'sync', 's1');
  rmSync(join(sandbox, 'd'), { recursive: true });
  write(join(sandbox, 'd'), 'a file\n');
  write(join(repository, 'b'), 'user\n');
  git(repository, 'commit', '-qam', 'user');
  expect(agt(repository, 'sync', 's1', '--rebase').stderr).toMatch(
    /\nhint: commit d\/f in the sandbox first: /,
  );
});
