import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

interface Listed {
  state: string;
  commit: string;
  label: string | null;
  session_id: string;
  modified: number;
  added: number;
  deleted: number;
  size: number;
  head_commit: string;
  files?: { path: string; status: string; insertions: number | null; deletions: number | null }[];
}

function log(session: TestSession, ...args: string[]): Listed[] {
  const [before, after] = args.includes('--')
    ? [args.slice(0, args.indexOf('--')), args.slice(args.indexOf('--'))]
    : [args, []];
  const output = agtOk(session.repository, 'session', 'log', session.id, '--json', ...before, ...after);
  return JSON.parse(Buffer.from(output, 'latin1').toString()) as Listed[];
}

/** Two snapshots: `first`, with all kinds of changes since the start, and one by the tool `edit`. */
function twoStates(): TestSession {
  const session = makeSession({
    'src/a.c': 'a\n',
    'src/b.c': 'b\n',
    '.gitmodules': '[x]\n',
    'config/x': 'x\n',
  });
  write(join(session.sandbox, 'src/a.c'), 'a\na\n');
  rmSync(join(session.sandbox, 'src/b.c'));
  write(join(session.sandbox, 'new'), '12345');
  write(join(session.folder, 'config/settings'), 'own\n');
  write(join(session.folder, 'xdg/log'), 'x\n');
  autocommit(session, '--label', 'first');
  write(join(session.sandbox, 'src/a.c'), Buffer.from([0, 1, 2]));
  autocommit(session, '--tool', 'edit');
  return session;
}

const pathsOf = (entry: Listed | undefined) => entry?.files?.map(({ status, path }) => `${status} ${path}`);

test('no change is left to a person where agt sees a folder for the first time', () => {
  const folder = makeRepository({ a: 'a\n', '.gitignore': '.env\n' });
  write(join(folder, '.env'), 'KEY=1\n');
  agentIn(folder, 'claude-code', 'c-1').stops();
  expect(agtOk(folder, 'session', 'log')).toMatch(/^@\{0\}.* \(first snapshot\)$/m);
  const other = makeRepository({ a: 'a\n' });
  write(join(other, 'b'), 'b\n');
  agentIn(other, 'claude-code', 'c-1').says('hello');
  expect(agtOk(other, 'snapshot', 'list')).toMatch(/ prompt: hello \(claude, changes not of this prompt\)$/m);
});

