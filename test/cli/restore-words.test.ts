/** The words of agt restore. */
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, makeTempDir, run, write } from '../harness/world.ts';

test('agt restore [ID] [SNAPSHOT] [-- PATH…] is one grammar, inside of a session and outside', () => {
  const session = makeSession({ a: '0\n', b: '0\n', 'd/c': '0\n' });
  const { repository, sandbox } = session;
  const texts = () =>
    ['a', 'b', 'd/c'].map((name) => readFileSync(join(sandbox, name), 'utf8').trim()).join('');
  for (const n of ['1', '2']) {
    for (const name of ['a', 'b', 'd/c']) write(join(sandbox, name), `${n}\n`);
    agtOk(repository, 'autocommit', 's1', '-m', `all are ${n}`);
  }
  const restored = (cwd: string, ...words: string[]) => {
    agtOk(cwd, ...words);
    const result = texts();
    agtOk(repository, 'undo', 's1');
    expect(texts()).toBe('222');
    return result;
  };
  for (const restore of [['restore'], ['session', 'restore']]) {
    for (const snapshot of [['all are 1'], ['--to', 'all are 1']]) {
      expect(restored(repository, ...restore, 's1', ...snapshot)).toBe('111');
      expect(restored(sandbox, ...restore, ...snapshot)).toBe('111');
      expect(restored(repository, ...restore, 's1', ...snapshot, '--', 'b', 'd/c')).toBe('211');
      expect(restored(join(sandbox, 'd'), ...restore, ...snapshot, '--', 'c', '../a')).toBe('121');
    }
  }
  expect(restored(repository, 'restore', 's1', 'all are 1', '--path', 'a', '--', 'b')).toBe('112');
  const refusals = [
    [2, /^error: no snapshot given\nhint: for example: agt restore s1 @\{1\}\n/, ['s1']],
    [2, /^error: no snapshot given\n/, ['s1', '--', 'a']],
    [2, /^error: two snapshots are given: "@\{1\}" and "@\{2\}"\n/, ['s1', '@{1}', '--to', '@{2}']],
    [1, /^error: no session "@?\w*" in |^error: no session given/, ['@{1}']],
    [1, /^error: no session "nosuch"/, ['nosuch', '@{1}']],
    [2, /^error: a path is empty\n/, ['s1', '@{1}', '--', '']],
    [2, /^error: there are no paths after --\n/, ['s1', '@{1}', '--']],
    [2, /^error: paths and --only exclude each other\n/, ['s1', '@{1}', '--only', 'xdg', '--', 'a']],
  ] as const;
  for (const [exitCode, stderr, words] of refusals)
    expect(agt(repository, 'restore', ...words)).toEqual({
      exitCode,
      stdout: '',
      stderr: expect.stringMatching(stderr),
    });
  expect(agt(sandbox, 'restore', '@{1}', 'a').stderr).toMatch(/^error: unknown argument "a"\n/);
  expect(agt(repository, 'restore', 's1', '0', 'minutes', 'ago').stderr).toContain(
    "hint: to go to that snapshot: agt restore s1 '0 minutes ago'\n",
  );
  expect(texts()).toBe('222');
});

const FILES = ['a', 'b', 'd/c'];

/** The folder of a session, and one without git; in each step all files have the same text. */
function makeTwo() {
  const { sandbox } = makeSession(Object.fromEntries(FILES.map((name) => [name, '0\n'])));
  const folder = makeTempDir();
  for (const n of ['1', '2']) {
    for (const name of FILES) for (const cwd of [sandbox, folder]) write(join(cwd, name), `${n}\n`);
    for (const cwd of [sandbox, folder]) agtOk(cwd, 'snapshot', '-m', `step ${n}`);
  }
  return { sandbox, folder };
}

test('a restore says in the log which paths it has brought back, and of nothing how to undo it', () => {
  const { folder } = makeTwo();
  expect(agtOk(folder, 'restore', 'step 1', '--', 'a', 'd')).toContain('\nto take this back: ');
  expect(agtOk(folder, 'snapshot', 'list')).toMatch(
    /^@\{0\} .* restore of a, d from step 1 \(restored \w{10}\)$/m,
  );
  const last = agtOk(folder, 'snapshot', 'list');
  expect(agtOk(folder, 'restore', '@')).toMatch(/: nothing to restore: as in \w{10} already$/);
  expect(agtOk(folder, 'snapshot', 'list')).toBe(last);
  write(join(folder, 'a'), 'new\n');
  expect(agtOk(folder, 'restore', '@')).toMatch(/: restored 1 path, verified\n/);
});

