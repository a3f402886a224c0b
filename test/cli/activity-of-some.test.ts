/** `agt activity` of chosen sessions, and of turns of which an undo has taken steps back. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommitAt } from '../harness/opened.ts';
import { autocommit, newSession, sessionIn, sessionOf, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const rowsOf = ({ repository }: TestSession, ...ids: string[]) =>
  (
    JSON.parse(agtOk(repository, 'activity', '--json', ...ids)) as {
      session_id: string;
      stands: boolean;
      files: { path: string; status: string }[];
    }[]
  ).map(({ session_id, stands, files }) => [session_id, stands, files.map(({ path }) => path).join(' ')]);

test('only the sessions that are named', () => {
  const one = newSession({ 'a.txt': 'a\n' }, 'one');
  const others = ['two', 'three'].map((id) => sessionIn(one.repository, id));
  for (const session of [one, ...others]) {
    write(join(session.sandbox, 'a.txt'), 'b\n');
    autocommit(session, '--label', 'a step');
  }
  agtOk(one.repository, 'accept', 'three', '--keep');
  expect(new Set(rowsOf(one, 'one', 'three').map(([id]) => id))).toEqual(new Set(['one', 'three']));
  expect(rowsOf(one, 'two')).toEqual([['two', true, 'a.txt']]);
  expect(rowsOf(one, 'two', '--until', 'now', '-n', '1')).toEqual([['two', true, 'a.txt']]);
  expect(rowsOf(one, 'two', '--until', 'yesterday')).toEqual([]);
  expect(rowsOf(one, 'two', '--since', 'today', '--until', 'today')).toEqual([['two', true, 'a.txt']]);
  for (const day of ['2020-01-02', '2020/01/02', '02.01.2020', '2 jan 2020', 'January 2, 2020'])
    expect([day, agtOk(one.repository, 'activity', '--since', day, '--until', day)]).toEqual([
      day,
      'no turns since 2020-01-02 00:00:00 until 2020-01-02 23:59:59',
    ]);
  expect(agt(one.repository, 'activity', 'tow')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('hint: did you mean: two?'),
  });
});

test('work keeps its time where commands of a person make a snapshot, unless this has more of it', async () => {
  const session = newSession({ 'a.txt': 'a\n' }, 'one');
  write(join(session.sandbox, 'b.txt'), 'b\n');
  await autocommitAt(session, new Date(Date.now() - 3_600_000));
  git(session.repository, 'commit', '-q', '--allow-empty', '-m', 'by hand');
  agtOk(session.repository, 'sync', 'one');
  agtOk(session.repository, 'fork', 'one');
  expect(rowsOf(session, '--since', '30 minutes ago')).toEqual([]);
  write(join(session.sandbox, 'c.txt'), 'c\n');
  agtOk(session.repository, 'fork', 'one');
  expect(rowsOf(session, '--since', '30 minutes ago')).toEqual([['one', true, 'b.txt c.txt']]);
});

test('the work of a session stays its own in a fork, also when the session is deleted', () => {
  const session = newSession({ 'a.txt': 'a\n' }, 'parent');
  write(join(session.sandbox, 'b.txt'), 'b\n');
  autocommit(session);
  agtOk(session.repository, 'fork', 'parent', '--id', 'fork');
  const fork = sessionOf(session.repository, 'fork');
  write(join(fork.sandbox, 'c.txt'), 'c\n');
  autocommit(fork);
  const rows = [
    ['fork', true, 'c.txt'],
    ['parent', true, 'b.txt'],
  ];
  expect(rowsOf(session)).toEqual(rows);
  agtOk(session.repository, 'config', 'set', 'agt.retention', '0 days');
  agtOk(session.repository, 'remove', 'parent', '--delete-branch', '--force');
  agtOk(session.repository, 'gc', '--prune=now');
  expect(rowsOf(session)).toEqual(rows);
});

test('the files of a turn are those that it changed, whatever undos take back', () => {
  const session = newSession({ 'a.txt': 'a\n' }, 'one');
  const { sandbox, repository } = session;
  write(join(sandbox, 'b.txt'), 'b\n');
  autocommit(session, '--label', 'two files');
  write(join(sandbox, 'c.txt'), 'c\n');
  autocommit(session);
  for (const stands of [true, true, false]) {
    expect(rowsOf(session)).toEqual([['one', stands, 'b.txt c.txt']]);
    agt(repository, 'undo', 'one');
  }
});

test('files that an undo has brought back are in the row of their turn', () => {
  const session = newSession({ 'a.txt': 'a\n' }, 'one');
  write(join(session.sandbox, 'b.txt'), 'b\n');
  autocommit(session, '--label', 'a file');
  rmSync(join(session.sandbox, 'b.txt'));
  agtOk(session.repository, 'undo', 'one');
  expect(rowsOf(session)).toEqual([['one', true, 'b.txt']]);
});

test('the work of a program is given to no agent, earlier or later', () => {
  const { repository, sandbox } = newSession({ 'a.txt': 'a\n' }, 'one');
  agtOk(repository, 'run', 'one', '--', 'sh', '-c', 'echo b >b.txt');
  const rows = () => {
    const found: { agent: string | null; prompt: string | null }[] = JSON.parse(
      agtOk(repository, 'activity', '--json'),
    );
    return found.map(({ agent, prompt }) => [agent, prompt]);
  };
  expect(rows()).toEqual([['sh', null]]);
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('Hi');
  agent.begins('1');
  write(join(sandbox, 'c.txt'), 'c\n');
  agent.ends('1');
  expect(rows()).toEqual([
    ['claude', 'Hi'],
    ['sh', null],
  ]);
  agtOk(repository, 'run', 'one', '--', 'touch', 'd.txt');
  expect(rows()).toEqual([
    ['touch', null],
    ['claude', 'Hi'],
    ['sh', null],
  ]);
});

test('each program has a row of its own, which stays when an undo has taken back its work', () => {
  const session = newSession({ 'a.txt': 'a\n' }, 'one');
  const { repository } = session;
  agtOk(repository, 'run', 'one', '--', 'sh', '-c', 'echo b >b.txt');
  agtOk(repository, 'run', 'one', '--', 'touch', 'c.txt');
  expect(rowsOf(session)).toEqual([
    ['one', true, 'c.txt'],
    ['one', true, 'b.txt'],
  ]);
  agtOk(repository, 'undo', 'one', '2');
  const undone = [
    ['one', false, 'c.txt'],
    ['one', false, 'b.txt'],
  ];
  expect(rowsOf(session)).toEqual(undone);
  agtOk(repository, 'reject', 'one');
  expect(rowsOf(session).filter(([, , files]) => files !== '')).toEqual(undone);
  agtOk(repository, 'undo', 'one');
  agtOk(repository, 'run', 'one', '--', 'touch', 'd.txt');
  expect(rowsOf(session)).toEqual([['one', true, 'd.txt'], ...undone]);
});

test('an acceptance is no change of the checkout, also if it was taken back', () => {
  const { repository, sandbox } = newSession({ 'a.txt': 'a\n' }, 'one');
  agtOk(repository, 'snapshot');
  write(join(sandbox, 'a.txt'), 'b\n');
  for (const word of ['accept', 'unaccept']) {
    agtOk(repository, word, 'one');
    if (word === 'accept') agtOk(repository, 'snapshot');
    expect(agtOk(repository, 'activity')).not.toContain('(folder)');
  }
});

test('a call that its agent has not named is of the same agent in both lists', () => {
  const { repository, sandbox } = newSession({ 'a.txt': 'a\n' }, 'one');
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('Hi');
  agent.begins('1');
  agent.ends('1');
  agent.stops();
  agtOk(repository, 'session', 'record', 'one', '--tool', 'Bash', '--failed');
  const agents = (...words: string[]) =>
    (JSON.parse(agtOk(sandbox, ...words, '--json')) as { agent: string | null }[]).map((one) => one.agent);
  expect(agents('log', '--turns')).toEqual(agents('activity'));
});

test('agt run takes no credit for the work of a person before or after it', () => {
  const session = newSession({ 'a.txt': 'a\n' }, 'one');
  const { sandbox, repository } = session;
  for (const text of ['1\n', '2\n']) {
    write(join(sandbox, 'mine'), text);
    agtOk(repository, 'run', 'one', '--', 'sh', '-c', `echo ${text.trim()} > its`);
  }
  const rows = agtOk(repository, 'activity').split('\n');
  expect(rows.filter((row) => row.endsWith(' one      sh     1      (no prompt) changed its'))).toHaveLength(
    1,
  );
  expect(rows.filter((row) => row.endsWith(' one      -      1      (no agent) changed mine'))).toHaveLength(
    2,
  );
  const labels = JSON.parse(agtOk(repository, 'session', 'log', 'one', '--json')) as Record<string, string>[];
  expect(labels.map(({ label, author }) => [label, author])).toEqual([
    [null, 'unknown'],
    ['before agt run', 'other'],
    [null, 'unknown'],
    ['before agt run', 'other'],
  ]);
  for (const what of ['by me', '(no agent) changed mine']) {
    write(join(sandbox, 'mine'), what);
    agtOk(repository, 'autocommit', 'one', ...(what === 'by me' ? ['--label', what] : []));
    expect(agtOk(repository, 'activity').split('\n')[1]).toMatch(/ one +- +1 +/);
    expect(agtOk(repository, 'activity').split('\n')[1]).toContain(`  ${what}`);
    agtOk(repository, 'reject', 'one');
    agtOk(repository, 'undo', 'one');
  }
});

test('a prompt without the call of a tool is in no list of turns', () => {
  const { repository, sandbox } = newSession({ 'a.txt': 'a\n' }, 'one');
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('only a question');
  agent.stops();
  expect(agtOk(repository, 'session', 'log', 'one')).toContain('only a question');
  expect(agtOk(repository, 'activity')).toBe('no turns');
  agent.says('a task');
  agent.begins('1');
  write(join(sandbox, 'größer.txt'), 'b\n');
  agent.ends('1');
  for (const words of [['activity'], ['log', '--turns']]) {
    const said = (option: string) => Buffer.from(agtOk(sandbox, ...words, option), 'latin1').toString();
    expect(JSON.parse(said('--json'))).toMatchObject([{ prompt: 'a task', files: [{ path: 'größer.txt' }] }]);
    expect(said('--stat')).toContain('A  +1 -0  größer.txt');
  }
});

test('files that an acceptance brought are no work in the checkout, which has a row for its own', () => {
  const { repository, sandbox } = newSession({ 'a.txt': 'a\n', 'gone.txt': 'g\n' }, 'one');
  agtOk(repository, 'snapshot');
  write(join(sandbox, 'a.txt'), 'b\n');
  write(join(sandbox, 'new.txt'), 'n\n');
  rmSync(join(sandbox, 'gone.txt'));
  agtOk(repository, 'accept', 'one');
  agtOk(repository, 'snapshot');
  const rows = () =>
    agtOk(repository, 'activity')
      .split('\n')
      .flatMap((line) => / \(folder\) +(.*)/.exec(line)?.[1] ?? []);
  expect(rows()).toEqual([]);
  write(join(repository, 'a.txt'), 'c\n');
  write(join(repository, 'own.txt'), 'o\n');
  agtOk(repository, 'snapshot');
  expect(rows()).toEqual(['-      2      (no agent) changed a.txt, own.txt']);
});