describe('agt session log', () => {
  test('counts the changes of each snapshot, for the first one since the start commit', () => {
    const session = twoStates();
    const [second, first] = log(session, '--stat');
    expect(second).toMatchObject({ name: '@{0}', modified: 1, added: 0, deleted: 0, size: 3 });
    expect(second?.files).toEqual([
      { path: 'src/a.c', status: 'modified', size: 3, insertions: null, deletions: null },
    ]);
    expect(first).toMatchObject({
      name: '@{1}',
      label: 'first',
      modified: 1,
      added: 3,
      deleted: 1,
      size: 15,
    });
    expect(first?.head_commit).toBe(git(session.repository, 'rev-parse', 'main'));
    // The sandbox has a config/ of its own.
    expect(pathsOf(first)).toEqual([
      'added new',
      'modified src/a.c',
      'deleted src/b.c',
      'added ../config/settings',
      'added xdg/log',
    ]);
  });

  test('prints a table with a heading', () => {
    const session = twoStates();
    const lines = agtOk(session.repository, 'session', 'log', 's1', '--stat').split('\n');
    expect(lines[0]).toBe(
      'SNAPSHOT  WHEN                 COMMIT      CHANGED  ADDED  DELETED  SIZE      HEAD        WHAT',
    );
    expect(lines[1]).toMatch(
      /^@\{0\} {6}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}[0-9a-f]{10} {2}1 .* 3 .* \(edit\)$/,
    );
    expect(lines[2]).toBe('    M  binary, 3 bytes  src/a.c');
    expect(lines[3]).toMatch(/ first$/);
    expect(lines).toContain('    M  +1 -0  src/a.c');
  });

  test('can be limited by number, time and path', () => {
    const session = twoStates();
    for (const number of [['-n', '1'], ['-1']]) expect(log(session, ...number)).toHaveLength(1);
    expect(log(session, '--since', '2037-01-01')).toHaveLength(0);
    const none = agt(session.sandbox, 'session', 'log', '--since', '2037-01-01');
    expect(none).toMatchObject({ stdout: '', stderr: 'note: no snapshots since 2037-01-01 00:00:00\n' });
    expect(log(session, '--since', '1 hour ago')).toHaveLength(2);
    const labels = (...paths: string[]) => log(session, '--', ...paths).map(({ label }) => label);
    expect(labels('src')).toEqual([null, 'first']);
    expect(labels('src/b.c')).toEqual(['first']);
    expect(labels('xdg')).toEqual(['first']);
    expect(labels('*.c')).toEqual([null, 'first']);
    expect(labels('config')).toEqual([]);
    expect(labels('../config')).toEqual(['first']);
    expect(labels(join(session.folder, 'config/settings'))).toEqual(['first']);
    expect(labels(':!src')).toEqual(['first']);
    expect(labels('.gitmodules')).toEqual([]);
    expect(log(session, '-n', '1', '--', 'xdg').map(({ added }) => added)).toEqual([1]);
  });

  test('continues with the source session for a fork, and names it', () => {
    const session = twoStates();
    agtOk(session.repository, 'session', 'fork', '--from', 's1', '--id', 's2');
    const listed = log({ ...session, id: 's2' });
    expect(listed.map(({ session_id }) => session_id)).toEqual(['s1', 's1', 's1']);
    expect(agtOk(session.repository, 'session', 'log', 's2')).toMatch(/first \(in s1\)$/);
  });

  test('names only restored snapshots that it lists', () => {
    const session = makeSession();
    const steps = ['1\n', '2\n'].map((content) => {
      write(join(session.sandbox, 'a'), content);
      autocommit(session);
      return git(session.sandbox, 'rev-parse', '--short=10', 'refs/agt/tip/s1');
    });
    for (const words of [['--step', '@{0}'], [], [], []]) agtOk(session.sandbox, 'undo', ...words);
    const listed = agtOk(session.repository, 'session', 'log', 's1').trimEnd().split('\n').slice(1);
    expect(listed.map((line) => line.replace(/^.*[0-9a-f]{10} {2}/, ''))).toEqual([
      'the start (restored)',
      `(undo to ${steps[0]})`,
      `(undo to ${steps[1]})`,
      `undo of step ${steps[1]}`,
      '-',
      '-',
    ]);
  });

  test('marks turns that undos have taken back, until a redo', () => {
    const { sandbox: cwd } = makeSession({ a: 'a\n' });
    const agent = agentIn(cwd, 'claude-code', 'c-1');
    for (const name of ['one', 'two', 'three']) {
      agent.says(name);
      for (const file of [name, `${name}.txt`]) {
        agent.begins(file);
        write(join(cwd, file), file);
        agent.ends(file);
      }
    }
    const turns = () => {
      const table = agtOk(cwd, 'session', 'log', '--turns').split('\n').slice(1);
      return table.map((line) => /(\(undone\) )?\w+$/.exec(line)?.[0]);
    };
    expect(agtOk(cwd, 'log', '--turns', '--since', '2037-01-01')).toBe('no turns since 2037-01-01 00:00:00');
    const turnsAfter = (...words: string[]) => {
      agtOk(cwd, ...words);
      return turns();
    };
    const [all, withoutTwo] = [
      ['three', 'two', 'one'],
      ['three', '(undone) two', 'one'],
    ];
    expect(turns()).toEqual(all);
    expect(turnsAfter('undo', '--turn', '2', '--', 'two')).toEqual(all);
    expect(turnsAfter('undo', '--turn', '2')).toEqual(withoutTwo);
    expect(turnsAfter('undo', '2')).toEqual(all);
    expect(turnsAfter('undo')).toEqual(all);
    expect(turnsAfter('undo')).toEqual(['(undone) three', 'two', 'one']);
    expect(turnsAfter('redo', '2')).toEqual(all);
    const withoutThree = ['(undone) three', 'two', 'one'];
    expect(turnsAfter('undo', '2')).toEqual(withoutThree);
    expect(turnsAfter('redo', '2')).toEqual(all);
    expect(turnsAfter('undo', '--step', '@{0}')).toEqual(withoutThree);
    expect(turnsAfter('undo')).toEqual(all);
    expect(turnsAfter('undo', '--turn', '2')).toEqual(withoutTwo);
    agent.says('go on');
    expect(turns()).toEqual(withoutTwo);
    const ofAll = agtOk(cwd, 'log', '--all-sessions').replace(/^.*claude +/gm, '');
    expect(ofAll).toMatch(/^2 +three\n2 +\(undone\) two\n2 +one$/m);
  });

  test('marks turns that one undo took back together, and one of which an undo of paths left nothing', () => {
    const { sandbox: cwd } = makeSession({ a: 'a\n' });
    const agent = agentIn(cwd, 'codex', 'c-1');
    for (const text of ['1\n', '1\n2\n']) {
      agent.says(text);
      agent.begins(text);
      write(join(cwd, 'new'), text);
      agent.ends(text);
    }
    const standing = (...words: string[]) => {
      agtOk(cwd, ...words);
      const turns: { stands: boolean }[] = JSON.parse(agtOk(cwd, 'log', '--turns', '--json'));
      return turns.map(({ stands }) => stands);
    };
    expect(standing('undo', '--agent', 'codex')).toEqual([false, false]);
    expect(standing('undo')).toEqual([true, true]);
    expect(standing('undo', '--turn', '2', '--', 'new')).toEqual([false, true]);
    expect(standing('undo', '--agent', 'codex')).toEqual([false, false]);
  });

  test('works for a removed session, and is empty for one without autocommits', () => {
    const session = twoStates();
    agtOk(session.repository, 'session', 'remove', '--id', 's1');
    expect(log(session).map(({ label }) => label)).toContain('first');
    agtOk(session.repository, 'session', 'new', '--id', 'empty');
    expect(agtOk(session.repository, 'session', 'log', 'empty')).toBe('');
    expect(log({ ...session, id: 'empty' })).toEqual([]);
  });

  test('shows names as they are on disk, even if git refuses them in a tree or they are not UTF-8', () => {
    const session = makeSession();
    write(join(session.sandbox, '.GIT/x'), '');
    write(join(session.sandbox, 'é'), '');
    autocommit(session);
    expect(pathsOf(log(session, '--stat')[0])).toEqual(['added .GIT/x', 'added é']);
    expect(log(session, '--', '.GIT')).toHaveLength(1);
  });

  test.each([
    [['-n', 'x'], 'error: invalid number of snapshots "x"\n'],
    [['--since', 'step 4'], /^error: invalid time "step 4"\n/],
    [['--', '../../etc'], /^error: "..\/..\/etc" is not in session "s1"\n/],
    [['--', '/etc'], /^error: "\/etc" is not in session "s1"\n/],
  ])('refuses %j as wrong usage', (args, message) => {
    const session = makeSession();
    const outcome = agt(session.repository, 'session', 'log', 's1', ...args);
    expect(outcome.exitCode).toBeOneOf([1, 2]);
    expect(outcome.stdout).toBe('');
    expect(outcome.stderr).toMatch(message);
  });
});

