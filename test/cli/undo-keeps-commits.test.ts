/** Undo and redo in a folder leave the files that a person has committed since. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { toolOf } from '../integrations/hooks.ts';
import { afterStep, folderWithCommits } from './after-step.ts';

test.each([
  [true, [['undo']]],
  [true, [['undo'], ['redo'], ['undo', '--turn']]],
  [true, [['snapshot', '--label', 'mine'], ['undo']]],
  [true, [['undo'], ['redo'], ['undo']]],
  [
    false,
    [
      ['restore', '@{1}', '--', 'b'],
      ['restore', 'Write it'],
    ],
  ],
  [false, [['undo'], ['restore', 'Write it']]],
])('commits of the person stay, and their files: %j after %j', (isThere, commands) => {
  const folder = folderWithCommits();
  const main = git(folder, 'rev-parse', 'main');
  for (const words of commands) agtOk(folder, ...words);
  expect(git(folder, 'rev-parse', 'main')).toBe(main);
  expect(['mine', 'b'].map((file) => existsSync(join(folder, file)))).toEqual([isThere, false]);
  expect(git(folder, 'ls-files', 'mine')).toBe('mine');
});

const status = (folder: string) => git(folder, 'status', '--porcelain').trim();

test('an edit of a committed file goes back to the commit', () => {
  const folder = folderWithCommits();
  write(join(folder, 'mine'), 'more\n');
  agtOk(folder, 'undo');
  expect([status(folder), readFileSync(join(folder, 'b'), 'utf8')]).toEqual(['', 'agent\n']);
  rmSync(join(folder, 'mine'));
  expect(agtOk(folder, 'undo', '-n')).toMatch(/^A mine\n/);
  agtOk(folder, 'undo');
  expect(status(folder)).toBe('');
});

test('after commits with files of their own, each undo passes over what is committed', () => {
  const folder = afterStep('a');
  git(folder, 'commit', '-qam', 'of a person');
  write(join(folder, 'sub/mine'), 'mine\n');
  git(folder, 'add', 'sub');
  git(folder, 'commit', '-qm', 'mine');
  const note =
    'note: left as your branch has it, because commits since, or a switch of branches, changed it: sub/mine';
  expect(agt(folder, 'undo', '-n').stderr).toContain(note);
  const steps = (...words: string[]) => {
    const { stdout: shown, stderr: would } = agt(folder, ...words, '-n');
    const { stderr } = agt(folder, ...words);
    const [first, second] = [would, stderr].map((text) => text.match(/^.*sub\/mine.*$/m)?.[0]);
    expect(first).toBe(second);
    expect(first ?? note).toMatch(note);
    expect(readFileSync(join(folder, 'sub/mine'), 'utf8')).toBe('mine\n');
    return [shown.split('\n')[0], status(folder)];
  };
  expect(steps('undo')).toEqual(['M a', 'M a']);
  expect(agt(folder, 'undo').stderr).toContain('nothing to undo');
  expect(steps('redo')).toEqual(['M a', '']);
  write(join(folder, 'a'), 'agent\nown\n');
  expect(steps('undo')).toEqual(['M a', '']);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('agent\n');
  expect(steps('undo', '--turn')).toEqual(['M a', 'M a']);
  expect(steps('redo')).toEqual(['M a', '']);
  expect(steps('redo')).toEqual(['M a', 'M a']);
});

test('a file that a commit has deleted stays deleted, and a line of the agent goes with a later one of the person', () => {
  const folder = afterStep('a');
  write(join(folder, 'd/x'), 'x\n');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-qm', 'of a person');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('more');
  agent.begins('2');
  write(join(folder, 'a'), 'again\n');
  agent.ends('2');
  agent.stops();
  write(join(folder, 'a'), 'again\nown\n');
  git(folder, 'rm', '-q', 'd/x');
  git(folder, 'commit', '-qam', 'without x');
  const undo = agt(folder, 'undo');
  expect(undo.stderr).toMatch(/^warning: that takes back your own changes.*: a \(in \w+\)$/m);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('agent\n');
  expect([existsSync(join(folder, 'd')), status(folder)]).toEqual([false, 'M a']);
});

test('a reset of the person that threw uncommitted work of the agent away is no commit: an undo brings that back', () => {
  const folder = makeRepository({ a: '1\n' });
  write(join(folder, 'a'), '2\n');
  git(folder, 'commit', '-qam', '2');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('more');
  agent.begins('1');
  write(join(folder, 'a'), 'agent\n');
  agent.ends('1');
  agent.stops();
  git(folder, 'reset', '-q', '--hard', 'HEAD~1');
  agtOk(folder, 'undo');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('agent\n');
});

test.each([true, false])(
  'files of an acceptance stay, and an edit beside them goes; hooks: %j',
  (hasHooks) => {
    const { repository, sandbox } = makeSession({ a: 'a\n', b: 'b\n' });
    if (hasHooks) agentIn(repository, 'claude-code', 'c-1').says('Look');
    else agtOk(repository, 'snapshot');
    write(join(sandbox, 'landed'), 'agent\n');
    agtOk(repository, 'accept', 's1');
    write(join(repository, 'b'), 'own\n');
    expect(agtOk(repository, 'undo', '-n')).toMatch(/^M b\n.*would restore 1 path/);
    agtOk(repository, 'undo');
    expect(status(repository)).toBe('');
    agtOk(repository, 'unaccept', 's1');
    expect(status(repository)).toBe('');
  },
);

test('a commit stays after the undo of what the agent had done to its file, and the next undo goes on', () => {
  const folder = afterStep('a');
  const content = () => readFileSync(join(folder, 'a'), 'utf8');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.begins('2');
  write(join(folder, 'b'), 'b\n');
  agent.ends('2');
  agent.begins('3');
  write(join(folder, 'a'), 'agent\nbad\n');
  agent.ends('3');
  agent.stops();
  agtOk(folder, 'undo');
  write(join(folder, 'a'), 'agent\ngood\n');
  git(folder, 'commit', '-qam', 'of a person');
  const shown = agt(folder, 'undo', '-n');
  const undo = agt(folder, 'undo');
  for (const { stderr } of [shown, undo]) expect(stderr).not.toContain('your own changes');
  expect(shown.stdout).toMatch(/^D b\n.*would restore 1 path/);
  expect([content(), status(folder)]).toEqual(['agent\ngood\n', '']);
  // The agent's first line is in the file still, and goes.
  agtOk(folder, 'undo');
  expect(content()).toBe('start\n');
});

test('what the agent wrote and a commit has stays away after its undo, also after a later commit', () => {
  const folder = afterStep('a');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.begins('2');
  write(join(folder, 'b'), 'agent\n');
  agent.ends('2');
  agent.stops();
  git(folder, 'add', 'b');
  for (const file of ['mine', 'more']) {
    write(join(folder, file), 'mine\n');
    git(folder, 'add', file);
    git(folder, 'commit', '-qm', file);
    agtOk(folder, 'undo');
    expect([file, existsSync(join(folder, 'b'))]).toEqual([file, false]);
  }
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('start\n');
});

test('a redo brings the change of the agent back: its file goes with a later commit', () => {
  const folder = afterStep('a');
  for (const words of ['undo', 'redo']) agtOk(folder, words);
  write(join(folder, 'a'), 'agent\nown\n');
  git(folder, 'commit', '-qam', 'of a person');
  expect(agt(folder, 'undo').stderr).toContain('warning: that takes back your own changes, too,');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('start\n');
});

test('what an agent in a session wrote here and an undo took back is none of its acceptance', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const file = join(repository, 'a');
  const call = (event: string) => toolOf(sandbox, 'Bash', { command: `echo bad >${file}` }, event, '1');
  call('PreToolUse');
  write(file, 'bad\n');
  call('PostToolUse');
  agtOk(repository, 'undo');
  expect(readFileSync(file, 'utf8')).toBe('a\n');
  write(join(sandbox, 'a'), 'good\n');
  agtOk(repository, 'accept', 's1');
  for (const words of [['-n'], []])
    expect(agt(repository, 'undo', ...words).stderr).toMatch(/^error: nothing to undo: /);
  expect([readFileSync(file, 'utf8'), status(repository)]).toEqual(['good\n', '']);
});

test.each(['a commit', 'an acceptance', 'an edit and a commit'])(
  'HEAD comes back to a branch that has gone on by %s: with the files and the index of that branch',
  (how) => {
    const { repository, sandbox } = makeSession({ a: 'a\n', b: 'b\n' });
    const agent = agentIn(repository, 'claude-code', 'c-1');
    agent.says('Make a topic');
    agent.begins('1');
    git(repository, 'switch', '-qc', 'topic');
    write(join(repository, 't'), 't\n');
    git(repository, 'add', 't');
    git(repository, 'commit', '-qm', 'Topic');
    agent.ends('1');
    agent.stops();
    const side = how === 'an acceptance' ? sandbox : repository;
    if (side === repository) git(side, 'switch', '-q', 'main');
    write(join(side, 'mine'), 'mine\n');
    if (how !== 'a commit') write(join(side, 'b'), 'mine\n');
    git(side, 'add', '-A');
    git(side, 'commit', '-qm', 'mine');
    if (side === repository) git(side, 'switch', '-q', 'topic');
    else agtOk(repository, 'accept', 's1');
    agtOk(repository, 'undo', '--turn');
    expect([git(repository, 'branch', '--show-current'), status(repository)]).toEqual(['main', '']);
    expect([existsSync(join(repository, 't')), existsSync(join(repository, 'mine'))]).toEqual([false, true]);
    agtOk(repository, 'redo');
    expect([git(repository, 'branch', '--show-current'), status(repository)]).toEqual(['topic', '']);
    expect([existsSync(join(repository, 't')), existsSync(join(repository, 'mine'))]).toEqual([true, false]);
  },
);

test('HEAD goes on no branch that a person has deleted since: it is detached', () => {
  const folder = makeRepository({ a: 'a\n' });
  git(folder, 'switch', '-qc', 'wild');
  const head = git(folder, 'rev-parse', 'HEAD');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('Make a topic');
  agent.begins('1');
  git(folder, 'switch', '-qc', 'topic');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'Topic');
  agent.ends('1');
  agent.stops();
  git(folder, 'branch', '-qD', 'wild');
  for (const words of [['-n'], []])
    expect(agt(folder, 'undo', '--turn', ...words).stderr).toMatch(
      /branch wild stays deleted: .*\n(warning: )?HEAD is detached: branch wild is deleted$/m,
    );
  expect(readFileSync(join(folder, '.git/HEAD'), 'utf8')).toBe(`${head}\n`);
  agtOk(folder, 'redo');
  expect(git(folder, 'branch', '--show-current')).toBe('topic');
});

test('a file that a person committed before the agent changed it stays at each undo but that of its change', () => {
  const folder = makeRepository({ 'README.md': 'one\n', a: 'a\n', c: 'c\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  const step = (id: string, act: () => void) => {
    agent.begins(id);
    act();
    agent.ends(id);
  };
  agent.says('Change a');
  step('1', () => write(join(folder, 'a'), 'agent\n'));
  step('2', () => rmSync(join(folder, 'c')));
  agent.stops();
  write(join(folder, 'README.md'), 'mine\n');
  git(folder, 'commit', '-qm', 'Mine', 'README.md');
  agent.says('Change the README');
  step('3', () => write(join(folder, 'README.md'), 'mine\nwrong\n'));
  agent.stops();
  for (const shown of ['M README.md', 'A c', 'M a']) {
    const undo = agt(folder, 'undo');
    expect(undo.stdout.match(/^ {2}[AMD] .*/gm)).toEqual([`  ${shown}`]);
    expect(undo.stderr).not.toContain('your own changes');
    expect(git(folder, 'diff', 'HEAD', '--', 'README.md')).toBe('');
  }
});

test('one redo takes back one undo, also over a commit of the agent that stays because a person went on from it', () => {
  const folder = makeRepository({ b: 'b\n', c: 'c\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('Remove c');
  agent.begins('1');
  rmSync(join(folder, 'c'));
  agent.ends('1');
  agent.begins('2');
  git(folder, 'commit', '-qam', 'Remove c');
  agent.ends('2');
  agent.stops();
  write(join(folder, 'b'), 'mine\n');
  git(folder, 'commit', '-qam', 'Mine');
  for (const words of [['undo'], ['redo'], ['undo'], ['redo', '-n'], ['redo']])
    expect(agtOk(folder, ...words)).toContain(words[0] === 'undo' ? 'A c' : 'D c');
  expect(status(folder)).toBe('');
  expect(agt(folder, 'redo').stderr).toContain('is at its last step');
});
