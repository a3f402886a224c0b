/** agt review of the work of several turns: whose a hunk is, and what is told of what lands. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
const edited = (edits: Readonly<Record<number, string>>) =>
  LINES.map((line, i) => (edits[i] === undefined ? line : `${edits[i]}\n`)).join('');

/** With a function that writes files in a turn of an agent. */
function begin() {
  const { sandbox, repository } = makeSession({ f: LINES.join('') });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  const turn = (prompt: string, files: Readonly<Record<string, string>>) => {
    agent.says(prompt);
    agent.begins(prompt);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(sandbox, name), text);
    agent.ends(prompt);
    agent.stops();
  };
  const review = (...words: string[]) => agtOk(repository, 'review', 's1', ...words);
  const hunks = () => JSON.parse(review('--json')) as { state: string; turns: number[]; lines: string[] }[];
  const told = () =>
    hunks().map(({ state, turns, lines }) => {
      return `${state} ${turns}: ${lines.filter((line) => line.startsWith('+')).join(' ')}`;
    });
  return { sandbox, repository, turn, review, told };
}

test('a hunk that was seen keeps its turn when a later one changes it', () => {
  const { turn, review, told } = begin();
  turn('first', { f: edited({ 3: 'three' }), new: 'new\n' });
  review('--seen', 'f:4', 'new');
  turn('second', { f: edited({ 3: 'three again', 30: 'thirty' }), new: 'other\n' });
  expect(told()).toEqual([
    'new 2: +three again',
    'seen 1: +three',
    'new 2: +thirty',
    'new 2: +other',
    'seen 1: +new',
  ]);
});

test('what comes before the first turn, and what a person writes between two, is of none', () => {
  const { sandbox, turn, review, told } = begin();
  writeFileSync(join(sandbox, 'f'), edited({ 30: 'before' }));
  agtOk(sandbox, 'autocommit');
  turn('first', { f: edited({ 3: 'three', 30: 'before' }) });
  writeFileSync(join(sandbox, 'f'), edited({ 3: 'three', 30: 'before', 39: 'of a person' }));
  turn('second', { f: edited({ 3: 'three', 20: 'twenty', 30: 'before', 39: 'of a person' }) });
  expect(told()).toEqual(['new 1: +three', 'new 2: +twenty', 'new : +before', 'new : +of a person']);
  expect(review('--turn', '1')).not.toContain('before');
  expect(review('--turn', '2')).toMatch(/^(?!.*of a person).*twenty/s);
});

test('a line that no hunk changes leads to the nearest hunk', () => {
  const { repository, turn, review } = begin();
  turn('first', { f: edited({ 3: 'three', 30: 'thirty' }) });
  const nearest = (line: string) => agt(repository, 'review', 's1', '--seen', `f:${line}`).stderr;
  for (const [line, near] of Object.entries({ 8: 7, 24: 28, 99: 34 }))
    expect(nearest(line)).toBe(`error: nothing new in f:${line}\nhint: the nearest new hunk: f:${near}\n`);
  review('--seen', 'f:31');
  expect(agt(repository, 'review', 's1', '--new', 'f:1').stderr).toContain('nearest marked hunk: f:28\n');
  const reject = (...words: string[]) =>
    agt(repository, 'review', 's1', '--reject', ...words, '-m', 'no').stderr;
  const first = 'hint: first: agt review s1 --new f:31\n';
  expect(reject('f:31')).toBe(`error: f:31 is marked as seen\n${first}`);
  expect(reject('g:3')).toContain('error: no change in g\n');
  review('--new', 'f:31');
  reject('f:31');
  expect(reject('f:31')).toBe(`error: f:31 is marked as rejected\n${first}`);
  expect(reject('f:31', '--now')).toContain(first);
});

