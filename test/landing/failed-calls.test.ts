/** An acceptance of recorded tool calls: the changes of a failed one stay out. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

test('changes by failed calls stay out, unless a later step changed the file or --with-failed is given', () => {
  const { repository, sandbox } = makeSession({
    a: '1\n',
    b: 'b\r\n',
    c: 'c\n',
    '.gitattributes': '* text=auto\n',
  });
  const call = (tool: string, script: string) =>
    agt(repository, 'session', 'exec', 's1', '--tool', tool, '--', 'sh', '-c', script).exitCode;
  expect(call('edit', 'printf "2\\r\\n" >a; echo new >new')).toBe(0);
  expect(call('format', 'echo broken >a; echo half >half; rm c; echo later >>b; exit 3')).toBe(3);
  write(join(sandbox, 'b'), 'repaired\n');
  expect(call('test', 'echo done >done')).toBe(0);

  const accept = (...options: string[]) =>
    JSON.parse(agtOk(repository, 'accept', 's1', '--json', ...options));
  const changed = (report: { files: { path: string; status: string }[] }) =>
    report.files.map(({ path, status }) => `${status} ${path}`);
  const all = accept('--dry-run', '--with-failed');
  expect(changed(all)).toEqual([
    'modified a',
    'modified b',
    'deleted c',
    'added done',
    'added half',
    'added new',
  ]);
  expect(all.left_out).toEqual([]);
  const report = accept();
  expect(changed(report)).toEqual(['modified a', 'modified b', 'added done', 'added new']);
  expect([...report.left_out].sort()).toEqual(['a', 'c', 'half']);
  expect(report.warnings[0]).toContain('take them too: --with-failed');
  expect(git(repository, 'cat-file', 'blob', 'main:a')).toBe('2');
  expect(readFileSync(join(repository, 'b'), 'utf8')).toBe('repaired\n');
  expect(existsSync(join(repository, 'half'))).toBe(false);
  expect(git(repository, 'rev-list', '--count', 'main')).toBe('2');
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('a failed call that committed a rename; a dry run takes later changes; only failed calls', () => {
  const { repository, sandbox } = makeSession({ nums: '1\n2\n3\n' });
  const call = (script: string) =>
    agt(sandbox, 'session', 'exec', '--tool', 'sh', '--', 'sh', '-c', script).exitCode;
  const accept = (...options: string[]) =>
    JSON.parse(agtOk(repository, 'accept', 's1', '--json', ...options)).files.map(
      ({ path, status }: Record<string, string>) => `${status} ${path}`,
    );
  expect(call('git mv nums renamed; git commit -qm x; exit 1')).toBe(1);
  for (const how of [['--dry-run'], ['--dry-run'], []]) {
    agtOk(sandbox, 'undo');
    agtOk(sandbox, 'redo');
    const only = agt(repository, 'accept', 's1', ...how);
    expect(only.stderr).toBe(
      'error: nothing to accept: only changes by failed calls are left in session "s1"\n' +
        'hint: take them all the same: --with-failed (nums, renamed)\n',
    );
  }
  expect(call('echo f >f; exit 1')).toBe(1);
  write(join(sandbox, 'f'), 'later\n');
  write(join(sandbox, 'ok'), 'ok\n');
  expect(accept('--dry-run')).toEqual(['added f', 'added ok']);
  expect(accept()).toEqual(['added f', 'added ok']);
  expect(git(repository, 'ls-tree', '--name-only', 'main').split('\n')).toEqual(['f', 'nums', 'ok']);
});
