/** A session that is here under another id than where it began is the same session, and no fork. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { agt, agtOk, git, makeTempDir, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { makeTwo, type Two } from './two.ts';

let two: Two;

beforeEach(() => {
  two = makeTwo();
  agtOk(two.here, 'session', 'new', '--id', 'pay');
  const { sandbox } = sessionOf(two.here, 'pay');
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('Add pay');
  for (const [call, text] of [
    ['t1', 'one\n'],
    ['t2', 'one\ntwo\n'],
  ] as const) {
    agent.begins(call);
    write(join(sandbox, 'pay.py'), text);
    write(join(sandbox, '.env'), `CALL=${call}\n`);
    agent.ends(call);
  }
  agent.stops();
  agtOk(two.here, 'session', 'push', 'pay', '--release');
});

const inBlame = (repository: string) => agtOk(repository, 'blame', 'pay.py');

test('an undo goes to moments from before the move, also by turns, a number and in a fork', () => {
  const { there } = two;
  agtOk(there, 'session', 'pull', 'pay', '--as', 'mine');
  const file = join(sessionOf(there, 'mine').sandbox, 'pay.py');
  expect(agtOk(there, 'session', 'show', 'mine')).toMatch(/^start commit {5}[0-9a-f]{10}$/m);
  expect(JSON.parse(agtOk(there, 'session', 'show', 'mine', '--json'))).toMatchObject({ from: null });
  expect(agtOk(there, 'undo', 'mine', '--turn', '-n')).toContain('D pay.py');
  agtOk(there, 'undo', 'mine');
  expect(readFileSync(file, 'utf8')).toBe('one\n');
  agtOk(there, 'redo', 'mine');
  agtOk(there, 'undo', 'mine', '2');
  expect(() => readFileSync(file)).toThrow('ENOENT');
  agtOk(there, 'redo', 'mine', '2');
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
  expect(git(sessionOf(there, 'mine').sandbox, 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/mine');
  agtOk(there, 'fork', 'mine', '--id', 'forked');
  expect(agt(there, 'undo', 'forked').stderr).toContain('those before are of "mine"\n');
  expect(agtOk(there, 'doctor')).toContain('nothing is wrong');
});

test('blame and gc --pushed know it in each repository by the id that it has there', () => {
  const { here, there, remote } = two;
  agtOk(there, 'session', 'pull', 'pay', '--as', 'paybob');
  agtOk(there, 'accept', 'paybob');
  git(there, 'push', '-q', 'origin', 'main');
  agtOk(there, 'session', 'push', 'paybob');
  expect(inBlame(there)).toMatch(/^\w+ \(claude paybob turn 1 Bash .*\) one\n\w+ \(claude paybob turn 1 /);
  agtOk(here, 'session', 'pull', 'pay');
  git(here, 'pull', '-q', '--ff-only', 'origin', 'main');
  expect(agtOk(here, 'session', 'show', 'pay')).toMatch(/^start commit {5}[0-9a-f]{10}$/m);
  expect(inBlame(here)).toMatch(/^\w+ \(claude pay turn 1 Bash .*\) one\n\w+ \(claude pay turn 1 /);
  expect(agtOk(here, 'gc', '--pushed', '-n')).toMatch(/^pay: would delete (\d) of \1 snapshots/);
  expect(agtOk(here, 'gc', '--pushed')).toMatch(/^pay: deleted (\d) of \1 snapshots/);
  expect(inBlame(here)).toContain('(claude pay turn 1 Bash ');
  const clone = join(here, '../clone');
  git(here, 'clone', '-q', remote, clone);
  expect(agtOk(clone, 'session', 'pull', 'pay', '--as', 'other', '--take')).toContain('is accepted');
  expect(inBlame(clone)).toContain('(claude other turn 1 Bash ');
  expect(agtOk(clone, 'gc', '--pushed', '-n')).toMatch(/^other: would delete (\d) of \1 snapshots/);
});

test('a turn keeps its prompt where a second copy of it begins in the first one', () => {
  const { here, there } = two;
  agtOk(here, 'session', 'pull', 'pay');
  const [plain, sealed] = ['plain', 'sealed'].map((name) => join(makeTempDir(), name)) as [string, string];
  agtOk(here, 'session', 'bundle', 'pay', plain, '--plain');
  agtOk(here, 'session', 'bundle', 'pay', sealed);
  agtOk(there, 'session', 'open', plain, '--as', 'pay-plain');
  const row = /pay-plain +claude .*\(pulled\) Add pay$/m;
  expect(agtOk(there, 'activity')).toMatch(row);
  agtOk(there, 'session', 'open', sealed);
  const both = agtOk(there, 'activity');
  expect(both).toMatch(row);
  expect(both).toMatch(/ pay +claude .*\(pulled\) Add pay$/m);
  expect(both).not.toContain('(no prompt)');
});

test('of two sessions from one file, a question about one is answered with its history', () => {
  const { here, there } = two;
  agtOk(here, 'session', 'pull', 'pay');
  const file = join(makeTempDir(), 'plain');
  agtOk(here, 'session', 'bundle', 'pay', file, '--plain');
  agtOk(there, 'session', 'open', file);
  agtOk(there, 'session', 'open', file, '--as', 'copy');
  for (const id of ['pay', 'copy']) {
    const rows = JSON.parse(agtOk(there, 'activity', id, '--json'));
    expect(rows).toMatchObject([{ session_id: id, turn: 1, prompt: 'Add pay' }]);
    const found = JSON.parse(agtOk(there, 'search', 'two', '--session', id, '--json', '--', 'pay.py'));
    expect(found).toMatchObject([{ session_id: id, prompt: 'Add pay' }]);
  }
  expect(JSON.parse(agtOk(there, 'activity', '--json'))).toHaveLength(1);
});
