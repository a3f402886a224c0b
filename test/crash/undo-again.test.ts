/** A killed undo or redo: the same command again, or agt doctor --fix, does its work, and further steps lead on from there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { ofToday } from '../harness/today.ts';
import { agt, agtOk, git, makeRepository, REAL_GIT, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

const IN_THE_MIDDLE = 'checkout: file written#2';
const POINTS = [
  'restore: captured before#1',
  IN_THE_MIDDLE,
  'restore: brought back#1',
  'restore: compared#1',
];

type Move = 'undo' | 'redo';
const CASES = (['undo', 'redo'] as const).flatMap((by) => [
  ...POINTS.map((point) => ({ point, by, how: 'again' })),
  { point: IN_THE_MIDDLE, by, how: 'by doctor' },
]);

test.each(ofToday(CASES))('$by killed at "$point", finished $how', ({ point, by, how }) => {
  const { repository, sandbox } = makeSession();
  const isAt = (state: number) => {
    for (const name of ['a', 'b', 'c'])
      expect(readFileSync(join(sandbox, name), 'utf8')).toBe(`${state} ${name}\n`);
  };
  const pathsOf = (step: Move, ...dry: string[]) => {
    const { changes } = JSON.parse(agtOk(repository, 'session', step, 's1', '--json', ...dry));
    const paths = (changes as { path: string }[]).map(({ path }) => path);
    return paths.filter((path) => !/^\.agt-\d+\.tmp$/.test(path));
  };
  const move = (step: Move) => agtOk(repository, 'session', step, 's1');
  for (const state of [1, 2, 3]) {
    for (const name of ['a', 'b', 'c']) write(join(sandbox, name), `${state} ${name}\n`);
    agtOk(repository, 'autocommit', '--session-id', 's1');
  }
  if (by === 'redo') for (const _ of [1, 2]) move('undo');
  const env = { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT };
  const killed = run(process.execPath, [KILLABLE, 'session', by, 's1'], { cwd: repository, env });
  expect(killed.exitCode).toBe(null);
  if (how === 'again') expect(pathsOf(by, '-n')).toEqual(pathsOf(by));
  else expect(agtOk(repository, 'doctor', '--fix')).toContain('nothing is wrong');
  isAt(2);
  move('redo');
  isAt(3);
  expect(agt(repository, 'session', 'redo', 's1').stderr).toContain('nothing to redo');
  for (const state of [2, 1]) {
    move('undo');
    isAt(state);
  }
});

test('a killed undo is finished only if nothing was captured since', () => {
  const { repository, sandbox } = makeSession();
  const path = join(sandbox, 'a');
  for (const text of ['1\n', '2\n', '3\n']) {
    write(path, text);
    agtOk(repository, 'autocommit', '--session-id', 's1');
  }
  const env = { AGT_TEST_KILL_AT: 'checkout: file written#1', AGT_GIT_PATH: REAL_GIT };
  run(process.execPath, [KILLABLE, 'session', 'undo', 's1'], { cwd: repository, env });
  for (const text of ['4\n', '5\n']) {
    write(path, text);
    agtOk(repository, 'autocommit', '--session-id', 's1');
  }
  agtOk(repository, 'session', 'undo', 's1');
  expect(readFileSync(path, 'utf8')).toBe('4\n');
});

const HALVES = ['3\n', '2\n'];

test.each(
  ofToday([
    ['checkout: file written#1', ['2\n', '2\n']],
    [IN_THE_MIDDLE, HALVES],
    ['restore: brought back#1', ['3\n', '3\n']],
    ['restore: compared#1', ['3\n', '3\n']],
  ]),
)('after a redo killed at "%s", an undo goes back to where it began, and a redo does it', (point, left) => {
  const { repository, sandbox } = makeSession();
  const texts = () => ['a', 'b'].map((name) => readFileSync(join(sandbox, name), 'utf8'));
  for (const text of ['1\n', '2\n', '3\n', '4\n']) {
    for (const name of ['a', 'b']) write(join(sandbox, name), text);
    agtOk(repository, 'autocommit', '--session-id', 's1');
  }
  const move = (by: Move) => {
    agtOk(repository, 'session', by, 's1');
    return texts().join('').trim().replace('\n', ' ');
  };
  const kill = (by: Move, at: string) => {
    const env = { AGT_TEST_KILL_AT: at, AGT_GIT_PATH: REAL_GIT };
    const killed = run(process.execPath, [KILLABLE, 'session', by, 's1'], { cwd: repository, env });
    expect(killed.exitCode).toBe(null);
  };
  for (const _ of [3, 2]) move('undo');
  kill('redo', point);
  expect(texts()).toEqual(left);
  expect([move('undo'), move('redo'), move('redo')]).toEqual(['2 2', '3 3', '4 4']);
  for (const _ of [3, 2]) move('undo');
  kill('redo', point);
  kill('undo', 'restore: captured before#1');
  expect([move('undo'), move('undo'), move('redo'), move('redo')]).toEqual(['2 2', '1 1', '2 2', '3 3']);
});

test('the work after a killed redo is a step if it was captured', () => {
  const { repository, sandbox } = makeSession();
  const texts = () => ['a', 'b'].map((name) => readFileSync(join(sandbox, name), 'utf8'));
  for (const text of ['1\n', '2\n', '3\n']) {
    for (const name of ['a', 'b']) write(join(sandbox, name), text);
    agtOk(repository, 'autocommit', '--session-id', 's1');
  }
  agtOk(repository, 'session', 'undo', 's1');
  const env = { AGT_TEST_KILL_AT: IN_THE_MIDDLE, AGT_GIT_PATH: REAL_GIT };
  run(process.execPath, [KILLABLE, 'session', 'redo', 's1'], { cwd: repository, env });
  write(join(sandbox, 'b'), 'work\n');
  agtOk(repository, 'autocommit', '--session-id', 's1');
  write(join(sandbox, 'b'), 'more work\n');
  agtOk(repository, 'session', 'undo', 's1');
  expect(texts()).toEqual(['3\n', 'work\n']);
  agtOk(repository, 'session', 'redo', 's1');
  expect(texts()).toEqual(['3\n', 'more work\n']);
});

test.each([
  ['a snapshot', ['1\n', '2\n', '3\n'], '2\n'],
  ['the start, which no snapshot has', ['2\n'], 'from the start\n'],
])(
  'the command that agt doctor names finishes a killed undo, and a redo takes that back: to %s',
  (_, all, back) => {
    const { repository, sandbox } = makeSession({ a: 'from the start\n', b: 'from the start\n' });
    const texts = () => ['a', 'b'].map((name) => readFileSync(join(sandbox, name), 'utf8'));
    for (const text of all) {
      for (const name of ['a', 'b']) write(join(sandbox, name), text);
      agtOk(repository, 'autocommit', '--session-id', 's1');
    }
    const last = all.at(-1);
    const env = { AGT_TEST_KILL_AT: IN_THE_MIDDLE, AGT_GIT_PATH: REAL_GIT };
    run(process.execPath, [KILLABLE, 'session', 'undo', 's1'], { cwd: repository, env });
    expect(texts()).toEqual([back, last]);
    const command = /fix: agt (.*)\n/.exec(agt(repository, 'doctor').stdout)?.[1] ?? '';
    agtOk(repository, ...command.split(' '));
    expect(texts()).toEqual([back, back]);
    agtOk(repository, 'session', 'redo', 's1');
    expect(texts()).toEqual([last, last]);
  },
);

test.each(['restore: index of the branch#1', 'restore: refs moved#1', 'restore: compared#1'])(
  'the undo of a turn, with what it has staged below a commit of a person, killed at "%s"',
  (point) => {
    const folder = makeRepository({ g: 'g\n' });
    const agent = agentIn(folder, 'claude-code', 'c-1');
    agent.says('Stage it');
    agent.begins('1');
    for (const name of ['n', 'b\ufffd\n"q']) write(join(folder, name), 'n\n');
    git(folder, 'add', '-A');
    agent.ends('1');
    agent.stops();
    write(join(folder, 'g'), 'mine\n');
    git(folder, 'commit', '-qm', 'mine', 'g');
    const env = { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT };
    expect(run(process.execPath, [KILLABLE, 'undo', '--turn'], { cwd: folder, env }).exitCode).toBe(null);
    agtOk(folder, 'undo', '--turn');
    expect(git(folder, 'status', '--porcelain')).toBe('');
    expect(git(folder, 'log', '-1', '--format=%s')).toBe('mine');
  },
);