test('a file with hunks of both marks: the hint takes back those in the way, and no other', () => {
  const { repository, turn, review, told } = begin();
  turn('first', { f: edited({ 3: 'three', 20: 'twenty', 30: 'thirty' }) });
  review('--seen', 'f:4');
  review('--reject', 'f:21', 'f:31', '-m', 'no');
  const refused = (...words: string[]) => agt(repository, 'review', 's1', ...words).stderr;
  expect(refused('--reject', 'f', '-m', 'no')).toContain('error: 1 of 3 hunks of f is seen\n');
  const [, hint = ''] = /^error: 2 of 3 hunks of f are rejected\nhint: first: agt (.*)\n$/.exec(
    refused('--seen', 'f'),
  ) as string[];
  agtOk(repository, ...hint.split(' '));
  expect(told()).toEqual(['seen 1: +three', 'new 1: +twenty', 'new 1: +thirty']);
});

test('after unaccept, lines that land again are of the agent, although a rejected hunk has left their file', () => {
  const { repository, turn, review } = begin();
  turn('first', { f: edited({ 20: 'twenty' }) });
  turn('second', { f: edited({ 3: 'three', 20: 'twenty' }), g: 'g\n' });
  review('--seen', 'g', 'f:21');
  review('--reject', 'f:4', '-m', 'no');
  agtOk(repository, 'accept', 's1', '--seen');
  review('--now');
  for (const how of ['--seen', '--keep']) {
    agtOk(repository, 'unaccept', 's1');
    agtOk(repository, 'accept', 's1', how);
    expect([how, agtOk(repository, 'blame', '-L', '21,21', 'f')]).toEqual([
      how,
      expect.stringContaining('(claude s1 turn 1 Bash '),
    ]);
  }
});

test('agt accept --seen names only the turns whose work lands', () => {
  const { repository, turn, review } = begin();
  turn('the first', { f: edited({ 3: 'three' }) });
  turn('the second', { g: 'g\n' });
  turn('the third', { f: edited({ 3: 'three', 30: 'thirty' }) });
  review('--seen', 'f:31');
  agtOk(repository, 'accept', 's1', '--seen');
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('the third');
  review('--seen', 'f');
  agtOk(repository, 'accept', 's1', '--seen');
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('the first');
});

test('the rest of the work names no turn of which all has landed', () => {
  const { repository, turn } = begin();
  turn('the first', { f: edited({ 3: 'three' }), h: 'h\n' });
  turn('the second', { g: 'g\n' });
  const message = (...words: string[]) =>
    JSON.parse(agtOk(repository, 'accept', 's1', '--untracked=all', '--json', ...words)).message as string;
  message('--include', 'f', '-m', 'F', '--keep');
  expect(message('-n')).toContain('the first; the second');
  message('--include', 'h', '-m', 'H', '--keep');
  expect(message('-n')).toBe('the second\n\nAgt-Session: s1');
});

test('agt accept --seen says so if a turn has done more than what lands', () => {
  const { repository, turn, review } = begin();
  turn('both', { f: edited({ 3: 'three', 30: 'thirty' }) });
  review('--seen', 'f:4');
  agtOk(repository, 'accept', 's1', '--seen');
  expect(git(repository, 'log', '-1', '--format=%s %b')).toContain('Part of session s1 both');
});

test('agt accept --seen takes no words of a commit of which nothing lands', () => {
  const { repository, sandbox, review } = begin();
  git(sandbox, 'commit', '-qm', 'a: commit', '--allow-empty');
  writeFileSync(join(sandbox, 'f'), edited({ 3: 'three' }));
  git(sandbox, 'commit', '-qam', 'f: commit');
  writeFileSync(join(sandbox, 'new'), 'new\n');
  review('--seen', 'new');
  agtOk(repository, 'accept', 's1', '--seen', '--untracked=all');
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('Part of session s1: new');
});