test('a path or a label in the wrong place: the command of the hint brings that back, and nothing else', () => {
  const { sandbox, folder } = makeTwo();
  const cases: [words: string[], command: string, result: string, deleted?: string[]][] = [
    [['restore', '--', 'a'], 'restore ID@{1} -- a', '122'],
    [['restore', '--path', 'd'], 'restore ID@{1} -- d', '221'],
    [['restore', 'd/c'], 'restore ID@{1} -- d/c', '221'],
    [['restore', 'a', 'b'], 'restore ID@{0} -- a b', '222', ['a', 'b']],
    [['restore', 'step 1', 'a'], "restore ID'step 1' -- a", '122'],
    [['restore', 'nonsense', 'a'], 'restore ID@{0} -- a', '222', ['a']],
    [['undo', 'd/c'], 'restore ID@{1} -- d/c', '221'],
    [['undo', '--', 'd/c'], 'restore ID@{0} -- d/c', '222', ['d/c']],
    [['undo', 'step 1'], "restore ID'step 1'", '111'],
    [['restore', 'step', '1', '--', 'b'], "restore ID'step 1' -- b", '212'],
  ];
  for (const cwd of [sandbox, folder]) {
    const texts = () =>
      FILES.map((name) => existsSync(join(cwd, name)) && readFileSync(join(cwd, name), 'utf8').trim()).join(
        '',
      );
    for (const [words, command, result, deleted = []] of cases) {
      for (const name of deleted) rmSync(join(cwd, name));
      const { stderr } = agt(cwd, ...words);
      const [, hint = ''] =
        /^hint: to (?:bring a path back|go to that snapshot): agt (.*)$/m.exec(stderr) ?? [];
      const shown = hint.replace(/@\{[1-9]\d*\}/, '@{1}');
      expect([words, shown]).toEqual([words, command.replace('ID', cwd === sandbox ? 's1 ' : '')]);
      expect(stderr.includes('agt git restore')).toBe(
        cwd === sandbox && words[0] === 'restore' && !words.some((word) => word.startsWith('-')),
      );
      expect(run('sh', ['-c', `'${AGT}' ${hint}`], { cwd }).exitCode).toBe(0);
      expect([words, texts()]).toEqual([words, result]);
      agtOk(cwd, 'restore', 'step 2');
    }
  }
  expect(agt(folder, 'restore', 'nosuch').stderr).toMatch(
    /a time\nhint: see: agt snapshot list\nhint: if you mean a session: agt list --everywhere\n$/,
  );
});

test('times are those of the clock here; one in the future is named as such', () => {
  const { folder } = makeTwo();
  const said = (time: string) =>
    run(AGT, ['restore', time], { cwd: folder, env: { TZ: 'Asia/Tokyo' } }).stderr;
  const [{ at }] = JSON.parse(agtOk(folder, 'snapshot', 'list', '--json')).slice(-1);
  const there = new Date(Date.parse(at) + 9 * 3600_000).toISOString().slice(0, 19).replace('T', ' ');
  expect(said('2 days ago')).toContain(`: its first snapshot is from ${there}\n`);
  expect(said('tomorrow')).toContain(': that time, tomorrow, is in the future\n');
  expect(said('in 2 hours')).toContain(': that time, in 2 hours, is in the future\n');
  expect(said('2090-01-01 12:00')).toContain(': that time, 2090-01-01 12:00:00, is in the future\n');
});

test('a dry run of a restore that would change nothing says so, as the restore does', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'a'), '1');
  agtOk(repository, 'autocommit', 's1');
  const would = agtOk(repository, 'restore', 's1', '@', '-n');
  expect(would).toMatch(/^s1: nothing to restore: as in \w+ already$/);
  expect(agtOk(repository, 'restore', 's1', '@')).toBe(would);
  const { folder } = makeTwo();
  write(join(folder, 'new'), '');
  agtOk(folder, 'undo');
  const same = agtOk(folder, 'restore', 'step 2', '-n');
  expect(same).toContain(': nothing to restore: as in ');
  expect(agtOk(folder, 'restore', 'step 2')).toBe(same);
});

test('directories of which only the permissions differ come after the files', () => {
  const session = makeSession({ 'b/file': '0\n', 'a/b/file': '0\n', c: '0\n' });
  const { repository, sandbox } = session;
  agtOk(repository, 'autocommit', 's1', '-m', 'then');
  for (const name of ['a', 'a/b']) chmodSync(join(sandbox, name), 0o700); // as a restore that was killed
  write(join(sandbox, 'c'), '1\n');
  const changes = ['M c', 'permissions of a: 755', 'permissions of a/b: 755'];
  const lines = (...words: string[]) => agtOk(repository, 'restore', 's1', 'then', ...words).split('\n');
  expect(lines('-n').slice(0, 3)).toEqual(changes);
  expect(lines().slice(1, 4)).toEqual(changes.map((line) => `  ${line}`));
});

test('a path with letters beyond ASCII: the way to bring it back', () => {
  const folder = makeTempDir();
  for (const content of ['1', '2']) {
    write(join(folder, 'é'), content);
    agtOk(folder, 'snapshot');
  }
  const says = (...words: string[]) => Buffer.from(agt(folder, ...words).stderr, 'latin1').toString();
  expect(says('restore', 'é')).toContain("hint: to bring a path back: agt restore @{1} -- 'é'\n");
  rmSync(join(folder, 'é'));
  expect(says('blame', 'é')).toMatch(/hint: to bring it back: agt snapshot restore \w+ -- 'é'\n/);
});
