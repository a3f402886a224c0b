/** `--everywhere`: a command in each repository that has sessions, also in one that was moved. */
import { cpSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionIn } from '../harness/session.ts';
import { AGT, agt, agtOk, makeRepository, makeTempDir, run, write } from '../harness/world.ts';

test.each(['list', 'status', 'du', 'doctor'])(
  'agt %s --everywhere shows each repository under its path',
  (command) => {
    const [one, two] = [makeRepository(), makeRepository()];
    sessionIn(one, 'in-one');
    sessionIn(two, 'in-two');
    const rows = JSON.parse(agt('/', command, '--everywhere', '--json').stdout) as { repository: string }[];
    expect(rows.map(({ repository }) => repository)).toEqual(
      expect.arrayContaining([join(one, '.git'), join(two, '.git')]),
    );
    const text = agt('/', command, '--everywhere').stdout;
    for (const place of [one, two]) expect(text).toMatch(new RegExp(`^${place}\n.+`, 'm'));
    if (command !== 'doctor') expect(text.split(`${two}\n`)[1]).toContain('in-two');
  },
);

test('without any session, a list of all repositories says how to begin one', () => {
  const [repository, HOME] = [makeRepository({ a: 'a\n' }), makeTempDir()];
  const list = (...words: string[]) =>
    run(AGT, ['list', '--everywhere', ...words], { cwd: '/', env: { HOME } });
  const begin = 'begin one: agt new ID, or agt run --new -- COMMAND';
  expect(list()).toMatchObject({ stdout: '', stderr: `note: no sessions yet; ${begin}\n` });
  for (const words of [
    ['new', 's1'],
    ['remove', 's1'],
  ])
    expect(run(AGT, words, { cwd: repository, env: { HOME } }).exitCode).toBe(0);
  expect(list().stderr).toBe(
    `note: no session is active; ${begin}; those that have ended: agt list --everywhere --all\n`,
  );
  expect(list('--state', 'failed').stderr).toBe('');
  expect(list('--all').stdout).toContain('s1');
});

test('a repository that was moved is found after the next command there; one that is gone is named', () => {
  const home = makeTempDir();
  const [before, after, copy] = ['before', 'after', 'copy'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ];
  renameSync(makeRepository(), before);
  sessionIn(before, 'kept');
  const listed = () => {
    const { stdout, stderr } = agt('/', 'list', '--everywhere');
    return { known: [before, after, copy].filter((place) => stdout.includes(`${place}\n`)), notes: stderr };
  };
  expect(listed().known).toEqual([before]);
  cpSync(before, copy, { recursive: true });
  agtOk(copy, 'list');
  expect(listed().known).toEqual([before, copy]);
  rmSync(copy, { recursive: true });
  renameSync(before, after);
  const { known, notes } = listed();
  expect(known).toEqual([]);
  for (const place of [before, copy])
    expect(notes).toMatch(new RegExp(`^note: ${place} is gone; if you moved it, call agt there once; `, 'm'));
  expect(agt('/', 'log', '--everywhere').stderr).toBe(agt('/', 'activity', '--everywhere').stderr);
  expect(agt('/', 'log', '--all-sessions', '--everywhere').stderr).toContain(`note: ${before} is gone`);
  agtOk(after, 'list');
  expect(listed()).toEqual({ known: [after], notes: expect.not.stringContaining(before) });
  expect(agt('/', 'doctor', '--everywhere', '--fix').stderr).toContain(
    `agt has forgotten ${copy}, which is gone`,
  );
  expect(listed().notes).not.toContain(copy);
  expect(readdirSync(home)).toContain('after');
});

test('a state that is none is an error of the command line, once', () => {
  for (const name of ['one', 'two']) sessionIn(makeRepository(), name);
  const { exitCode, stderr } = agt('/', 'list', '--everywhere', '--state', 'waiting');
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringMatching(/^error: unknown state "waiting"\nhint: states: creating, .*\n$/),
  ]);
});

test('a narrow table has no empty columns, and short names of places that tell them apart', () => {
  const home = realpathSync(makeTempDir());
  const env = { HOME: home, XDG_STATE_HOME: join(home, 'state'), GIT_PAGER: 'cat', NO_COLOR: '1' };
  const places = ['api', 'on/the/way/to/other/api', 'on/the/way/to/a/frontend'].map((name) =>
    join(home, name),
  );
  for (const place of places) {
    mkdirSync(dirname(place), { recursive: true });
    renameSync(makeRepository({ a: place }), place);
    run(AGT, ['new', 's1'], { cwd: place, env });
    const sandbox = run(AGT, ['path', 's1'], { cwd: place, env }).stdout.trimEnd();
    write(join(sandbox, 'new'), 'new\n');
    run(AGT, ['accept', 's1', '--untracked=all'], { cwd: place, env });
  }
  const narrow = (words: string) =>
    run('script', ['-qec', `stty cols 80; ${AGT} ${words}`, '/dev/null'], { cwd: join(home, 'api'), env })
      .stdout;
  const rows = narrow('activity --everywhere');
  for (const place of ['~/api', 'other/api', 'frontend'])
    expect(rows).toMatch(new RegExp(`^.{16}  ${place} +s1 .* accepted as [0-9a-f]{10} on main\r?$`, 'm'));
  const list = narrow('list -a');
  expect(list).toMatch(/^ID +STATE +AUTOCOMMIT +AGE +ENDED\r?$/m);
  expect(list).toMatch(/^s1 .* as [0-9a-f]{10} on main\r?$/m);
});