test('a key that was seen lands if somebody says so; deleted since, it is to be looked at again', () => {
  const { repository, sandbox, turn, review } = begin();
  const accept = (...words: string[]) => agt(repository, 'accept', 's1', '--seen', ...words);
  turn('work', { f: edited({ 3: 'three' }), '.env': 'KEY=1\n' });
  review('--all');
  const way = /^hint: leave them out: agt accept s1 (.*)$/m.exec(accept('-m', 'it is').stderr)?.[1];
  expect(way).toBe("--seen --message='it is' --exclude=/.env");
  expect(JSON.parse(accept('-n', '--json', '--exclude', '.env').stdout)).toMatchObject({
    left_out: ['.env'],
    files: [{ path: 'f' }],
  });
  expect(accept('-n', '--untracked=all').stdout).toContain('A .env');
  rmSync(join(sandbox, '.env'));
  expect(accept('--untracked=all').stderr).toBe(
    'error: deleted in session "s1" since it was seen: .env\nhint: look at that first: agt review s1 -- .env\n',
  );
  review('--seen', '.env');
  expect(accept('-n').stdout).toContain('1 file changed');
});

test('a search does not name the agent for a rejection', () => {
  const { repository, turn, review } = begin();
  turn('work', { new: 'needle\n' });
  review('--reject', 'new', '-m', 'no', '--now');
  const found = JSON.parse(agtOk(repository, 'search', 'needle', '--json'));
  expect(found).toMatchObject([
    { change: 'went', author: 'restore', agent: null },
    { change: 'came', author: 'agent', agent: 'claude' },
  ]);
});

test('both sides of a renamed file are of its turn', () => {
  const { repository, sandbox } = makeSession({ old: LINES.join('') });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('rename it');
  agent.begins('mv');
  renameSync(join(sandbox, 'old'), join(sandbox, 'new'));
  agent.ends('mv');
  agent.stops();
  agtOk(repository, 'review', 's1', '--turn', '1', '--all');
  const { files } = JSON.parse(agtOk(repository, 'accept', 's1', '--seen', '-n', '--json'));
  expect(files.map(({ path }: { path: string }) => path)).toContain('new');
});

