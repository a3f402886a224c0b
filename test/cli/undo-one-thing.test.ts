/** agt undo --turn N, --step and --agent: one change is taken back, and all others stay. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, REAL_GIT, run } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
const withLine = (lines: readonly string[], i: number, text: string) => lines.with(i, `${text}\n`);

/** Three turns of two agents, and a person between them. */
function work(cwd: string) {
  const put = (lines: readonly string[], name = 'f') => writeFileSync(join(cwd, name), lines.join(''));
  const one = agentIn(cwd, 'claude-code', 'c-1');
  const two = agentIn(cwd, 'codex', 'c-2');
  one.says('first');
  one.begins('1');
  put(withLine(LINES, 3, 'of turn 1'));
  put(['new\n'], 'new');
  rmSync(join(cwd, 'gone'));
  one.ends('1');
  put(withLine(withLine(LINES, 3, 'of turn 1'), 20, 'of a person'));
  two.says('second');
  two.begins('2');
  put(withLine(withLine(withLine(LINES, 3, 'of turn 1'), 20, 'of a person'), 30, 'of turn 2'));
  put(['binary\0 of turn 2'], 'b');
  two.ends('2');
  one.says('third');
  one.begins('3');
  put(withLine(withLine(withLine(LINES, 3, 'again, of turn 3'), 20, 'of a person'), 30, 'of turn 2'));
  one.ends('3');
  one.stops();
}

const START = { f: LINES.join(''), gone: 'gone\n', b: 'binary\0' };
const content = (cwd: string) => readFileSync(join(cwd, 'f'), 'utf8').split(/(?<=\n)/);

