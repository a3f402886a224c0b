/** agt review: what is new, marks that stay, and agt accept --seen. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, run } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

interface Hunk {
  readonly id: string;
  readonly path: string;
  readonly state: string;
  readonly kind: string;
  readonly turns: number[] | null;
  readonly sentence: string | null;
  readonly lines: string[];
}

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
const START = { f: LINES.join(''), gone: 'gone\n', 'd/e': 'e\n' };

const review = ({ repository, id }: TestSession, ...words: string[]) =>
  agtOk(repository, 'review', id, ...words);
const hunks = (session: TestSession): Hunk[] =>
  JSON.parse(Buffer.from(review(session, '--json'), 'latin1').toString());
const told = (session: TestSession) =>
  hunks(session).map(({ path, state, lines }) => {
    return `${state} ${path}: ${lines.filter((line) => !line.startsWith(' ')).join(' ')}`;
  });
const put = ({ sandbox }: TestSession, name: string, text: string | Buffer) =>
  writeFileSync(join(sandbox, name), text);
const edited = (edits: Readonly<Record<number, string>>) =>
  LINES.map((line, i) => (edits[i] === undefined ? line : `${edits[i]}\n`)).join('');
const show = ({ repository }: TestSession, path: string) => git(repository, 'show', `main:${path}`);

describe('marks', () => {
  test('what was seen stays seen, and later edits alone are new', () => {
    const session = makeSession(START);
    expect(review(session)).toBe('s1: nothing new');
    put(session, 'f', edited({ 3: 'three', 30: 'thirty' }));
    rmSync(join(session.sandbox, 'gone'));
    put(session, 'new', 'new');
    const diff = review(session);
    expect(diff).toContain('-line 3\n+three\n');
    expect(diff).toContain('+new\n\\ No newline at end of file');
    expect(told(session)).toEqual([
      'new f: -line 3 +three',
      'new f: -line 30 +thirty',
      'new gone: -gone',
      'new new: +new \\ No newline at end of file',
    ]);
    expect(review(session, '--seen', 'f', 'gone', '-n')).toBe('s1: would mark 3 hunks in 2 files as seen');
    expect(review(session, '--seen', 'f', 'gone')).toBe('s1: marked 3 hunks in 2 files as seen');
    expect(review(session)).not.toContain('three');
    put(session, 'f', edited({ 3: 'three again', 20: 'twenty', 30: 'thirty' }));
    expect(told(session).filter((one) => one.startsWith('new'))).toEqual([
      'new f: -three +three again',
      'new f: -line 20 +twenty',
      'new new: +new \\ No newline at end of file',
    ]);
    expect(JSON.parse(agtOk(session.repository, 'list', '--json'))[0].new_hunks).toBe(3);
    review(session, '--all');
    expect(review(session)).toBe('s1: nothing new');
    expect(review(session, '--reset', '-n')).toBe('s1: would forget 5 marks');
    expect(review(session, '--reset')).toBe('s1: forgot all marks');
    expect(told(session).every((one) => one.startsWith('new'))).toBe(true);
    expect(git(session.repository, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  test('every kind of file and name; what is marked equals what git add would have', () => {
    const session = makeSession({
      ...START,
      bin: 'a\0b',
      crlf: 'x\r\ny\r\n',
      link: 'l\n',
      mode: LINES.join(''),
    });
    const { sandbox, repository } = session;
    put(session, 'bin', 'a\0c');
    put(session, 'crlf', 'x\r\nz\r\nno end');
    rmSync(join(sandbox, 'link'));
    symlinkSync('f', join(sandbox, 'link'));
    put(session, 'mode', edited({ 0: 'first' }));
    chmodSync(join(sandbox, 'mode'), 0o755);
    put(session, 'f\n@@ -1 +1 @@"ü', '+++ b/x\n--- a/x\n@@ -1 +1 @@\ndiff --git a/x b/x\r\n');
    put(session, 'empty', '');
    rmSync(join(sandbox, 'd'), { recursive: true });
    put(session, 'd', 'now a file\n');
    rmSync(join(sandbox, 'gone'));
    mkdirSync(join(sandbox, 'gone'));
    put(session, 'gone/in', 'now a directory\n');
    const kinds = hunks(session).map(({ path, kind }) => `${kind} ${path}`);
    expect(kinds).toEqual([
      ...['file bin', 'lines crlf', 'file d', 'file d/e', 'file empty', 'file f\n@@ -1 +1 @@"ü'],
      ...['file gone', 'file gone/in', 'file link', 'mode mode', 'lines mode'],
    ]);
    const first = agt(repository, 'review', 's1', '--seen', 'gone/in');
    expect(first.stderr).toBe('warning: not marked before the files whose place they take: gone/in\n');
    for (const { path } of hunks(session)) agt(repository, 'review', 's1', '--seen', path);
    for (const { path, state } of hunks(session)) if (state === 'new') review(session, '--seen', path);
    expect(review(session)).toBe('s1: nothing new');
    agtOk(repository, 'accept', 's1', '--seen', '--untracked=all');
    git(sandbox, 'add', '-A');
    expect(git(repository, 'rev-parse', 'main^{tree}')).toBe(git(sandbox, 'write-tree'));
  });

  test('by turn, and turns in JSON', () => {
    const session = makeSession(START);
    const agent = agentIn(session.sandbox, 'claude-code', 'c-1');
    agent.says('first');
    agent.begins('1');
    put(session, 'f', edited({ 3: 'three' }));
    agent.ends('1');
    agent.says('second');
    agent.begins('2');
    put(session, 'f', edited({ 3: 'three', 5: 'five' }));
    rmSync(join(session.sandbox, 'gone'));
    agent.ends('2');
    expect(hunks(session).map(({ path, turns }) => [path, turns])).toEqual([
      ['f', [1, 2]],
      ['gone', [2]],
    ]);
    const second = review(session, '--turn', '2');
    expect(second).toContain('-line 5\n+five\n');
    expect(second).toContain(' three\n');
    expect(second).not.toContain('+three');
    review(session, '--turn', '1', '--all');
    expect(told(session)).toEqual(['seen f: -line 3 +three', 'new f: -line 5 +five', 'new gone: -gone']);
    expect(agt(session.repository, 'review', 's1', '--turn', '9').stderr).toMatch(/has no turn "9"/);
  });

  test.each([['merge'], ['rebase']])(
    'a sync (%s) shows nothing of the branch, and what was seen stays seen',
    (way) => {
      const session = makeSession(START);
      const { repository, sandbox } = session;
      put(session, 'f', edited({ 3: 'three', 12: 'twelve', 30: 'thirty' }));
      git(sandbox, 'commit', '-qam', 'of the agent');
      review(session, '--reject', 'f:31', '-m', 'no');
      review(session, '--seen', 'f');
      writeFileSync(join(repository, 'f'), edited({ 20: 'of the user' }));
      writeFileSync(join(repository, 'user'), 'user\n');
      git(repository, 'add', '-A');
      git(repository, 'commit', '-qm', 'of the user');
      agtOk(repository, 'sync', 's1', ...(way === 'rebase' ? ['--rebase'] : []));
      expect(told(session)).toEqual([
        'seen f: -line 3 +three',
        'seen f: -line 12 +twelve',
        'rejected f: -line 30 +thirty',
      ]);
      put(session, 'user', 'user\nagent\n');
      expect(told(session).at(-1)).toBe('new user: +agent');
    },
  );

  test('where the branch has other lines in the same place, the hunk is new again', () => {
    const session = makeSession(START);
    const { repository, sandbox } = session;
    put(session, 'f', edited({ 3: 'three', 30: 'thirty' }));
    git(sandbox, 'commit', '-qam', 'of the agent');
    review(session, '--all');
    writeFileSync(join(repository, 'f'), edited({ 3: 'of the user' }));
    git(repository, 'commit', '-qam', 'of the user');
    expect(agt(repository, 'sync', 's1').exitCode).toBe(1);
    put(session, 'f', edited({ 3: 'both', 30: 'thirty' }));
    git(sandbox, 'commit', '-qam', 'merged');
    expect(told(session)).toEqual(['new f: -of the user +both', 'seen f: -line 30 +thirty']);
  });
});

describe('agt accept --seen', () => {
  test('lands what was seen, keeps the rest, and can be taken back', () => {
    const session = makeSession(START);
    const { repository, sandbox } = session;
    const nothing = agt(repository, 'accept', 's1', '--seen');
    expect(nothing).toMatchObject({ exitCode: 1, stdout: '' });
    expect(nothing.stderr).toBe(
      'error: nothing of session "s1" was seen that could land\nhint: look at it first: agt review s1\n',
    );
    put(session, 'f', edited({ 3: 'three', 30: 'thirty' }));
    put(session, 'new', 'new\n');
    git(sandbox, 'add', '-A');
    git(sandbox, 'commit', '-qm', 'of the agent');
    review(session, '--seen', 'f');
    review(session, '--reject', 'new', '-m', 'no');
    put(session, 'f', edited({ 3: 'three', 9: 'unseen', 30: 'thirty' }));
    expect(agtOk(repository, 'accept', 's1', '--seen', '-n')).toMatch(
      /^would accept s1: 1 file changed, \+2 -2\n(.*\n)*session {2}s1 would go on\n/,
    );
    expect(agtOk(repository, 'accept', 's1', '--seen', '-m', 'seen')).toContain('session  s1 goes on');
    expect(`${show(session, 'f')}\n`).toBe(edited({ 3: 'three', 30: 'thirty' }));
    expect(told(session).filter((one) => !one.startsWith('seen'))).toEqual([
      'new f: -line 9 +unseen',
      'rejected new: +new',
    ]);
    expect(agt(repository, 'accept', 's1', '--seen').exitCode).toBe(1);
    review(session, '--seen', 'f');
    agtOk(repository, 'session', 'unaccept', 's1');
    expect(`${show(session, 'f')}\n`).toBe(START.f);
    agtOk(repository, 'accept', 's1', '--seen', '-m', 'again');
    expect(`${show(session, 'f')}\n`).toBe(edited({ 3: 'three', 9: 'unseen', 30: 'thirty' }));
    put(session, 'f', edited({ 3: 'changed', 9: 'unseen', 30: 'thirty' }));
    review(session, '--seen', 'f');
    agtOk(repository, 'accept', 's1', '--seen', '-m', 'and more');
    expect(`${show(session, 'f')}\n`).toBe(edited({ 3: 'changed', 9: 'unseen', 30: 'thirty' }));
    agtOk(repository, 'sync', 's1');
    expect(told(session)).toEqual(['rejected new: +new']);
    put(session, 'f', edited({ 3: 'changed', 9: 'unseen', 30: 'last' }));
    agtOk(repository, 'accept', 's1');
    expect(`${show(session, 'f')}\n`).toBe(edited({ 3: 'changed', 9: 'unseen', 30: 'last' }));
    expect(existsSync(join(repository, 'new'))).toBe(false);
  });

  test('what a whole acceptance has landed is not new, and no mark', () => {
    const session = makeSession(START);
    put(session, 'f', edited({ 3: 'three' }));
    agtOk(session.repository, 'accept', 's1', '--keep');
    expect(review(session)).toBe('s1: nothing new');
    put(session, 'f', edited({ 3: 'three', 4: 'four' }));
    expect(told(session)).toEqual(['new f: -line 4 +four']);
  });
});

test('two reviews at once lose no mark', async () => {
  const session = makeSession(START);
  const names = Array.from({ length: 6 }, (_, i) => `n${i}`);
  for (const name of names) put(session, name, `${name}\n`);
  const { spawn } = await import('node:child_process');
  const marking = (name: string) =>
    new Promise((resolve) =>
      spawn(AGT, ['review', 's1', '--seen', name], { cwd: session.repository }).on('close', resolve),
    );
  expect(await Promise.all(names.map(marking))).toEqual(names.map(() => 0));
  expect(review(session)).toBe('s1: nothing new');
});

test('on a terminal: questions as git add -p asks them', ({ skip }) => {
  const session = makeSession(START);
  put(session, 'f', edited({ 3: 'three', 5: '\u001b[31mfive', 30: 'thirty' }));
  put(session, 'new', 'new\n');
  put(session, 'other', 'other\n');
  put(session, 'tool', '#!\n');
  chmodSync(join(session.sandbox, 'tool'), 0o755);
  chmodSync(join(session.sandbox, 'd/e'), 0o755);
  rmSync(join(session.sandbox, 'gone'));
  const line = `'${AGT}' review s1`;
  const answer = (input: string) =>
    run('script', ['-qec', line, '/dev/null'], { cwd: session.repository, input });
  skip(run('sh', ['-c', 'command -v script'], { cwd: '/' }).exitCode !== 0, 'script(1) is not installed');
  const printed = run('script', ['-qec', `${line} | cat`, '/dev/null'], { cwd: session.repository }).stdout;
  expect(printed).toContain('+three');
  expect(printed).not.toContain('Seen?');
  const heads = answer('n\n'.repeat(7)).stdout;
  for (const head of ['gone  deleted', 'new  new', 'tool  new file, mode 100755', 'e  mode 100644 -> 100755'])
    expect(heads).toContain(head);
  git(session.sandbox, 'checkout', '-q', '--', 'd/e', 'gone');
  rmSync(join(session.sandbox, 'tool'));
  const asked = answer('?\ns\ny\nn\nr\n\nr\nnot this\na\nq\n');
  expect(asked.stdout).toContain('Seen? [y,n,r,a,d,s,q,?]');
  expect(asked.stdout).toMatch(/y - I have seen this hunk[\s\S]*not rejected: give the reason/);
  expect(asked.stdout).toContain(Buffer.from('·[31mfive').toString('latin1'));
  expect(asked.stdout).not.toContain('\u001b[31mfive');
  expect(asked.stdout).toMatch(
    /s1: 2 hunks marked as seen, 1 rejected; in all 2 seen, 1 rejected, 2 new\s+hint: .*: agt accept s1 --seen\s+hint: agt undoes the rejected hunks /,
  );
  expect(told(session)).toEqual([
    'seen f: -line 3 +three',
    'new f: -line 5 +\u001b[31mfive',
    'rejected f: -line 30 +thirty',
    'seen new: +new',
    'new other: +other',
  ]);
  const again = answer('?\ns\n\u0004').stdout;
  expect(again).toContain('@@ -3,7 +3,7 @@');
  expect(again).not.toContain('s - split');
  expect(again).toMatch(/this hunk cannot be split: [\s\S]*s1: 0 hunks .*; in all 2 seen, 1 rejected, 2 new/);
  renameSync(join(session.sandbox, 'other'), join(session.sandbox, 'moved'));
  expect(readFileSync(join(session.sandbox, 'moved'), 'utf8')).toBe('other\n');
});

test('work of the user that a session took along, and that is committed since, stays on the branch', () => {
  const { repository } = makeSession(START);
  writeFileSync(join(repository, 'f'), edited({ 20: 'of the user' }));
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', 's2', '--with-changes', '--json'));
  git(repository, 'commit', '-qam', 'of the user');
  writeFileSync(join(sandbox, 'gone'), 'of the agent\n');
  agtOk(repository, 'review', 's2', '--seen', 'gone');
  agtOk(repository, 'accept', 's2', '--seen', '-m', 'seen');
  expect(`${git(repository, 'show', 'main:f')}\n`).toBe(edited({ 20: 'of the user' }));
  expect(git(repository, 'show', 'main:gone')).toBe('of the agent');
});
