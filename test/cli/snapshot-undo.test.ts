/** `agt undo` and `redo` in a folder that is in no session. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import {
  AGT,
  agt,
  agtOk,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  runsAsGit,
  write,
} from '../harness/world.ts';

test('undo goes back past a snapshot with --ignored, and lets the ignored files be', () => {
  const folder = makeRepository({ a: '0\n' });
  const shown = () => ['a', 'x.log', 'y.log'].map((name) => readFileSync(join(folder, name), 'utf8'));
  const logs = ['log\n', 'later\n'];
  write(join(folder, 'x.log'), 'log\n');
  for (const n of ['1', '2', '3']) {
    write(join(folder, 'a'), `${n}\n`);
    if (n === '2') write(join(folder, '.gitignore'), '*.log\n');
    agtOk(folder, 'snapshot');
  }
  write(join(folder, 'y.log'), 'later\n');
  agtOk(folder, 'snapshot', '--ignored');
  // To go back to the third snapshot would change nothing.
  expect(JSON.parse(agtOk(folder, 'undo', '-n', '--json'))).toMatchObject({
    changes: [{ path: 'a', status: 'modified' }],
  });
  for (const step of [2, 1]) {
    expect(agtOk(folder, 'undo')).toMatch(new RegExp(`verified\n(  .*\n)+now at .* ${step} of 4( .*)?\n`));
    expect(shown()).toEqual([`${step}\n`, ...logs]);
  }
  for (const _ of [2, 4]) agtOk(folder, 'redo');
  expect(shown()).toEqual(['3\n', ...logs]);
  write(join(folder, 'x.log'), 'longer\n');
  agtOk(folder, 'undo');
  expect(shown()).toEqual(['3\n', ...logs]);
  agtOk(folder, 'redo');
  expect(shown()).toEqual(['3\n', 'longer\n', 'later\n']);
});

test('undo passes over a step that would change no file', () => {
  const folder = makeRepository({ a: '0\n', '.gitignore': '*.o\n' });
  agtOk(folder, 'snapshot');
  mkdirSync(join(folder, 'd'));
  agtOk(folder, 'snapshot');
  write(join(folder, 'd/x.o'), 'built\n');
  agtOk(folder, 'snapshot'); // the directory is not empty any more
  write(join(folder, 'a'), '1\n');
  agtOk(folder, 'snapshot');
  expect(agtOk(folder, 'undo')).toContain('restored 1 path, verified\n  M a\nnow at ');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('0\n');
  const nothing = agt(folder, 'undo');
  expect(nothing.stderr).toMatch(
    /^error: nothing to undo: no earlier snapshot of "project" would change anything\n/,
  );
  for (const _ of [1, 2]) expect(agt(folder, 'undo')).toEqual(nothing);
  agtOk(folder, 'redo');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('1\n');
});

test('one redo takes an undo back that has passed over a step', () => {
  const folder = makeRepository({ '.gitignore': '*.log\n' });
  const log = join(folder, 'x.log');
  for (const text of ['0', undefined, '2']) {
    if (text === undefined) rmSync(log);
    else write(log, text);
    agtOk(folder, 'snapshot');
  }
  for (const [way, text] of [
    ['undo', '0'], // to go back to the step without the file would change nothing
    ['redo', '2'],
  ] as const)
    expect([agtOk(folder, way), readFileSync(log, 'utf8')]).toEqual([
      expect.stringContaining('restored 1 path, verified'),
      text,
    ]);
});

test('redo across a new .gitignore deletes no file that it ignores, and every other one', () => {
  const folder = makeRepository({ a: '1\n', 'nested/a': 'a\n' });
  agtOk(folder, 'config', 'set', 'agt.ignoredFiles', '0');
  git(join(folder, 'nested'), 'init', '-q');
  git(folder, 'rm', '-rq', '--cached', 'nested');
  const has = (...names: string[]) => names.map((name) => existsSync(join(folder, name)));
  for (const name of ['.env', 'd/old.log', 'tracked.log', 'gone', 'nested/x.log'])
    write(join(folder, name), 'OLD\n');
  git(folder, 'add', 'tracked.log');
  agtOk(folder, 'snapshot');
  write(join(folder, '.gitignore'), '.env\nd/\n*.log\n');
  for (const name of ['gone', 'tracked.log', 'nested/x.log']) rmSync(join(folder, name));
  agtOk(folder, 'snapshot');
  write(join(folder, '.env'), 'NEW\n');
  write(join(folder, 'a'), '2\n');
  agtOk(folder, 'snapshot');
  agtOk(folder, 'undo');
  const [, replaced = ''] = /such as .env: snapshot (\S+) has/.exec(agt(folder, 'undo').stderr) ?? [];
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('OLD\n');
  const { changes } = JSON.parse(agtOk(folder, 'redo', '-n', '--json'));
  expect(changes.map(({ path }: { path: string }) => path)).toEqual([
    '.gitignore',
    'gone',
    'nested/x.log',
    'tracked.log',
  ]);
  for (const _ of [2, 3]) expect(agtOk(folder, 'redo')).toContain('verified');
  expect(has('.env', 'd/old.log')).toEqual([true, true]);
  expect(has('gone', 'tracked.log', 'nested/x.log')).toEqual([false, false, false]);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('2\n');
  agtOk(folder, 'snapshot', 'restore', replaced, '--path', '.env');
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('NEW\n');
});

test('a restore says which files stay, and why: git ignored them before, or somebody wrote them meanwhile', () => {
  const folder = makeRepository({ a: '1\n' });
  agtOk(folder, 'snapshot', '--label', 'then');
  write(join(folder, '.gitignore'), '*.log\n');
  for (const name of ['x.log', 'y.log']) write(join(folder, name), 'ignored\n');
  agtOk(folder, 'snapshot');
  const stay =
    'warning: a restore deletes no file that git ignores or did ignore, so 2 stay, such as x.log\n';
  expect(agt(folder, 'snapshot', 'restore', 'then', '-n').stderr).toBe(stay);
  // The first git lists what is ignored for the snapshot before the restore, the second one for the restore.
  const bin = makeTempDir('bin');
  const script = [
    '#!/bin/sh',
    `'${REAL_GIT}' "$@"; code=$?`,
    'case "$*" in',
    `  *--ignored*) echo >> '${bin}/calls'; [ "$(wc -l < '${bin}/calls')" -ne 2 ] || echo new > '${folder}/new' ;;`,
    'esac',
    'exit $code',
  ];
  write(join(bin, 'git'), `${script.join('\n')}\n`, 0o755);
  const words = ['snapshot', 'restore', 'then'];
  const { exitCode, stderr } = run(AGT, words, { cwd: folder, env: runsAsGit(join(bin, 'git')) });
  expect(stderr).toBe(`${stay}warning: a file written during the restore stays: new\n`);
  expect(exitCode).toBe(0);
  expect(existsSync(join(folder, 'new'))).toBe(true);
});

test('a restore says that files which git ignores are in the way, and is not verified', () => {
  const folder = makeRepository({ a: '1\n' });
  write(join(folder, 'x'), 'file\n');
  write(join(folder, 'y/z'), 'file\n');
  agtOk(folder, 'snapshot', '--label', 'then');
  for (const name of ['x', 'y']) rmSync(join(folder, name), { recursive: true });
  write(join(folder, 'x/p.log'), 'ignored\n');
  write(join(folder, 'y'), 'ignored\n');
  write(join(folder, '.gitignore'), '*.log\ny\n');
  agtOk(folder, 'snapshot');
  const preview = agtOk(folder, 'snapshot', 'restore', 'then', '-n');
  expect(preview).toMatch(
    /^D \.gitignore\n! x\n! y\/z\nproject: would restore 1 path to \S+, not 2 with something in the way$/,
  );
  const { exitCode, stdout, stderr } = agt(folder, 'snapshot', 'restore', 'then', '--json');
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ verified: false, mismatches: ['x', 'y/z'] });
  expect(stderr).toContain(
    'warning: x was not restored: it is a directory that holds files that no restore deletes',
  );
  expect(stderr).toContain('warning: y was not restored: it is a file that git ignores');
  const texts = ['x/p.log', 'y'].map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(texts).toEqual(['ignored\n', 'ignored\n']);
});

test('a restore lists some of many paths that differ, and says how many more', () => {
  const folder = makeRepository({ a: '1\n' });
  for (let n = 10; n < 35; n++) write(join(folder, `y/${n}`), 'file\n');
  agtOk(folder, 'snapshot', '--label', 'then');
  rmSync(join(folder, 'y'), { recursive: true });
  write(join(folder, 'y'), 'ignored\n');
  write(join(folder, '.gitignore'), 'y\n');
  const { exitCode, stderr } = agt(folder, 'snapshot', 'restore', 'then');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('error: 25 paths differ from snapshot ');
  expect(stderr.match(/^ {2}y\/\d+$/gm)).toHaveLength(20);
  const [, command = ''] = /^ {2}and 5 more; see: agt (.*)$/m.exec(stderr) ?? [];
  expect(agtOk(folder, ...command.split(' ')).match(/y\/\d+$/gm)).toHaveLength(25);
});

test('redo goes on past a snapshot that changed nothing', () => {
  const folder = makeRepository({ a: '0\n' });
  const text = () => readFileSync(join(folder, 'a'), 'utf8');
  for (const n of ['1', '2', '3']) {
    write(join(folder, 'a'), `${n}\n`);
    agtOk(folder, 'snapshot');
  }
  agtOk(folder, 'undo');
  agtOk(folder, 'snapshot', '--label', 'note');
  agtOk(folder, 'snapshot', '--label', 'prompt', '--agent', 'pi');
  const position = () => /^position +(.*)$/m.exec(agtOk(folder, 'snapshot', 'status'))?.[1];
  expect(position()).toBe('step 2 of 3; agt redo goes forward');
  write(join(folder, 'a'), 'changed\n');
  expect(position()).toBe('step 2 of 3');
  write(join(folder, 'a'), '2\n');
  agtOk(folder, 'undo');
  expect(text()).toBe('1\n');
  agtOk(folder, 'snapshot', '--label', 'another');
  for (const n of ['2', '3']) {
    agtOk(folder, 'redo');
    expect(text()).toBe(`${n}\n`);
  }
  agtOk(folder, 'snapshot', 'restore', 'note');
  expect(text()).toBe('2\n');
  agtOk(folder, 'undo');
  expect(text()).toBe('3\n');
});

test('the way back that undo prints works where a session has the name of the folder', () => {
  const repository = makeRepository();
  agtOk(repository, 'session', 'new', 'project');
  for (const content of ['one', 'two']) {
    write(join(repository, 'file'), content);
    agtOk(repository, 'snapshot');
  }
  const [, command = ''] = /^to take this back: agt (.*)$/m.exec(agtOk(repository, 'undo')) ?? [];
  expect(command).toBe('redo');
  agtOk(repository, ...command.split(' '));
  expect(readFileSync(join(repository, 'file'), 'utf8')).toBe('two');
  mkdirSync(join(repository, 'd'));
  expect(agtOk(join(repository, 'd'), 'undo')).toContain(`to take this back: agt -C ${repository} redo`);
});

test.each([
  [
    '.git/info/exclude is emptied',
    '.git/info/exclude',
    (folder: string) => write(join(folder, '.git/info/exclude'), ''),
  ],
  ['.gitignore is gone', '.gitignore', (folder: string) => rmSync(join(folder, '.gitignore'))],
  [
    'a rule negates',
    '.gitignore',
    (folder: string) => write(join(folder, '.gitignore'), '*.log\n!x.log\ndeps/\n!deps/\n'),
  ],
  [
    'the user adds the files',
    '.git/info/exclude',
    (folder: string) => git(folder, 'add', '-f', 'x.log', 'deps'),
  ],
] as const)('undo leaves files that git ignored in an earlier snapshot, when %s', (_, file, change) => {
  const folder = makeRepository({ a: '0\n' });
  agtOk(folder, 'snapshot');
  write(join(folder, file), '*.log\ndeps/\n');
  write(join(folder, 'a'), '1\n');
  agtOk(folder, 'snapshot');
  write(join(folder, 'x.log'), 'log\n');
  write(join(folder, 'deps/d/lib'), 'lib\n');
  agtOk(folder, 'snapshot'); // nothing but the ignored files is new
  change(folder);
  for (const name of ['a', 'new']) write(join(folder, name), '2\n');
  agtOk(folder, 'snapshot');
  const stays = () => {
    expect(readFileSync(join(folder, 'x.log'), 'utf8')).toBe('log\n');
    expect(readFileSync(join(folder, 'deps/d/lib'), 'utf8')).toBe('lib\n');
    return [readFileSync(join(folder, 'a'), 'utf8'), existsSync(join(folder, 'new'))];
  };
  expect(agtOk(folder, 'undo', '-n')).not.toMatch(/x\.log|deps/);
  expect(agt(folder, 'undo')).toMatchObject({ exitCode: 0 });
  expect(stays()).toEqual(['1\n', false]);
  agtOk(folder, 'redo');
  expect(stays()).toEqual(['2\n', true]);
  agtOk(folder, 'undo');
  const last = agt(folder, 'undo');
  expect(last.stdout + last.stderr).toMatch(
    /no file that git ignores or did ignore, so (?:this one stays|\d+ stay)/,
  );
  expect(stays()).toEqual(['0\n', false]);
});

test('a snapshot may have the name of a session', () => {
  const { repository } = makeSession();
  agtOk(repository, 'snapshot', '-m', 'first');
  const asked = [['snapshot', 'restore', 's1', '-n'], 'snapshot diff s1'.split(' ')];
  for (const words of asked)
    expect(agt(repository, ...words).stderr).toContain('no snapshot "s1" of the folder');
  agtOk(repository, 'snapshot', '-m', 's1');
  for (const words of asked) agtOk(repository, ...words);
});

test('undo of a folder that was emptied names what git ignored and no snapshot holds', () => {
  const folder = makeRepository({ a: '0\n', '.gitignore': 'build/\n.env\n' });
  write(join(folder, 'build/large'), Buffer.alloc(2 << 20));
  write(join(folder, '.env'), 'secret\n');
  agtOk(folder, 'snapshot');
  write(join(folder, 'a'), '1\n');
  expect(agt(folder, 'undo').stderr).toBe('');
  for (const name of ['a', 'build', '.env', '.gitignore']) rmSync(join(folder, name), { recursive: true });
  const undone = agt(folder, 'undo');
  expect(undone.stdout).toMatch(/: restored 3 paths, verified\n/);
  expect(undone.stderr).toBe('note: not back, because snapshots leave it out: build\n');
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('secret\n');
});
