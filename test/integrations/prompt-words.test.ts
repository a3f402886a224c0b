/** Prompts with numbers, snapshots and paths in them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readIfThere } from '../../src/disk/read-file.ts';
import { makeSession } from '../harness/session.ts';
import { agtOk, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { agentIn } from './agent.ts';
import { say, toolOf } from './hooks.ts';

test('agt undo 2 takes two turns back, agt undo step 2 two steps; a folder without a session has turns, too', () => {
  const folder = makeTempDir('plain');
  for (const place of [makeSession({ a: '0' }).sandbox, folder]) {
    const answer = (prompt: string) => (JSON.parse(say(place, prompt).stdout) as { reason: string }).reason;
    const names = ['b', 'c', 'd', 'e'];
    const present = () => names.filter((name) => existsSync(join(place, name))).join('');
    const edit = (name: string) => {
      write(join(place, name), name);
      toolOf(place, 'Write', { file_path: name });
    };
    write(join(place, 'a'), '1');
    say(place, 'b and c');
    edit('b');
    edit('c');
    say(place, 'the rest\nnow');
    edit('d');
    edit('e');
    const turns = (done: string, ...names: string[]) =>
      `\n${done}: 2 turns, ${names.map((name) => `"${name}"`).join(', ')}${done === 'undone' ? ', and all since' : ''}\nto take this back: agt `;
    const undone = answer('agt undo 2');
    expect(undone).toContain(': restored 4 paths, verified\n  D b\n  D c\n  D d\n  D e\n');
    expect([undone, present()]).toEqual([
      expect.stringContaining(`${turns('undone', 'the rest', 'b and c')}redo 2`),
      '',
    ]);
    expect(answer('agt redo 2 turns')).toContain(`${turns('redone', 'b and c', 'the rest')}undo 2`);
    expect(present()).toBe('bcde');
    expect(answer('agt undo step 3.')).toMatch(/\nnow at (.|\n)*\nto take this back: agt redo step 3$/);
    expect(present()).toBe('b');
    expect(answer('agt redo 2 steps')).toContain('restored 2 paths');
    expect([present(), answer('agt redo step'), present()]).toEqual(['bcd', expect.anything(), 'bcde']);
    expect(answer('agt undo 3')).toMatch(
      /^error: cannot undo 3 turns: only 2 earlier turns of ".*" would change something\nhint: nothing has/,
    );
    expect(present()).toBe('bcde');
  }
});

test('killed in the middle of two turns, the same prompt goes on, and a redo takes all of it back', () => {
  const { repository, sandbox } = makeSession({ a: '0', b: '0' });
  const answer = (prompt: string) => (JSON.parse(say(sandbox, prompt).stdout) as { reason: string }).reason;
  const texts = () => ['a', 'b'].map((name) => readIfThere(join(sandbox, name))).join('');
  for (const n of ['1', '2', '3']) {
    say(sandbox, `make it ${n}`);
    for (const name of ['a', 'b']) write(join(sandbox, name), n);
    toolOf(sandbox, 'Write', { file_path: 'a' });
  }
  const killable = join(import.meta.dirname, '../../dist/failure-points/main.cjs');
  const env = { AGT_TEST_KILL_AT: 'checkout: file written#2', AGT_GIT_PATH: REAL_GIT };
  run(process.execPath, [killable, 'undo', 's1', '2', '--turns'], { cwd: repository, env });
  expect(texts()).toBe('13');
  expect(answer('agt undo 2')).toContain('undone: 2 turns, "make it 3", "make it 2", and all since');
  expect(texts()).toBe('11');
  expect(answer('agt redo 2')).toContain('redone: 2 turns, "make it 2", "make it 3"');
  expect(texts()).toBe('33');
});

test('agt restore as a prompt: one grammar with the terminal', () => {
  const session = makeSession({ a: '0' });
  const { repository, sandbox } = session;
  const answer = (prompt: string) => (JSON.parse(say(sandbox, prompt).stdout) as { reason: string }).reason;
  const texts = () => ['a', "it's b"].map((name) => readIfThere(join(sandbox, name))).join('');
  for (const n of ['1', '2']) {
    say(sandbox, `make it ${n}, don't wait`);
    for (const name of ['a', "it's b"]) write(join(sandbox, name), n);
    agtOk(repository, 'autocommit', 's1', '-m', `all are ${n}`);
  }
  agtOk(repository, 'new', 's2');
  agtOk(repository, 'autocommit', 's2', '-m', 'of s2');
  for (const [prompt, result] of [
    ['agt restore all are 1', '11'],
    ['agt restore s1 all are 1', '11'],
    ["agt restore make it 2, don't", '11'],
    ['agt restore --to "all are 1"', '11'],
    ["agt restore 'all are 1' -- a", '12'],
    ['agt restore s1 "all are 1" -- "it\'s b"', '21'],
    ['/agt restore all are 1 -- a ./a', '12'],
  ] as const) {
    expect([prompt, answer(prompt), texts()]).toEqual([
      prompt,
      expect.stringMatching(/^s1: restored/),
      result,
    ]);
    expect([answer('agt undo'), texts()]).toEqual([expect.stringMatching(/^s1: restored/), '22']);
  }
  expect(answer('agt restore make it 2')).toMatch(
    /\nnote: this snapshot is from before .* see: agt snapshots$/,
  );
  answer('agt undo');
  expect(answer('agt restore s2 of s2')).toMatch(/^s2: nothing to restore/);
  for (const [prompt, reason] of [
    ['agt restore @{1} --', 'error: a prompt cannot be "agt restore @{1} --"'],
    ["agt restore '", 'error: no snapshot "\'" of "s1"'],
    ['agt restore "\\x" "', 'error: no snapshot'],
    ['agt restore s1', 'error: a prompt cannot be "agt restore s1"'],
    ['agt restore all are', 'error: no snapshot "all are" of "s1": several labels begin with it: '],
    ['agt restore @ -- nosuch', 'error: "nosuch" is neither in snapshot'],
  ] as const)
    expect(answer(prompt)).toMatch(reason);
  expect(texts()).toBe('22');
});

test('what is no prompt of agt is answered with what there is', () => {
  const { sandbox } = makeSession({ a: '0' });
  const folder = makeTempDir('plain');
  write(join(folder, 'a'), 'a');
  toolOf(folder, 'Write', { file_path: 'a' });
  const answer = (place: string, prompt: string) =>
    (JSON.parse(say(place, prompt).stdout) as { reason: string }).reason;
  expect(answer(sandbox, 'agt undo foo')).toBe(
    'error: a prompt cannot be "agt undo foo"\n' +
      'hint: for example agt undo 2, agt undo step 2; to go to a label: agt restore LABEL',
  );
  for (const prompt of ['agt accept', 'agt reject yes'])
    expect(answer(folder, prompt)).toMatch(/^error: there is no session here: .*\nhint: agt undo, agt redo /);
  const checkout = makeRepository();
  expect(answer(checkout, 'agt accept')).toContain('hint: in a terminal: agt accept SESSION\n');
  for (const place of [sandbox, folder]) expect(answer(place, 'agt status')).not.toMatch(/^(Git|Settings)/m);
  agtOk(sandbox, 'config', 'set', 'agt.maxFileSize', '1m');
  expect(answer(sandbox, 'agt status')).not.toMatch(/^(Git|Settings)|maxFileSize/m);
});

test('an undo of a turn names the turn of another agent that was at work meanwhile, and a redo brings both back', () => {
  const folder = makeRepository({ n: '0\n' });
  const [one, two] = [agentIn(folder, 'claude-code', 'c-1'), agentIn(folder, 'codex', 'c-2')];
  one.says('change n');
  two.says('make m');
  for (const [agent, name] of [
    [one, 'n'],
    [two, 'm'],
  ] as const) {
    agent.begins(name);
    write(join(folder, name), '1\n');
    agent.ends(name);
  }
  const others = ', with changes of turn "change n"\n';
  const undone = agtOk(folder, 'undo', '--turn');
  expect(undone).toContain(`undone: turn "make m", and all since${others}to take this back: agt redo --turn`);
  expect(agtOk(folder, 'redo', '--turns')).toContain(`redone: turn "make m"${others}`);
  expect(['n', 'm'].map((name) => readIfThere(join(folder, name)))).toEqual(['1\n', '1\n']);
});

test('agt redo brings back no more than the undo of a turn took, also after an undo of a step', () => {
  const { sandbox } = makeSession({ a: 'a\n' });
  for (const prompt of ['one', 'two']) {
    say(sandbox, prompt);
    for (const name of ['x', 'y']) {
      write(join(sandbox, `${prompt}-${name}`), name);
      toolOf(sandbox, 'Write', { file_path: name });
    }
  }
  const there = () =>
    ['one-x', 'one-y', 'two-x', 'two-y'].filter((name) => existsSync(join(sandbox, name))).join(' ');
  const states = ['agt undo step', 'agt undo', 'agt redo', 'agt redo'].map((prompt) => {
    say(sandbox, prompt);
    return there();
  });
  expect(states).toEqual([
    'one-x one-y two-x',
    'one-x one-y',
    'one-x one-y two-x',
    'one-x one-y two-x two-y',
  ]);
});
