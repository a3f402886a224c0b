/** Hunks that were rejected in agt review: taken back in the sandbox, or told to the agent. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, REAL_GIT, run } from '../harness/world.ts';
import { failures, hook, say, silent } from '../integrations/hooks.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
const START = { f: LINES.join(''), gone: 'gone\n' };
const edited = (edits: Readonly<Record<number, string>>) =>
  LINES.map((line, i) => (edits[i] === undefined ? line : `${edits[i]}\n`)).join('');

const read = ({ sandbox }: TestSession, name: string) => readFileSync(join(sandbox, name), 'utf8');
const put = ({ sandbox }: TestSession, name: string, text: string) =>
  writeFileSync(join(sandbox, name), text);
const review = ({ repository }: TestSession, ...words: string[]) =>
  agtOk(repository, 'review', 's1', ...words);
const states = (session: TestSession) =>
  (JSON.parse(review(session, '--json')) as { path: string; state: string; sentence: string | null }[]).map(
    ({ path, state, sentence }) => `${state} ${path}${sentence === null ? '' : `: ${sentence}`}`,
  );

function work(): TestSession {
  const session = makeSession(START);
  put(session, 'f', edited({ 3: 'three', 5: 'five', 30: 'thirty' }));
  put(session, 'new', 'new\n');
  return session;
}

test('at once: only these lines go; undo brings them back, and they are new with the reason', () => {
  const session = work();
  const { repository } = session;
  const report = JSON.parse(
    review(session, '--split', '--reject', 'f:6', 'new', '-m', 'not this', '--now', '--json'),
  );
  expect(report.taken_back).toMatch(/^[0-9a-f]{40}$/);
  expect(read(session, 'f')).toBe(edited({ 3: 'three', 30: 'thirty' }));
  expect(existsSync(join(session.sandbox, 'new'))).toBe(false);
  expect(states(session)).toEqual(['new f', 'new f']);
  expect(agtOk(repository, 'session', 'log', 's1')).toContain('rejected: not this');
  agtOk(repository, 'undo', 's1');
  expect(read(session, 'f')).toBe(edited({ 3: 'three', 5: 'five', 30: 'thirty' }));
  expect(states(session)).toEqual(['new f: not this', 'new f', 'new new: not this']);
  agtOk(repository, 'redo', 's1');
  expect(read(session, 'f')).toBe(edited({ 3: 'three', 30: 'thirty' }));
});

test('rejected first, and taken back at once later: all that stand, but not what the agent is told', () => {
  const session = work();
  const { repository } = session;
  review(session, '--split', '--reject', 'f:6', 'new', '-m', 'not this');
  review(session, '--reject', 'f:31', '-m', 'nor this', '--tell');
  const again = agt(repository, 'review', 's1', '--reject', 'new', '-m', 'x', '--now');
  expect(again.stderr).toContain('hint: first: agt review s1 --new new\n');
  expect(agt(repository, 'review', 's1', '--now', '--', 'new').exitCode).toBe(2);
  expect(review(session, '--now', '--dry-run')).toBe(
    's1: would undo 2 rejected hunks in the sandbox: f, new',
  );
  expect(read(session, 'new')).toBe('new\n');
  const report = JSON.parse(review(session, '--now', '--json'));
  expect(report).toMatchObject({ hunks: [{ path: 'f' }, { path: 'new' }], taken_back: expect.any(String) });
  expect(read(session, 'f')).toBe(edited({ 3: 'three', 30: 'thirty' }));
  expect(existsSync(join(session.sandbox, 'new'))).toBe(false);
  expect(review(session, '--now')).toBe('s1: no rejected hunk to undo; those with --tell stay');
});

test('each way says what becomes of the hunks; those that stand are named when nothing is new', () => {
  const session = work();
  const { repository, sandbox } = session;
  say(sandbox, 'go on');
  expect(review(session, '--split', '--reject', 'f:4', '-m', 'no', '-n')).toBe(
    's1: would reject 1 hunk in 1 file (f:1-5)',
  );
  expect(review(session, '--split', '--reject', 'f:4', '-m', 'no', '--now')).toBe(
    's1: rejected 1 hunk in 1 file (f:1-5) and undid it in the sandbox',
  );
  expect(review(session, '--reject', 'f:31', '-m', 'no', '--tell')).toBe(
    's1: rejected 1 hunk in 1 file (f:28-34); the agent reads it with your next prompt',
  );
  hook(sandbox, 'Stop');
  expect(review(session, '--split', '--reject', 'f:6', 'new', '-m', 'no')).toBe(
    's1: rejected 2 hunks in 2 files (f:3-9, all of new); they stay out of agt accept, and go when the agent ' +
      'ends its next turn or exits (by its hooks), or now: agt review s1 --now',
  );
  expect(agtOk(repository, 'review', 's1')).toBe(
    's1: nothing new; 2 rejected hunks stand; to undo them in the sandbox: agt review s1 --now; ' +
      'to take the rejections back: agt review s1 --new FILE',
  );
  review(session, '--now');
  expect(review(session)).toBe('s1: nothing new');
});

test('an acceptance says that only rejected hunks are left; without them the session is merged', () => {
  const session = work();
  const { repository } = session;
  review(session, '--seen', 'f');
  agtOk(repository, 'accept', 's1', '--seen');
  review(session, '--reject', 'new', '-m', 'not this');
  const { stderr } = agt(repository, 'accept', 's1', '--untracked=all');
  expect(stderr).toContain('nothing to accept: only 1 rejected hunk of agt review is left in session "s1"');
  expect(stderr).toMatch(/^hint: undo them in the sandbox: .*\nhint: or let them land after all: /m);
  expect(stderr).toContain('agt review s1 --now');
  const isMerged = () => JSON.parse(agtOk(repository, 'list', '--json'))[0].merged;
  expect(isMerged()).toBe(false);
  review(session, '--now');
  expect(isMerged()).toBe(true);
});

test('marks and rejections are taken back, by file or by line', () => {
  const session = work();
  review(session, '--seen', 'f');
  review(session, '--reject', 'new', '-m', 'not this');
  expect(JSON.parse(review(session, '--split', '--new', 'f:6', 'new', '--json')).hunks).toMatchObject([
    { path: 'f', state: 'new', lines: expect.arrayContaining(['+five']) },
    { path: 'new', state: 'new' },
  ]);
  expect(states(session).toSorted()).toEqual(['new f', 'new new', 'seen f', 'seen f']);
  expect(agt(session.repository, 'review', 's1', '--new', 'new').stderr).toMatch(/nothing marked in new/);
});

test('at the end of the turn, and not at that of a subagent; what the agent has changed since is new', () => {
  const session = work();
  const { sandbox } = session;
  say(sandbox, 'go on');
  review(session, '--split', '--reject', 'f:6', 'f:31', '-m', 'not this');
  expect(states(session).filter((one) => one.startsWith('rejected'))).toHaveLength(2);
  put(session, 'f', edited({ 3: 'three', 5: 'five', 20: 'twenty', 30: 'thirty, and more' }));
  expect(hook(sandbox, 'SubagentStop')).toEqual(silent);
  expect(read(session, 'f')).toContain('five');
  expect(hook(sandbox, 'Stop')).toEqual(silent);
  expect(read(session, 'f')).toBe(edited({ 3: 'three', 20: 'twenty', 30: 'thirty, and more' }));
  expect(states(session)).toEqual(['new f', 'new f', 'new f', 'new new']);
  const told = say(sandbox, 'and now');
  expect(told.stdout).toContain('The user has taken these files back with agt');
  expect(failures()).toEqual([]);
});

test('told: the lines stay, the agent hears of them once, and they stay rejected until they are gone', () => {
  const session = work();
  const { sandbox } = session;
  review(session, '--reject', 'new', '-m', 'call it "old"', '--tell');
  expect(hook(sandbox, 'Stop')).toEqual(silent);
  expect(read(session, 'new')).toBe('new\n');
  const { additionalContext } = JSON.parse(say(sandbox, 'go on').stdout).hookSpecificOutput;
  expect(additionalContext).toBe(
    'The user has reviewed your changes and rejects these:\n\nnew, line 1: call it "old"\n+new',
  );
  expect(say(sandbox, 'go on').stdout).toBe('');
  expect(states(session).at(-1)).toBe('rejected new: call it "old"');
  review(session, '--all', '--', 'f');
  agtOk(session.repository, 'accept', 's1', '--seen');
  expect(existsSync(join(session.repository, 'new'))).toBe(false);
  expect(failures()).toEqual([]);
});

test.each([false, true])('an acceptance leaves out what the agent was to hear of (told: %s)', (isTold) => {
  const session = work();
  const { sandbox, repository } = session;
  review(session, '--reject', 'new', '-m', 'call it "old"', '--tell');
  if (isTold) expect(say(sandbox, 'go on').stdout).toContain('rejects these');
  for (const words of [['-n'], []]) {
    const { stdout, stderr } = agt(repository, 'accept', 's1', '--untracked=all', ...words);
    expect([stderr, stdout]).toEqual([
      expect.stringMatching(
        /^(warning: s1: claude, which began .*\n)?warning: 1 rejected hunk stays out: new\n$/,
      ),
      expect.stringContaining('1 file changed'),
    ]);
  }
  expect(existsSync(join(repository, 'new'))).toBe(false);
  expect(failures()).toEqual([]);
});

test('files as filters write them; a place that somebody else has taken', () => {
  const session = makeSession({ '.gitattributes': '*.txt eol=crlf\n', 'a.txt': LINES.join(''), d: 'd\n' });
  const { sandbox, repository } = session;
  const crlf = (text: string) => text.replaceAll('\n', '\r\n');
  put(session, 'a.txt', crlf(edited({ 3: 'three', 30: 'thirty' })));
  review(session, '--reject', 'a.txt:31', '-m', 'no', '--now');
  expect(read(session, 'a.txt')).toBe(crlf(edited({ 3: 'three' })));
  run('rm', ['d'], { cwd: sandbox });
  mkdirSync(join(sandbox, 'd'));
  put(session, 'd/new', 'new\n');
  review(session, '--reject', 'd:1', '-m', 'keep it', '--now');
  expect(read(session, 'd/new')).toBe('new\n');
  review(session, '--reject', 'd/new', '-m', 'not that', '--now');
  expect(read(session, 'd')).toBe('d\n');
  expect(git(repository, 'fsck', '--strict', '--no-dangling')).toBe('');
});

test.each([
  ['review: written', ['--seen', 'f']],
  ['review: marked', ['--seen', 'f']],
  ['review: written', ['--reject', 'f:31', '-m', 'no', '--now']],
  ['review: marked', ['--reject', 'f:31', '-m', 'no', '--now']],
  ['restore: captured before', ['--reject', 'f:31', '-m', 'no', '--now']],
  ['checkout: file written', ['--reject', 'f:31', '-m', 'no', '--now']],
  ['restore: compared', ['--reject', 'f:31', '-m', 'no', '--now']],
])('killed (%s) in agt review %j: no mark and no work is lost', (point, words) => {
  const session = work();
  const { repository, sandbox: cwd } = session;
  review(session, '--seen', 'new');
  const env = { AGT_TEST_KILL_AT: `${point}#1`, AGT_GIT_PATH: REAL_GIT };
  const killed = run(process.execPath, [KILLABLE, 'review', 's1', ...words], { cwd, env });
  expect(killed.exitCode).toBe(null);
  if (point !== 'restore: captured before' && !point.startsWith('review: '))
    expect(agt(repository, 'review', 's1', '--now').stderr).toContain('agt did not finish restoring');
  agtOk(repository, 'doctor', '--fix');
  if (/^(checkout|restore: compared)/.test(point))
    expect(agtOk(repository, 'session', 'log', 's1', '-n', '1')).toMatch(/rejected: no$/);
  expect(states(session)).toContain('seen new');
  expect(read(session, 'f')).toContain('three\n');
  expect(agt(repository, 'review', 's1', ...words).exitCode).toBeLessThan(3);
  agtOk(repository, 'review', 's1', '--settle', 'turn');
  if (words.includes('--now')) expect(read(session, 'f')).toBe(edited({ 3: 'three', 5: 'five' }));
  else expect(states(session).filter((one) => one.startsWith('new'))).toEqual([]);
  expect(states(session)).toContain('seen new');
});

test('on a full disk a mark fails in one line, and those before stay', ({ skip }) => {
  const disk = makeTempDir('disk');
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]);
  skip(mount.status !== 0, 'a small disk cannot be mounted here');
  try {
    const repository = join(disk, 'project');
    mkdirSync(repository);
    git(repository, 'init', '-q', '-b', 'main');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
    const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', 's1', '--json'));
    writeFileSync(join(sandbox, 'a'), 'a\n');
    writeFileSync(join(sandbox, 'b'), 'b\n');
    agtOk(repository, 'review', 's1', '--seen', 'a');
    spawnSync('sh', ['-c', 'cat /dev/zero > filler'], { cwd: disk });
    const full = agt(repository, 'review', 's1', '--seen', 'b');
    expect(full.exitCode).not.toBe(0);
    expect(full.stderr).toMatch(/^error: .*(space|full|fit|write|file)/);
    spawnSync('rm', ['filler'], { cwd: disk });
    const hunks = JSON.parse(agtOk(repository, 'review', 's1', '--json')) as {
      path: string;
      state: string;
    }[];
    expect(hunks.map(({ path, state }) => `${state} ${path}`)).toEqual(['seen a', 'new b']);
    agtOk(repository, 'review', 's1', '--all');
  } finally {
    spawnSync('umount', ['--lazy', disk]);
  }
});

describe('a renamed file is one change', () => {
  const renamed = (text?: string) => {
    const session = makeSession({ old: LINES.join('') });
    git(session.sandbox, 'mv', 'old', 'new');
    if (text !== undefined) put(session, 'new', text);
    return session;
  };
  const files = (session: TestSession) => agtOk(session.repository, 'accept', 's1', '-n').split('\n')[1];

  test.each(['old', 'new'])('a mark on %s is on both of its names, and so is the way back', (name) => {
    const session = renamed();
    expect(review(session, '--seen', name)).toBe('s1: marked 1 hunk in 1 file as seen');
    expect(states(session)).toEqual(['seen new', 'seen old']);
    review(session, '--new', name);
    expect(states(session)).toEqual(['new new', 'new old']);
    const part = agt(session.repository, 'review', 's1', '--reject', `${name}:4`, '-m', 'no');
    expect([part.exitCode, part.stderr]).toEqual([2, expect.stringContaining('a rename is one change')]);
    const rejected = review(session, '--reject', name, '-m', 'no', '--now');
    expect(rejected).toBe('s1: rejected 1 hunk in 1 file (new) and undid it in the sandbox');
    expect(read(session, 'old')).toBe(LINES.join(''));
    expect(existsSync(join(session.sandbox, 'new'))).toBe(false);
  });

  test.each([
    [undefined, 'old -> new  renamed\n', ''],
    [edited({ 3: 'three' }), 'old -> new  renamed and changed\n', ' line 2\n-line 3\n+three\n line 4\n'],
  ])('on a terminal it is one question, with the lines that changed', (text, heading, changed) => {
    const session = renamed(text);
    const asked = run('script', ['-qec', `${AGT} review s1`, '/dev/null'], {
      cwd: session.repository,
      input: 'y\n',
    }).stdout.replace(/\r|\x1b\[\d*m/g, '');
    expect(asked).toContain(heading);
    expect(asked).toContain(changed);
    expect(asked).not.toContain('line 20');
    expect(asked).toContain('s1: 1 hunk marked as seen, 0 rejected; in all 1 seen, 0 rejected, 0 new');
    expect(asked.match(/Seen\?/g)).toHaveLength(1);
    expect(files(session)).toBe('  R old -> new');
    agtOk(session.repository, 'accept', 's1', '--seen');
    expect([
      existsSync(join(session.repository, 'old')),
      existsSync(join(session.repository, 'new')),
    ]).toEqual([false, true]);
  });
});