test('a renamed file is one, with the lines that agt diff --turn counts', () => {
  const text = Array.from({ length: 30 }, (_, i) => `line ${i}\n`).join('');
  const { sandbox: cwd } = makeSession({ a: text });
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.says('rename');
  agent.begins('1');
  rmSync(join(cwd, 'a'));
  write(join(cwd, 'd/b'), `${text}more\n`);
  agent.ends('1');
  const [turn] = JSON.parse(agtOk(cwd, 'log', '--turns', '--json'));
  const files = [{ path: 'd/b', old: 'a', status: 'modified', insertions: 1, deletions: 0 }];
  expect(turn).toMatchObject({ insertions: 1, deletions: 0, files });
  expect(JSON.parse(agtOk(cwd, 'activity', '--json'))).toMatchObject([{ files }]);
  expect(agtOk(cwd, 'bisect', 'run', '--', 'test', '-e', 'a')).toMatch(/\n {4}R {2}\+1 -0 {2}a -> d\/b$/m);
  const table = agtOk(cwd, 'log', '--turns', '--stat');
  expect(table).toMatch(/ 1 +\+1 -0 +rename\n {4}R {2}\+1 -0 {2}a -> d\/b$/);
  expect(agtOk(cwd, 'activity', '--stat')).toMatch(/ a -> d\/b$/m);
  expect(agtOk(cwd, 'diff', '--turn', '1', '--shortstat').trim()).toBe('1 file changed, 1 insertion(+)');
});

test('without hooks, a turn is what lies between two labels of prompts, to all commands that know turns', () => {
  const session = makeSession({ a: 'a\n' });
  const json = (...words: string[]) => JSON.parse(agtOk(session.sandbox, ...words, '--json'));
  const told = ({ prompt, files }: { prompt: string; files: { path: string }[] }) =>
    `${prompt}: ${files.map(({ path }) => path).join()}`;
  const label = (n: number) => autocommit(session, '--label', `prompt: job ${n}`);
  for (const n of [1, 2, 3]) {
    label(n);
    if (n !== 2) write(join(session.sandbox, `f${n}`), `text of ${n}\n`);
  }
  label(4);
  const rows = ['job 3: f3', 'job 1: f1'];
  expect(json('activity').map(told)).toEqual(rows);
  expect(json('session', 'log', '--turns').map(told)).toEqual(rows);
  const ends = json('session', 'log').map(({ commit }: { commit: string }) => commit);
  const turns: { snapshots: number; commit: string }[] = json('activity');
  expect(turns.map(({ snapshots, commit }) => [snapshots, commit])).toEqual([
    [2, ends[0]],
    [2, ends[2]],
  ]);
  expect(agtOk(session.sandbox, 'session', 'log', '--turn', '1', '--stat')).toContain('A  +1 -0  f1');
  expect(agtOk(session.sandbox, 'undo', '--turn', '1', '-n')).toMatch(/\n-text of 1$/);
  expect(agtOk(session.sandbox, 'why', 'f1:1')).toMatch(/ turn 1\n {2}prompt {2}job 1\n/);
  expect(json('search', 'text of 1')).toMatchObject([{ prompt: 'job 1' }]);
  expect(json('search', '--prompt', 'job')).toHaveLength(4);
});
