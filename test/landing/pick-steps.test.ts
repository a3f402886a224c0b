/** `accept --commits` with recorded steps: each becomes a commit of its own, without the steps around it. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

test('takes single tool calls and snapshots, as git would store the files', () => {
  const { repository, sandbox } = makeSession({
    a: '1\n2\n3\n',
    b: 'b\r\n',
    gone: 'gone\n',
    '.gitattributes': '* text=auto\n',
    '.gitignore': 'ignored\n',
  });
  const call = (id: string, script: string, ...options: string[]) =>
    agtOk(
      repository,
      ...['session', 'exec', 's1', '--tool', 'edit', '--call-id', id, ...options],
      ...['--', 'sh', '-c', script],
    );
  call('c1', 'printf "1\\n2\\nthree\\n" >a; echo x >ignored');
  call(
    'c2',
    'printf "b\\r\\nmore\\r\\n" >b; rm gone; echo z >ignored; echo z >":!x"; mkdir sub; git init -q sub; echo y >sub/y',
    '--summary',
    'Edit b',
  );
  call('c3', 'printf "1\\n2\\nfour\\n" >a');
  write(join(sandbox, 'new'), 'new\n');
  agtOk(repository, 'autocommit', 's1', '--label', 'a new file, b');
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'empty');
  const tip = git(repository, 'rev-parse', 'main');

  const accept = (list: string, ...options: string[]) =>
    agt(repository, 'accept', 's1', '--keep', '--commits', list, ...options);
  expect(JSON.parse(accept('@{0}', '--dry-run', '--json').stdout).files).toMatchObject([{ path: 'new' }]);
  expect(accept('main').stderr).toMatch(
    /^error: nothing to accept: these commits and steps change nothing in "main"\nhint: see what the session has/,
  );
  expect(accept('c3').stderr).toContain('hint: take also the earlier steps that changed these files');
  expect(accept('c3').stderr).toMatch(
    /^error: session "s1" conflicts with "main" in 1 file.*\nhint: a: content\n/,
  );
  expect(accept('nothing').stderr).toMatch(
    /^error: no commit "nothing" in the sandbox, and no such snapshot\n/,
  );
  const preview = JSON.parse(accept('c2', '--commits', 'a new file, b', '--dry-run', '--json').stdout);
  expect(preview.files.map(({ path, status }: Record<string, string>) => `${status} ${path}`)).toEqual([
    'added :!x',
    'modified b',
    'deleted gone',
    'added new',
  ]);
  expect(git(repository, 'rev-parse', 'main')).toBe(tip);
  expect(accept('c2', '--commits', 'a new file, b')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(
    git(
      repository,
      'log',
      '--reverse',
      '--format=%an|%s|%(trailers:key=Agt-Session,valueonly,separator=)',
      `${tip}..main`,
    ),
  ).toBe('Ann Author|Edit b|s1\nAnn Author|a new file, b|s1');
  expect(git(repository, 'cat-file', 'blob', 'main:b')).toBe('b\nmore');
  expect(git(repository, 'ls-tree', '--name-only', '-r', 'main').split('\n')).toEqual([
    '.gitattributes',
    '.gitignore',
    ':!x',
    'a',
    'b',
    'new',
  ]);
  expect(git(repository, 'cat-file', 'blob', 'main:a')).toBe('1\n2\n3');
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(agt(repository, 'accept', 's1', '--keep', '--commits', 'c2,c1,c3')).toMatchObject({
    exitCode: 0,
    stderr: 'warning: Edit b: on main before, and changes nothing\n',
  });
  expect(git(repository, 'cat-file', 'blob', 'main:a')).toBe('1\n2\nfour');
});

test('a file that lands as committed, and has uncommitted changes, is named as left out', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  appendFileSync(join(sandbox, 'a'), '2\n');
  git(sandbox, 'commit', '-qam', 'two');
  agtOk(repository, 'autocommit', 's1');
  appendFileSync(join(sandbox, 'a'), 'open\n');
  for (const words of [['--commits', 'main..agt/s1'], ['--committed-only']]) {
    const accept = (...more: string[]) => agtOk(repository, 'accept', 's1', ...words, '--keep', ...more);
    expect(accept('-n')).toContain('  M a\nleft out a (uncommitted changes)\n');
    expect(JSON.parse(accept('-n', '--json')).left_out).toEqual(['a']);
  }
  agtOk(repository, 'autocommit', 's1', '--label', 'open');
  const planned = agtOk(repository, 'accept', 's1', '-n', '--commits', 'agt/s1,open');
  expect(planned).not.toContain('left out');
  expect(planned).toContain(`\nwould remove  ${join(sandbox, '..')}\n`);
  appendFileSync(join(sandbox, 'a'), 'more\n');
  expect(agtOk(repository, 'accept', 's1', '--commits', 'agt/s1,open')).toContain('left out a (uncommitted');
  expect(git(repository, 'show', 'main:a')).toBe('1\n2\nopen');
});
