/** Turns of agents, and who made each change: in a session and in a folder, with two agents and a person. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { agt, agtOk, makeRepository, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const steps = (cwd: string) =>
  (JSON.parse(agtOk(cwd, 'session', 'log', '--json', '--stat')) as Step[])
    .filter(({ files }) => files.length > 0)
    .map(({ author, turn, files, among }) => [
      author,
      turn,
      files.map(({ path }) => path).join(),
      ...(among.length > 0 ? [among.toSorted().join()] : []),
    ])
    .toReversed();

interface Step {
  author: string;
  turn: number | null;
  files: { path: string }[];
  among: string[];
}

const turns = (cwd: string) => JSON.parse(agtOk(cwd, 'session', 'log', '--turns', '--json'));

test.each(['session', 'folder'])('each change is of a call, of a person, or of nobody known (%s)', (kind) => {
  const cwd = kind === 'session' ? makeSession({ a: '1\n' }).sandbox : makeRepository({ a: '1\n' });
  const put = (name: string) => writeFileSync(join(cwd, name), `${name}\n`);
  const one = agentIn(cwd, 'claude-code', 'c-1');
  const two = agentIn(cwd, 'codex', 'c-2');
  one.says('first task');
  put('before-any-call');
  one.begins('1');
  put('by-one');
  one.ends('1');
  put('person');
  two.says('second task');
  two.begins('2');
  put('by-two');
  two.ends('2');
  one.begins('3');
  two.begins('4');
  put('by-either');
  one.ends('3');
  put('by-two-alone');
  two.ends('4');
  one.begins('5');
  put('interrupted');
  one.stops();
  put('after the turn');
  one.says('third task');
  one.begins('6');
  put('last');
  one.ends('6');
  expect(steps(cwd)).toEqual([
    ['other', null, 'before-any-call'],
    ['agent', 1, 'by-one'],
    ['other', null, 'person'],
    ['agent', 2, 'by-two'],
    ['unknown', null, 'by-either', 'c-1,c-2'],
    ['agent', 2, 'by-two-alone'],
    ['unknown', null, 'interrupted', 'c-1'],
    ['other', null, 'after the turn'],
    ['agent', 3, 'last'],
  ]);
  expect(turns(cwd)).toMatchObject([
    { number: 3, prompt: 'third task', agent: 'claude', calls: 1, files: [{ path: 'last' }] },
    { number: 2, prompt: 'second task', agent: 'codex', insertions: 2 },
    { number: 1, prompt: 'first task', conversation: 'c-1', files: [{ path: 'by-one' }] },
  ]);
  const table = agtOk(cwd, 'session', 'log', '--turns', '--stat');
  expect(table).toMatch(/^TURN +WHEN +AGENT +CALLS +FILES +DIFF +PROMPT\n/);
  expect(table).toMatch(/^ +2 .* codex +2 +2 +\+2 -0 +second task\n {4}A {2}\+1 -0 {2}by-two\n/m);
  const diff = agtOk(
    cwd,
    ...(kind === 'session' ? ['session'] : ['snapshot']),
    'diff',
    '--turn',
    '2',
    '--name-only',
  );
  expect(diff.split('\n')).toEqual(['by-two', 'by-two-alone']);
  expect(agtOk(cwd, 'session', 'log', '--turn', '3').split('\n')).toHaveLength(3);
  const refused = agt(cwd, 'session', 'log', '--turn', '7');
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.stderr).toMatch(/has no turn "7": it has turns 1 to 3\n.*--turns/);
});

test('calls of one agent at the same time are of its turn, and an agent that died blocks nobody for long', () => {
  const { sandbox: cwd, repository, id } = makeSession({ a: '1\n' });
  const put = (name: string) => writeFileSync(join(cwd, name), `${name}\n`);
  const one = agentIn(cwd, 'claude-code', 'c-1');
  one.says('task');
  one.begins('1');
  put('x');
  one.begins('2');
  put('y');
  one.ends('1');
  put('z');
  one.ends('2');
  expect(steps(cwd)).toEqual([
    ['agent', 1, 'x'],
    ['agent', 1, 'y'],
    ['agent', 1, 'z'],
  ]);
  expect(agt(cwd, 'log', '--turn', '3').stderr).toContain('has no turn "3": it has turn 1\n');
  agentIn(cwd, 'codex', 'dead').begins('9');
  run('touch', ['-d', '2 hours ago', join(repository, '.git/agt/calls', id, 'codex.dead')], { cwd });
  put('later');
  one.begins('3');
  expect(steps(cwd).at(-1)).toEqual(['other', null, 'later']);
});

test('session exec: a call that fails has not changed what came before it', () => {
  const { sandbox, repository, id } = makeSession({ a: '1\n' });
  writeFileSync(join(sandbox, 'good'), 'good\n');
  agt(repository, 'session', 'exec', id, '--tool', 'Bash', '--', 'sh', '-c', 'echo bad >bad; exit 1');
  expect(steps(sandbox)).toEqual([
    ['other', null, 'good'],
    ['agent', 1, 'bad'],
  ]);
  agtOk(repository, 'accept', id, '--untracked=all');
  expect([existsSync(join(repository, 'good')), existsSync(join(repository, 'bad'))]).toEqual([true, false]);
});

test.each([
  ['folder', '.gitignore'],
  ['session', '../.agtignore'],
])('an undo by turn stops where only files that snapshots leave out were deleted (%s)', (kind, rules) => {
  const cwd = kind === 'session' ? makeSession({ a: '1\n' }).sandbox : makeRepository({ a: '1\n' });
  write(join(cwd, rules), 'build/\n');
  write(join(cwd, 'build/app'), 'made\n');
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  writeFileSync(join(cwd, 'a'), '2\n');
  agent.ends('1');
  agent.says('second');
  agent.begins('2');
  rmSync(join(cwd, 'build'), { recursive: true });
  agent.ends('2');
  const undo = () => agt(cwd, 'undo', '--turns');
  expect(undo()).toMatchObject({
    stdout: expect.stringContaining('undone: turn "second", and all since\n'),
    stderr: expect.stringMatching(/^note: not back, because snapshots leave it out: (sandbox\/)?build\n$/),
  });
  expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('2\n');
  expect(undo().stdout).toContain('undone: turn "first", and all since\n');
  expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('1\n');
});

test('files that git converts as it checks them out are no turn and no change, and their lines keep their author', () => {
  const repository = makeRepository({ '.gitattributes': '*.bat text eol=crlf\n', 'run.bat': 'a\nb\nc\nd\n' });
  const { sandbox, id } = sessionIn(repository);
  const put = (...lines: string[]) =>
    writeFileSync(join(sandbox, 'run.bat'), lines.map((l) => `${l}\r\n`).join(''));
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  put('a', 'one', 'c', 'd');
  agent.ends('1');
  agent.begins('2');
  put('a', 'one', 'c', 'two');
  agent.ends('2');
  const log = JSON.parse(agtOk(sandbox, 'session', 'log', '--json', '--stat'));
  expect(log.at(-1)).toMatchObject({ label: 'as checked out', author: 'other', modified: 0 });
  const turns = JSON.parse(agtOk(sandbox, 'session', 'log', '--turns', '--json'));
  expect(turns).toMatchObject([{ number: 1, prompt: 'first' }]);
  expect(JSON.parse(agtOk(repository, 'log', '--all-sessions', '--json'))).toHaveLength(1);
  const before = agt(sandbox, 'undo', '--turn', '1', '-n').stdout;
  expect(before).toMatch(/^-two/m);
  agtOk(repository, 'accept', id);
  const lines = JSON.parse(agtOk(repository, 'blame', '--json', 'run.bat'));
  const calls = lines.map(({ origin }: { origin: { call: string } | null }) => origin?.call ?? null);
  expect(calls).toEqual([null, '1', null, '2']);
});

test.each(['session', 'folder'])(
  'a turn has a call of an agent: prompts alone shift no number (%s)',
  (kind) => {
    const cwd = kind === 'session' ? makeSession({ a: '1\n' }).sandbox : makeRepository({ a: '1\n' });
    const noun = kind === 'session' ? 'session' : 'snapshot';
    write(join(cwd, 'mine'), 'mine\n');
    agtOk(cwd, 'snapshot');
    const agent = agentIn(cwd, 'claude-code', 'c-1');
    const turn = (name: string) => {
      agent.says(name);
      agent.begins(name);
      writeFileSync(join(cwd, name), `${name}\n`);
      agent.ends(name);
    };
    agent.says('only a question');
    agent.stops();
    turn('one');
    agent.says('agt undo');
    agtOk(cwd, 'undo', '--step', '@{0}', '-n');
    turn('two');
    agtOk(cwd, 'restore', '@{1}');
    expect(
      turns(cwd).map(({ number, prompt }: { number: number; prompt: string }) => [number, prompt]),
    ).toEqual([
      [2, 'two'],
      [1, 'one'],
    ]);
    turn('three');
    expect(agtOk(cwd, noun, 'diff', '--turn', '3', '--name-only')).toContain('three');
    expect(agtOk(cwd, 'undo', '--turn', '3', '-n')).toContain('-three');
  },
);

test('a turn that changed nothing in the end, and one that has been taken back, are told apart', () => {
  const { sandbox: cwd } = makeSession({ a: 'a\n' });
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  const turn = (...texts: string[]) => {
    agent.says('go on');
    for (const [i, text] of texts.entries()) {
      agent.begins(`${i}`);
      writeFileSync(join(cwd, 'a'), text);
      agent.ends(`${i}`);
    }
  };
  turn('of turn 1\n');
  turn('for a moment\n', 'of turn 1\n');
  turn('of turn 3\n');
  const none = agt(cwd, 'undo', '--turn', '2');
  expect([none.exitCode, none.stderr]).toEqual([
    1,
    expect.stringMatching(/^error: turn 2 changed nothing\n/),
  ]);
  agtOk(cwd, 'undo', '--turn', '3');
  expect(agtOk(cwd, 'undo', '--turn', '3')).toBe('s1: turn 3 has been taken back already');
  agtOk(cwd, 'undo', '--turn');
  expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('a\n');
  expect(agt(cwd, 'undo', '--turn').stderr).toBe('error: nothing to undo: every turn is taken back\n');
});

test('an undo of the last turn takes what an undo of paths, of a step or with a conflict has left', () => {
  const { sandbox: cwd } = makeSession({ a: 'a\n' });
  const agent = agentIn(cwd, 'claude-code', 'c-1');
  const commits: string[] = [];
  const turn = (...files: (readonly [name: string, text: string])[]) => {
    agent.says('go on');
    for (const [name, text] of files) {
      agent.begins(name);
      writeFileSync(join(cwd, name), text);
      agent.ends(name);
      commits.push(JSON.parse(agtOk(cwd, 'session', 'log', '--json'))[0].commit);
    }
  };
  const there = () => ['p', 'q', 'r'].filter((name) => existsSync(join(cwd, name))).join('');
  const inA = () => readFileSync(join(cwd, 'a'), 'utf8');
  turn(['a', 'of turn 1\n']);
  turn(['a', 'of turn 2\n']);
  turn(['p', 'p\n'], ['q', 'q\n'], ['r', 'r\n']);
  agtOk(cwd, 'undo', '--turn', '3', '--', 'q');
  expect(there()).toBe('pr');
  agtOk(cwd, 'undo', '--turn');
  expect([there(), inA()]).toEqual(['', 'of turn 2\n']);
  agtOk(cwd, 'undo', '2');
  agtOk(cwd, 'undo', '--step', commits[2] ?? '');
  expect(there()).toBe('qr');
  agtOk(cwd, 'undo', '--turn');
  expect([there(), inA()]).toEqual(['', 'of turn 2\n']);
  agt(cwd, 'undo', '--turn', '1', '--keep-ours');
  agtOk(cwd, 'undo', '--turn');
  expect(inA()).toBe('of turn 1\n');
});

test('undo by turns has as many as the log of turns, and the restores between them', () => {
  const { sandbox } = makeSession({ a: 'a\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  for (const name of ['one', 'two', 'three']) {
    agent.says(name);
    agent.begins(name);
    write(join(sandbox, name), name);
    agent.ends(name);
    if (name === 'two') agtOk(sandbox, 'restore', '@{1}');
  }
  expect(JSON.parse(agtOk(sandbox, 'log', '--turns', '--json'))).toHaveLength(3);
  expect(agt(sandbox, 'undo', '--turns', '9').stderr).toContain(' 9 turns: after 4 of them, nothing ');
  agtOk(sandbox, 'undo', '--turns', '4');
});

test('a turn is not undone while a conflict keeps a part of it', () => {
  const { sandbox } = makeSession({ a: 'a\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('two files');
  agent.begins('1');
  for (const name of ['a', 'new']) write(join(sandbox, name), 'of turn 1\n');
  agent.ends('1');
  write(join(sandbox, 'new'), 'of turn 1\nof a person\n');
  agtOk(sandbox, 'undo', '--turn', '1', '--keep-ours');
  expect(agtOk(sandbox, 'log', '--turns')).not.toContain('(undone)');
  rmSync(join(sandbox, 'new'));
  agtOk(sandbox, 'autocommit');
  expect(agtOk(sandbox, 'log', '--turns')).toContain('(undone)');
});