describe.each(['session', 'folder'])('in a %s', (kind) => {
  const make = () => (kind === 'session' ? makeSession(START).sandbox : makeRepository(START));

  test('a turn goes, and later work, a person’s and the rest of the repository stay; undo and redo go on', () => {
    const cwd = make();
    work(cwd);
    git(cwd, 'add', 'f');
    const index = git(cwd, 'ls-files', '-s');
    const last = content(cwd);
    const shown = agtOk(cwd, 'undo', '--turn', '2', '-n');
    expect(shown).toMatch(/^-of turn 2\n\+line 30$/m);
    expect(content(cwd)).toEqual(last);
    expect(agtOk(cwd, 'undo', '--turn=2')).toMatch(/restored 2 paths, verified/);
    expect(content(cwd)).toEqual(withLine(last, 30, 'line 30'));
    expect(readFileSync(join(cwd, 'b'), 'utf8')).toBe(START.b);
    expect(existsSync(join(cwd, 'new'))).toBe(true);
    expect(git(cwd, 'ls-files', '-s')).toBe(index);
    expect(agtOk(cwd, 'session', 'log')).toContain('undo of turn 2');
    agtOk(cwd, 'undo');
    expect(content(cwd)).toEqual(last);
    agtOk(cwd, 'redo');
    expect(content(cwd)).toEqual(withLine(last, 30, 'line 30'));
  });

  test('a conflict changes nothing and names who; --keep-ours, --write-conflicts and paths', () => {
    const cwd = make();
    work(cwd);
    const last = content(cwd);
    const refused = agt(cwd, 'undo', '--turn', '1');
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^error: some of the later changes of f \(by you or another program, turn 2, turn 3\) are in the same lines as turn 1, or lines beside them\n/,
    );
    expect(content(cwd)).toEqual(last);
    expect(existsSync(join(cwd, 'gone'))).toBe(false);
    agtOk(cwd, 'undo', '--turn', '1', '--', 'gone');
    expect(existsSync(join(cwd, 'gone'))).toBe(true);
    expect(existsSync(join(cwd, 'new'))).toBe(true);
    expect(agt(cwd, 'undo', '--turn', '1', '--keep-ours').stderr).toContain('conflict in f');
    expect(content(cwd)).toEqual(last);
    expect(existsSync(join(cwd, 'new'))).toBe(false);
    agtOk(cwd, 'undo', '--turn', '1', '--write-conflicts');
    expect(content(cwd).slice(3, 10).join('')).toBe(
      '<<<<<<< now\nagain, of turn 3\n=======\nline 3\n>>>>>>> before turn 1\nline 4\nline 5\n',
    );
    expect(content(cwd).join('')).toContain('of a person\n');
  });

  test('all of an agent, one step; what is not there is refused', () => {
    const cwd = make();
    work(cwd);
    agtOk(cwd, 'undo', '--agent', 'claude');
    expect(content(cwd)).toEqual(withLine(withLine(LINES, 20, 'of a person'), 30, 'of turn 2'));
    expect([existsSync(join(cwd, 'new')), existsSync(join(cwd, 'gone'))]).toEqual([false, true]);
    const steps = JSON.parse(agtOk(cwd, 'session', 'log', '--json'));
    const step = steps.find(
      ({ tool, agent }: { tool: string; agent: string }) => tool !== null && agent === 'codex',
    );
    agtOk(cwd, 'undo', '--step', step.name);
    expect(content(cwd)).toEqual(withLine(LINES, 20, 'of a person'));
    const again = agtOk(cwd, 'undo', '--turn', '2');
    expect(again).toMatch(/: turn 2 has been taken back already$/);
    for (const [words, reason] of [
      [['--turn', '9'], /has no turn "9"/],
      [['--agent', 'nobody'], /no turn is of agent "nobody"/],
      [['--keep-ours'], /--keep-ours needs one thing to take back: add --turn N/],
      [['--turn', '1', '--step', '@{1}'], /more than one thing is given/],
    ] as const) {
      const refused = agt(cwd, 'undo', ...words);
      expect(refused.stderr).toMatch(reason);
      expect(refused.exitCode).toBeGreaterThan(0);
    }
  });

  test('a path without the one thing: the example that agt gives works', () => {
    const cwd = make();
    work(cwd);
    for (const given of [['--keep-ours'], ['--', 'f'], ['--write-conflicts', '--', 'f']]) {
      const [, hint = ''] = /^hint: for example: agt (.*)$/m.exec(agt(cwd, 'undo', ...given).stderr) ?? [];
      expect(hint).toContain(['--turn N', ...given].join(' '));
      const words = hint.replace('undo', 'undo -n').replace('N', '3').split(' ');
      expect(agtOk(cwd, ...words)).toContain('-again, of turn 3');
    }
  });

  test.each([
    ['a turn', ['--turn', '2']],
    ['a step', ['--step', 'STEP']],
    ['an agent', ['--agent', 'codex']],
    ['a path', ['--turn', '2', '--path', 'f']],
    ['what is left', ['--turn']],
    ['a conflict', ['--turn', '2'], 'mine, too'],
    ['a conflict, with both', ['--turn', '2', '--write-conflicts'], 'mine, too'],
  ])('a dry run plans what is done, with what no snapshot has yet: %s', (_, given, line30 = 'of turn 2') => {
    const cwd = make();
    work(cwd);
    const steps = JSON.parse(agtOk(cwd, 'session', 'log', '--json'));
    const step = steps.find(
      ({ tool, agent }: { tool: string; agent: string }) => tool !== null && agent === 'codex',
    );
    const words = given.map((word) => (word === 'STEP' ? step.name : word));
    if (given.length === 1) agtOk(cwd, 'undo', '--turn', '3');
    writeFileSync(join(cwd, 'f'), withLine(withLine(content(cwd), 30, line30), 15, 'mine').join(''));
    const shown = agt(cwd, 'undo', ...words, '-n');
    const planned = agt(cwd, 'undo', ...words, '-n', '--json');
    expect(JSON.parse(agtOk(cwd, 'session', 'log', '--json'))[0].label).not.toBe('agt dry run');
    const done = agt(cwd, 'undo', ...words, '--json');
    expect([shown.exitCode, planned.exitCode]).toEqual([done.exitCode, done.exitCode]);
    if (done.exitCode !== 0) expect([shown.stderr, planned.stderr]).toEqual([done.stderr, done.stderr]);
    else {
      expect(JSON.parse(planned.stdout).changes).toEqual(JSON.parse(done.stdout).changes);
      expect(content(cwd)[15]).toBe(given.length === 1 ? 'line 15\n' : 'mine\n');
    }
  });
});