test('--everywhere takes no session', () => {
  for (const words of [
    ['du', 'one'],
    ['search', 'x', '--session', 'one'],
  ])
    expect(agt('/', ...words, '--everywhere').exitCode).toBe(2);
});

const COMMANDS = ['list', 'status', 'du', 'doctor', 'activity', 'search x'];

test.each(COMMANDS)('agt %s: a repository that cannot be read is named, and hides no other', (command) => {
  const [one, two] = [makeRepository(), makeRepository()];
  for (const [repository, id] of [
    [one, 'in-one'],
    [two, 'in-two'],
  ] as const) {
    const { sandbox } = sessionIn(repository, id);
    write(join(sandbox, 'x'), 'x\n');
    agtOk(repository, 'autocommit', id);
  }
  const look = () => {
    const { stdout, stderr, exitCode } = agt('/', ...command.split(' '), '--everywhere');
    expect(exitCode).not.toBe(0);
    expect(stdout).toContain(command === 'doctor' ? `${two}\n` : 'in-two');
    return command === 'doctor' ? stdout + stderr : stderr;
  };
  write(join(one, '.git/agt/config'), '[agt]\n\tretention = bogus\n');
  const [, hint = ''] = /: (agt .*config unset agt\.retention)$/m.exec(look()) ?? [];
  expect(
    run('sh', ['-c', hint.replace(/^agt/, AGT)], { cwd: command === 'doctor' ? one : '/' }).exitCode,
  ).toBe(0);
  renameSync(join(one, '.git/HEAD'), join(one, '.git/head'));
  expect(look()).toMatch(new RegExp(`^error: ${one}: `, 'm'));
  writeFileSync(join(one, '.git/HEAD'), 'junk\n');
  expect(look()).toMatch(new RegExp(`^error: ${one}: `, 'm'));
  rmSync(one, { recursive: true });
});

test('agt search --everywhere: the newest of all repositories and folders first, each with its place', () => {
  const folder = realpathSync(makeTempDir());
  const [one, two] = [makeRepository(), makeRepository()];
  for (const repository of [one, two])
    write(join(sessionIn(repository, 's1').sandbox, 'x'), 'needle everywhere\n');
  write(join(folder, 'y'), 'needle everywhere\n');
  agtOk(one, 'autocommit', 's1');
  agtOk(two, 'autocommit', 's1');
  agtOk(folder, 'snapshot');
  const search = (...words: string[]) => agtOk('/', 'search', 'needle everywhere', '--everywhere', ...words);
  const found: { repository: string | null; folder: string | null; at: string }[] = JSON.parse(
    search('--json'),
  );
  expect(found.map((row) => row.folder ?? row.repository).toSorted()).toEqual(
    [folder, join(one, '.git'), join(two, '.git')].toSorted(),
  );
  expect(found.map(({ at }) => at)).toEqual(
    found
      .map(({ at }) => at)
      .toSorted()
      .reverse(),
  );
  expect(search().split('\n')[0]).toMatch(/^WHERE +SESSION /);
  expect(search()).toMatch(/^(\S+) +\1 \(folder\) /m);
  expect(search('-n', '1').trimEnd().split('\n')).toHaveLength(2);
  write(join(sessionIn(two, 's2').sandbox, 'x'), 'of two alone\n');
  agtOk(two, 'autocommit', 's2', '--label', 'of two alone');
  const isWhole = new RegExp(`^(\\S+ +)?${two.split('/').slice(-2).join('/')} +s2 `, 'm');
  expect(agtOk('/', 'search', 'of two alone', '--everywhere')).toMatch(isWhole);
  expect(agtOk('/', 'activity', 's2', '--everywhere').replace(/^\S+ \S+ +/gm, '')).toMatch(isWhole);
  expect(search('--', 'y').trimEnd().split('\n')).toHaveLength(2);
  writeFileSync(join(one, '.git/HEAD'), 'junk\n');
  expect(agt('/', 'search', 'needle everywhere', '--everywhere').stdout.trimEnd().split('\n')).toHaveLength(
    3,
  );
  rmSync(one, { recursive: true });
});

test('a session of another repository is named with the command that lists it', () => {
  const there = makeRepository({ a: 'a' });
  agtOk(there, 'session', 'new', 'only-there');
  const hint = `hint: another repository has a session of this name: agt -C ${there} list --all\n`;
  for (const cwd of [makeRepository({ a: 'a' }), realpathSync(makeTempDir())]) {
    expect(agt(cwd, 'session', 'log', 'only-there').stderr).toContain(hint);
    expect(agt(cwd, 'session', 'log', 'nowhere').stderr).not.toContain('another repository');
  }
});

test('in a sandbox, the word before --base is a session, unless it is a snapshot', () => {
  const { sandbox } = sessionIn(makeRepository({ a: 'a' }), 's1');
  agtOk(sandbox, 'autocommit', '--label', 'one');
  const words = ['session', 'diff', '--base', '--stat'];
  expect(agt(sandbox, ...words, 's2')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: no session "s2" in .*\n(hint: .*\n)*hint: did you mean: s1\?\n/),
  });
  expect(agt(sandbox, ...words, 'one').stderr).toContain('error: --base compares the sandbox as it is');
});
