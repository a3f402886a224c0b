/** A session that a person accepts while an agent in the checkout is in a call is no work of that call. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
const edited = (edits: Readonly<Record<number, string>>) =>
  LINES.map((line, i) => (edits[i] === undefined ? line : `${edits[i]}\n`)).join('');

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
    agtOk(repository, 'accept', 's1', '--untracked=all');
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
  agtOk(repository, 'accept', 's1');
  writeFileSync(join(repository, 'f'), edited({ 3: 'of the session', 30: 'of the call' }));
  agent.ends('1');
  agent.stops();
  agtOk(repository, 'undo', '--turn', '1');
  expect(git(repository, 'status', '--short')).toBe('');
});