test.each([
  'restore: captured before',
  'checkout: file written',
  'restore: brought back',
  'restore: compared',
])('killed (%s), the undo of a turn is finished, and nothing of others is lost', (point) => {
  const { sandbox: cwd, repository } = makeSession(START);
  work(cwd);
  const last = content(cwd);
  const env = { AGT_TEST_KILL_AT: `${point}#1`, AGT_GIT_PATH: REAL_GIT };
  expect(run(process.execPath, [KILLABLE, 'undo', '--turn', '2'], { cwd, env }).exitCode).not.toBe(0);
  agtOk(repository, 'doctor', '--fix');
  expect(readdirSync(cwd).filter((name) => name.startsWith('.agt-'))).toEqual([]);
  const now = content(cwd);
  expect([last.join(''), withLine(last, 30, 'line 30').join('')]).toContain(now.join(''));
  expect(agt(cwd, 'undo', '--turn', '2').exitCode).toBe(0);
  expect(content(cwd)).toEqual(withLine(last, 30, 'line 30'));
  expect(readFileSync(join(cwd, 'b'), 'utf8')).toBe(START.b);
});

test('files of others stay where a file or a directory of the turn would come back', () => {
  const cwd = makeRepository({ f: 'f\n', 'd/b': 'b\n' });
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  rmSync(join(cwd, 'f'));
  rmSync(join(cwd, 'd'), { recursive: true });
  agent.ends('1');
  mkdirSync(join(cwd, 'f'));
  writeFileSync(join(cwd, 'f/own'), 'own\n');
  writeFileSync(join(cwd, 'd'), 'own\n');
  const isThere = () => {
    expect(readFileSync(join(cwd, 'f/own'), 'utf8')).toBe('own\n');
    expect(readFileSync(join(cwd, 'd'), 'utf8')).toBe('own\n');
  };
  agtOk(cwd, 'snapshot');
  expect(agt(cwd, 'undo', '--turn', '1', '-n').exitCode).toBe(1);
  expect(agt(cwd, 'undo', '--turn', '1')).toMatchObject({ exitCode: 1, stdout: '' });
  isThere();
  for (const option of ['--keep-ours', '--write-conflicts']) {
    const { exitCode, stdout, stderr } = agt(cwd, 'undo', '--turn', '1', option);
    expect(exitCode).toBe(option === '--keep-ours' ? 0 : 1);
    expect(stdout).toContain('nothing has changed');
    expect(stderr).toContain('conflict in f, which stays as it is');
    expect(stderr).toContain('conflict in d/b, which stays as it is');
    isThere();
  }
  expect(agt(cwd, 'undo', '--turn', '1', '--', 'nope').stderr).toMatch(/turn 1 changed nothing in nope/);
});

test('renames: the undo finds a file under the name that it has now, and takes the rename of a turn back', () => {
  const cwd = makeRepository({ f: LINES.join(''), g: LINES.join(''), new: 'new\n' });
  const there = () =>
    ['f', 'g', 'h', 'i', 'j', 'new'].filter((name) => existsSync(join(cwd, name))).join(' ');
  const one = agentIn(cwd, 'claude-code', 'c-1');
  one.says('first');
  one.begins('1');
  writeFileSync(join(cwd, 'f'), withLine(LINES, 3, 'of turn 1').join(''));
  renameSync(join(cwd, 'g'), join(cwd, 'h'));
  one.ends('1');
  renameSync(join(cwd, 'f'), join(cwd, 'i'));
  writeFileSync(join(cwd, 'i'), withLine(withLine(LINES, 3, 'of turn 1'), 20, 'of a person').join(''));
  writeFileSync(join(cwd, 'h'), withLine(LINES, 20, 'of a person').join(''));
  agtOk(cwd, 'undo', '--turn', '1', '--', 'i');
  expect(there()).toBe('h i new');
  expect(readFileSync(join(cwd, 'i'), 'utf8')).toBe(withLine(LINES, 20, 'of a person').join(''));
  agtOk(cwd, 'undo', '--turn', '1');
  expect(there()).toBe('g i new');
  expect(readFileSync(join(cwd, 'g'), 'utf8')).toBe(withLine(LINES, 20, 'of a person').join(''));
  agtOk(cwd, 'undo');
  expect(there()).toBe('h i new');
  renameSync(join(cwd, 'h'), join(cwd, 'j'));
  expect(agt(cwd, 'undo', '--turn', '1')).toMatchObject({ exitCode: 1, stdout: '' });
  renameSync(join(cwd, 'j'), join(cwd, 'h'));
  renameSync(join(cwd, 'new'), join(cwd, 'g'));
  expect(agt(cwd, 'undo', '--turn', '1').stderr).toContain('some of the later changes of h');
  expect(there()).toBe('g h i');
  expect(readFileSync(join(cwd, 'g'), 'utf8')).toBe('new\n');
});