test('a turn that was undone is no author of what it had changed', () => {
  const { repository, sandbox } = makeSession({ 'src/old': LINES.join(''), gone: 'gone\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  const turn = (prompt: string, act: () => void) => {
    agent.says(prompt);
    agent.begins(prompt);
    act();
    agent.ends(prompt);
    agent.stops();
  };
  turn('Turn one', () => {
    git(sandbox, 'mv', 'src/old', 'src/new');
    rmSync(join(sandbox, 'gone'));
    git(sandbox, 'commit', '-qam', 'one');
  });
  turn('Turn two', () => {
    git(sandbox, 'reset', '-q', '--hard', 'HEAD~1');
    rmSync(join(sandbox, 'src'), { recursive: true });
  });
  const turns = () => {
    const hunks: { turns: number[] }[] = JSON.parse(agtOk(repository, 'review', 's1', '--json'));
    return hunks.map((hunk) => hunk.turns);
  };
  agtOk(repository, 'undo', 's1', '--turn');
  expect(turns()).toEqual([[1], [1], [1]]);
  expect(agtOk(repository, 'review', 's1', '--turn', '2', '--json')).toBe('[]');
  agtOk(repository, 'review', 's1', '--seen', 'src/new');
  expect(agtOk(repository, 'accept', 's1', '--seen', '-n')).not.toContain('Turn two');
});

test('a line names the hunk that shows it, with --split a part of it; a colon may be in a name', () => {
  const { turn, review, told } = begin();
  turn('first', { f: edited({ 3: 'three', 5: 'five' }), 'f:4': 'other\n' });
  for (const line of ['f:1', 'f:5', 'f:6', 'f:9']) {
    expect(review('--seen', line, '-n')).toBe('s1: would mark 1 hunk in 1 file (f:1-9) as seen');
    review('--seen', line);
    expect(told()[0]).toBe('seen 1: +three +five');
    review('--new', line);
  }
  review('--split', '--seen', 'f:6');
  expect(told()).toEqual(['new 1: +three', 'seen 1: +five', 'new 1: +other']);
  review('--seen', 'f:4');
  expect(told()).toContain('seen 1: +other');
});

test('an acceptance names the files of rejected hunks, as with -n', () => {
  const { repository, turn, review } = begin();
  turn('first', { f: edited({ 3: 'three', 30: 'thirty' }), new: 'new\n' });
  review('--reject', 'f:31', '-m', 'no');
  const accept = (...words: string[]) => JSON.parse(agtOk(repository, 'accept', 's1', '--json', ...words));
  const told = { warnings: ['1 rejected hunk stays out: f'], files: [{ path: 'f', insertions: 1 }, {}] };
  expect(accept('-n')).toMatchObject(told);
  expect(accept()).toMatchObject(told);
  expect(git(repository, 'show', 'main:f')).toContain('three');
  expect(git(repository, 'show', 'main:f')).not.toContain('thirty');
});

test('the change of a submodule cannot be rejected, but told', () => {
  const { repository, sandbox, review, told } = begin();
  git(sandbox, 'init', '-q', 'sub');
  git(join(sandbox, 'sub'), 'commit', '-q', '--allow-empty', '-m', 'in it');
  writeFileSync(join(sandbox, '.gitmodules'), '[submodule "sub"]\n\tpath = sub\n\turl = ../sub\n');
  git(sandbox, 'add', '.gitmodules', 'sub');
  for (const words of [[], ['--now'], ['-n']]) {
    const refused = agt(repository, 'review', 's1', '--reject', 'sub', '-m', 'no', ...words);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      'error: agt cannot take back the change of submodule "sub"\nhint: nothing is rejected; tell the agent instead: --tell\n',
    ]);
  }
  expect(told().every((one) => one.startsWith('new'))).toBe(true);
  review('--reject', 'sub', '-m', 'no', '--tell');
  expect(told().some((one) => one.startsWith('rejected'))).toBe(true);
  const accept = (...words: string[]) => agt(repository, 'accept', 's1', '--untracked=all', ...words);
  expect(accept('-n').stdout).not.toContain('A sub\n');
  expect(accept('--keep').stderr).toBe('warning: 1 rejected hunk stays out: sub\n');
  expect(git(repository, 'ls-tree', 'main', 'sub')).toBe('');
  review('--new', 'sub');
  expect(accept('--keep').exitCode).toBe(0);
  expect(git(repository, 'ls-tree', 'main', 'sub')).toContain('commit');
});

test('the marks come back with the session, and go with its snapshots', () => {
  const session = makeSession({ f: LINES.join('') });
  const { repository } = session;
  writeFileSync(join(session.sandbox, 'f'), edited({ 3: 'three', 30: 'thirty' }));
  writeFileSync(join(session.sandbox, 'new'), 'new\n');
  agtOk(repository, 'review', 's1', '--seen', 'f:4');
  agtOk(repository, 'review', 's1', '--reject', 'new', '-m', 'no');
  const marks = () => {
    const hunks: { path: string; state: string }[] = JSON.parse(agtOk(repository, 'review', 's1', '--json'));
    return hunks.map(({ path, state }) => `${state} ${path}`);
  };
  expect(marks()).toEqual(['seen f', 'new f', 'rejected new']);
  agtOk(repository, 'accept', 's1', '-m', 'work');
  agtOk(repository, 'unaccept', 's1');
  expect(marks()).toEqual(['seen f', 'new f', 'rejected new']);
  agtOk(repository, 'reject', 's1');
  agtOk(repository, 'undo', 's1');
  expect(marks()).toEqual(['seen f', 'new f', 'rejected new']);
  agtOk(repository, 'session', 'remove', 's1', '--delete-branch', '--force');
  expect(git(repository, 'for-each-ref', 'refs/agt/review')).toBe('');
});
