/** An acceptance between two snapshots is no step of an undo, and no work of an agent who is in a call meanwhile. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
const edited = (edits: Readonly<Record<number, string>>) =>
  LINES.map((line, i) => (edits[i] === undefined ? line : `${edits[i]}\n`)).join('');

/** As with a clock that stands still, or that somebody sets. */
function accept(repository: string, at: string, ...words: string[]) {
  agtOk(repository, 'accept', ...words);
  const file = join(repository, `.git/agt/sessions/${words[0]}.json`);
  const record = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...record, landed: { ...record.landed, at } }));
}

const PAST = '2001-01-01T00:00:00.000Z';
const FUTURE = '2101-01-01T00:00:00.000Z';

test.each([['undo'], ['undo', '--turn', '1'], ['undo', '--agent', 'claude'], ['undo', '--turn']])(
  'agt %s %s %s',
  (...words) => {
    const { repository, sandbox } = makeSession({ f: LINES.join(''), g: 'g\n' });
    const agent = agentIn(repository, 'claude-code', 'c-1');
    agent.says('build');
    agent.begins('1');
    writeFileSync(join(repository, 'g'), 'of the call\n');
    writeFileSync(join(sandbox, 'f'), edited({ 3: 'of the session' }));
    writeFileSync(join(sandbox, 'new'), 'new\n');
    accept(repository, PAST, 's1', '--untracked=all');
    writeFileSync(join(repository, 'out'), 'out\n');
    agent.ends('1');
    agent.stops();
    expect(agtOk(repository, 'status')).not.toContain('has moved branch');
    const { stderr } = agt(repository, ...words);
    expect(stderr).not.toContain('to move it back');
    expect(git(repository, 'status', '--short')).toBe('');
    expect(readFileSync(join(repository, 'f'), 'utf8')).toBe(edited({ 3: 'of the session' }));
    expect(existsSync(join(repository, 'out'))).toBe(false);
    agtOk(repository, /[1-9]|agent/.test(words.join(' ')) ? 'undo' : 'redo');
    expect(git(repository, 'status', '--short').split('\n')).toEqual([' M g', '?? out']);
  },
);

test('lines of a call in a file of the acceptance go alone', () => {
  const { repository, sandbox } = makeSession({ f: LINES.join('') });
  const agent = agentIn(repository, 'claude-code', 'c-1');
  agent.says('build');
  agent.begins('1');
  writeFileSync(join(sandbox, 'f'), edited({ 3: 'of the session' }));
  accept(repository, PAST, 's1');
  writeFileSync(join(repository, 'f'), edited({ 3: 'of the session', 30: 'of the call' }));
  agent.ends('1');
  agent.stops();
  agtOk(repository, 'undo', '--turn', '1');
  expect(git(repository, 'status', '--short')).toBe('');
});

test.each([PAST, FUTURE])(
  'an undo to after the acceptance brings a deleted branch back; accepted %s',
  (at) => {
    const { repository } = makeSession({ f: 'f\n' });
    git(repository, 'branch', 'topic');
    const { sandbox } = JSON.parse(agtOk(repository, 'new', 's2', '--from', 'topic', '--json'));
    writeFileSync(join(sandbox, 'new'), 'new\n');
    accept(repository, at, 's2');
    agtOk(repository, 'snapshot');
    const topic = git(repository, 'rev-parse', 'topic');
    git(repository, 'branch', '-D', 'topic');
    agtOk(repository, 'undo');
    expect(git(repository, 'rev-parse', 'topic')).toBe(topic);
  },
);

test.each([
  ['commit', '-qm', 'of the agent'],
  ['reset', '-q', '--hard', 'HEAD~1'],
  ['branch', '-qD', 'main'],
])('an agent after the acceptance: the undo of git %s', (...command) => {
  const { repository, sandbox } = makeSession({ f: 'f\n' });
  writeFileSync(join(sandbox, 'new'), 'new\n');
  accept(repository, FUTURE, 's1');
  const main = git(repository, 'rev-parse', 'main');
  if (command[0] === 'branch') git(repository, 'switch', '-qc', 'other');
  const agent = agentIn(repository, 'claude-code', 'c-1');
  agent.says('go on');
  agent.begins('1');
  writeFileSync(join(repository, 'out'), 'out\n');
  git(repository, 'add', 'out');
  git(repository, ...command);
  agent.ends('1');
  agent.stops();
  const { stderr } = agt(repository, 'undo', '--turn');
  expect(stderr).not.toContain('another program');
  expect(git(repository, 'rev-parse', 'main', 'HEAD')).toBe(`${main}\n${main}`);
  expect(git(repository, 'status', '--short')).toBe('');
});

test('two acceptances and a commit in a call: the commit goes alone', () => {
  const { repository, sandbox } = makeSession({ f: 'f\n' });
  const agent = agentIn(repository, 'claude-code', 'c-1');
  agent.says('build');
  agent.begins('1');
  for (const file of ['one', 'two']) {
    writeFileSync(join(sandbox, file), 'of the session\n');
    accept(repository, PAST, 's1', '--keep');
  }
  const main = git(repository, 'rev-parse', 'main');
  writeFileSync(join(repository, 'out'), 'out\n');
  git(repository, 'add', 'out');
  git(repository, 'commit', '-qm', 'of the agent');
  agent.ends('1');
  agent.stops();
  agtOk(repository, 'undo');
  expect(git(repository, 'rev-parse', 'main')).toBe(main);
  expect(git(repository, 'status', '--short')).toBe('');
  expect(existsSync(join(repository, 'one'))).toBe(true);
});

test('an acceptance stays with the amend of its commit', () => {
  const { repository, sandbox } = makeSession({ f: 'f\n' });
  agtOk(repository, 'snapshot');
  writeFileSync(join(sandbox, 'new'), 'new\n');
  accept(repository, PAST, 's1');
  git(repository, 'commit', '-q', '--amend', '-m', 'In better words');
  const main = git(repository, 'rev-parse', 'main');
  writeFileSync(join(repository, 'f'), 'own\n');
  agtOk(repository, 'undo');
  expect(git(repository, 'rev-parse', 'main')).toBe(main);
  expect(git(repository, 'status', '--short')).toBe('');
});