test('a step is the one that the log shows, also if something has changed since', () => {
  const cwd = makeRepository({ f: LINES.join('') });
  const one = agentIn(cwd, 'claude-code', 'c-1');
  one.says('first');
  one.begins('1');
  writeFileSync(join(cwd, 'f'), withLine(LINES, 3, 'of turn 1').join(''));
  one.ends('1');
  writeFileSync(join(cwd, 'f'), withLine(withLine(LINES, 3, 'of turn 1'), 20, 'of a person').join(''));
  agtOk(cwd, 'undo', '--step', '@{0}');
  expect(content(cwd)).toEqual(withLine(LINES, 20, 'of a person'));
});

test('undo --turn after undos of single turns takes the newest one that is left, and brings none back', () => {
  const { sandbox: cwd } = makeSession({ a: 'a\n' });
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  for (const name of ['one', 'two', 'three']) {
    agent.says(name);
    agent.begins(name);
    writeFileSync(join(cwd, name), '');
    agent.ends(name);
  }
  const there = () => ['one', 'two', 'three'].filter((name) => existsSync(join(cwd, name)));
  agtOk(cwd, 'undo', '--turn', '2');
  expect(there()).toEqual(['one', 'three']);
  agtOk(cwd, 'undo', '--turn');
  expect(there()).toEqual(['one']);
  agtOk(cwd, 'undo', '--turn');
  expect(there()).toEqual([]);
  expect(agt(cwd, 'undo', '--turn').stderr).toBe('error: nothing to undo: every turn is taken back\n');
});

test.each(['session', 'folder'])(
  'undo --turn (%s) passes turns that changed nothing, and names what of a person goes too',
  (kind) => {
    const cwd = kind === 'session' ? makeSession({ a: 'a\n' }).sandbox : makeRepository({ a: 'a\n' });
    const agent = agentIn(cwd, 'claude-code', 'c-1');
    const there = () => ['one', 'mine'].filter((name) => existsSync(join(cwd, name)));
    agent.says('one');
    agent.begins('1');
    writeFileSync(join(cwd, 'one'), '');
    agent.ends('1');
    agent.says('explain it again');
    agent.stops();
    writeFileSync(join(cwd, 'mine'), '');
    const own =
      /^warning: that takes back your own changes, too, .*: mine \((?:in|since) .*\nhint: .*: (agt .* -- mine)\n/;
    const bringBack = (stderr: string) =>
      expect(
        run('sh', ['-c', (own.exec(stderr)?.[1] ?? 'false').replace('agt', AGT)], { cwd }).exitCode,
      ).toBe(0);
    const planned = agt(cwd, 'undo', '--turn', '-n').stderr;
    const undone = agt(cwd, 'undo', '--turn');
    expect(undone.stdout).toContain('undone: turn "one", and all since\n');
    expect(there()).toEqual([]);
    expect(agtOk(cwd, 'redo', '--turn')).toContain('redone: turn "one"\n');
    expect(there()).toEqual(['one', 'mine']);
    agtOk(cwd, 'undo', '--turn');
    for (const stderr of [planned, undone.stderr]) {
      bringBack(stderr);
      expect(there()).toEqual(['mine']);
      rmSync(join(cwd, 'mine'));
    }
  },
);
