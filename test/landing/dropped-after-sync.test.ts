/** Commits that a sync has brought, and that the user drops afterwards: they never land as work of the session. */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

const LINES = Array.from({ length: 30 }, (_, i) => `${i + 1}\n`).join('');

function commit(cwd: string, path: string, content: string, ...words: string[]): void {
  write(join(cwd, path), content);
  git(cwd, 'add', path);
  git(cwd, 'commit', '-qm', `mine: ${path}`, ...words);
}

/** A session with a commit of its agent, which has synced a commit of the user. */
function synced(path: string, content: string) {
  const session = makeSession({ 'a.txt': LINES, 'b.txt': LINES });
  const { repository, sandbox } = session;
  write(join(sandbox, 'b.txt'), LINES.replace('\n5\n', '\nfive\n'));
  git(sandbox, 'commit', '-qam', 'agent work');
  commit(repository, path, content);
  agtOk(repository, 'sync', 's1');
  return session;
}

function seen({ repository }: TestSession) {
  const [{ ahead, merge, diff }] = JSON.parse(agtOk(repository, 'list', '--json'));
  const { files, message } = JSON.parse(agtOk(repository, 'accept', 's1', '-n', '--json'));
  return { ahead, merge, diff, message, files: files.map(({ path }: { path: string }) => path) };
}

test.each([1, 2])(
  'after %i more syncs, a dropped commit stays out, and the way that sync names works',
  (syncs) => {
    const session = synced('debug.c', 'debug\n');
    const { repository, sandbox } = session;
    git(repository, 'reset', '-q', '--hard', 'HEAD~1');
    commit(repository, 'other.c', 'other\n');
    const before = seen(session);
    expect(before.files).toEqual(['b.txt']);
    const here = { files: ['b.txt'], message: before.message, diff: before.diff };
    let said = agtOk(repository, 'sync', 's1');
    expect(seen(session)).toMatchObject(here);
    expect(agtOk(repository, 'diff', 's1', '--base', '--name-only')).toBe('b.txt');
    agtOk(repository, 'undo', 's1');
    expect(seen(session)).toEqual(before);
    for (let n = 1; n < syncs; n++) {
      agtOk(repository, 'sync', 's1');
      commit(repository, `more${n}.c`, 'more\n');
      said = agtOk(repository, 'sync', 's1');
      expect(seen(session)).toMatchObject(here);
      agtOk(repository, 'undo', 's1');
    }
    expect(said).toMatch(
      /mine: debug\.c, which main has dropped, stays in the sandbox, and agt accept leaves it out;/,
    );
    expect(said).toMatch(/to take it out here, too: agt sync s1 --rebase$/);
    agtOk(repository, 'sync', 's1', '--rebase');
    expect(existsSync(join(sandbox, 'debug.c'))).toBe(false);
    expect(agtOk(repository, 'accept', 's1')).toContain('accepted s1: 1 file changed, +1 -1');
    expect(git(repository, 'show', '--name-only', '--format=%s')).toBe('agent work\n\nb.txt');
  },
);

test.each([
  ['--commits', 'agt/s1~3..agt/s1~1'],
  ['--include', 'b.txt'],
])('a dropped commit stays out after a part by %s %s', (...part) => {
  const session = synced('debug.c', 'debug\n');
  const { repository, sandbox } = session;
  commit(sandbox, 'c.txt', 'by the agent\n');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  commit(repository, 'other.c', 'other\n');
  const first = JSON.parse(agtOk(repository, 'accept', 's1', '--keep', '--json', ...part));
  expect(first.files).toMatchObject([{ path: 'b.txt' }]);
  expect(seen(session)).toMatchObject({ files: ['c.txt'], diff: { insertions: 1 } });
  const said = agtOk(repository, 'sync', 's1');
  expect(said.includes('has dropped, stays in the sandbox')).toBe(existsSync(join(sandbox, 'debug.c')));
  expect(seen(session)).toMatchObject({ files: ['c.txt'], diff: { insertions: 1 } });
});

test('a conflict with a dropped commit: the hint of accept leads to it', () => {
  const { repository, sandbox } = synced('debug.c', 'debug\n');
  commit(sandbox, 'debug.c', 'more\n');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  commit(repository, 'other.c', 'other\n');
  expect(agt(repository, 'accept', 's1').stderr).toContain('in the sandbox: agt sync s1 --rebase\n');
  expect(agt(repository, 'sync', 's1', '--rebase').stderr).toContain(
    'main conflicts with s1 in 1 file: debug.c',
  );
});

test('a conflict with a commit that the user has amended: undo and sync --rebase as the hint says', () => {
  const session = synced('a.txt', LINES.replace('\n9\n', '\nnien\n'));
  const { repository } = session;
  commit(repository, 'a.txt', LINES.replace('\n9\n', '\nnine\n'), '--amend');
  const before = seen(session);
  expect(before).toMatchObject({ files: ['b.txt'], merge: 'clean' });
  const { stderr, exitCode } = agt(repository, 'sync', 's1');
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /hint: leave out \w+ mine: a\.txt, which main has dropped: agt undo s1 && agt sync s1 --rebase\n/,
  );
  agtOk(repository, 'undo', 's1');
  expect(seen(session)).toEqual(before);
  agtOk(repository, 'sync', 's1', '--rebase');
  expect(agtOk(repository, 'accept', 's1')).toContain('accepted s1: 1 file changed, +1 -1');
});

test('work of a rejected session that a sync brought does not come back with the next acceptance', () => {
  const { repository } = makeSession({ 'a.txt': LINES });
  agtOk(repository, 'new', 's2');
  const sandboxOf = (id: string) => agtOk(repository, 'path', id);
  writeFileSync(join(sandboxOf('s1'), 'rejected'), 'no\n');
  writeFileSync(join(sandboxOf('s2'), 'own'), 'yes\n');
  agtOk(repository, 'accept', 's1', '--untracked=all');
  agtOk(repository, 'sync', 's2');
  agtOk(repository, 'unaccept', 's1');
  agtOk(repository, 'reject', 's1');
  commit(repository, 'b.txt', 'b\n');
  agtOk(repository, 'sync', 's2');
  agtOk(repository, 'accept', 's2', '--untracked=all');
  expect(git(repository, 'show', '--name-only', '--format=')).toBe('own');
  expect(existsSync(join(repository, 'rejected'))).toBe(false);
});

test('work that is taken back, and that another session has by a sync: both commands say so, and how to take it out', () => {
  const { repository, sandbox } = makeSession({ a: '1\n2\n3\n', b: 'b\n' });
  write(join(sandbox, 'new'), 'new\n');
  const good = sessionIn(repository, 'good').sandbox;
  agtOk(repository, 'accept', 's1', '-m', 'Bad');
  const landed = git(repository, 'log', '-1', '--abbrev=10', '--format=%h');
  agtOk(repository, 'sync', 'good');
  write(join(good, 'own'), 'own\n');
  git(good, 'add', '.');
  git(good, 'commit', '-qm', 'Good');
  write(join(good, 'b'), 'open\n');
  // The user only amends it.
  git(repository, 'commit', '-q', '--amend', '-m', 'Better words');
  expect(agt(repository, 'accept', 'good', '-n').stderr).toBe('');
  git(repository, 'reset', '-q', '--hard', landed);
  git(repository, 'branch', 'release');
  git(good, 'branch', 'wild');
  const out = `git -C ${good} rebase --autostash --onto main ${landed}`;
  const others = (...names: string[]) =>
    names.map((name) => `warning: branch ${name} has it, too: ${landed}\n`).join('');
  const warned = (...how: string[]) => agt(repository, 'unaccept', 's1', ...how).stderr;
  const there = `take it out there: ${out}\n`;
  git(good, 'switch', '-q', 'wild');
  expect(warned('-n')).toBe(`warning: good has it, too, on its branch wild; ${there}${others('release')}`);
  git(good, 'switch', '-q', 'agt/good');
  for (const how of [['-n'], []])
    expect(warned(...how)).toBe(`warning: good has it, too; ${there}${others('release', 'wild')}`);
  execFileSync('sh', ['-c', out], { stdio: 'ignore' });
  const { files, message } = JSON.parse(agtOk(repository, 'accept', 'good', '--json'));
  expect([files.map(({ path }: { path: string }) => path), message]).toEqual([
    ['b', 'own'],
    'Good\n\nAgt-Session: good',
  ]);
});

test.each(['all of it', 'a part'])(
  'work of the session that has landed, was synced and taken back lands again: %s',
  (what) => {
    const session = makeSession({ 'a.txt': LINES });
    const { repository, sandbox } = session;
    write(join(sandbox, 'a.txt'), LINES.replace('\n5\n', '\nfive\n'));
    write(join(sandbox, 'later.txt'), 'later\n');
    git(sandbox, 'add', '.');
    const part = what === 'a part' ? ['--include', 'a.txt'] : [];
    agtOk(repository, 'accept', 's1', '--keep', ...part);
    agtOk(repository, 'sync', 's1');
    agtOk(repository, 'unaccept', 's1');
    expect(seen(session)).toMatchObject({
      merge: 'clean',
      diff: { files: 2 },
      files: ['a.txt', 'later.txt'],
    });
    expect(agtOk(repository, 'diff', 's1', '--base', '--name-only').split('\n')).toEqual([
      'a.txt',
      'later.txt',
    ]);
    commit(repository, 'b.txt', 'b\n');
    git(sandbox, 'commit', '-qm', 'later', '--allow-empty');
    expect(agtOk(repository, 'sync', 's1')).not.toContain('has dropped');
    expect(seen(session).files).toEqual(['a.txt', 'later.txt']);
    agtOk(repository, 'accept', 's1');
    expect(git(repository, 'show', '--name-only', '--format=')).toBe('a.txt\nlater.txt');
  },
);

test('an acceptance that the user resets after a sync lands again', () => {
  const session = makeSession({ 'a.txt': LINES });
  const { repository, sandbox } = session;
  write(join(sandbox, 'a.txt'), LINES.replace('\n5\n', '\nfive\n'));
  agtOk(repository, 'accept', 's1', '--keep');
  agtOk(repository, 'sync', 's1');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  expect(seen(session).files).toEqual(['a.txt']);
  expect(agtOk(repository, 'accept', 's1')).toContain('accepted s1: 1 file changed, +1 -1');
});

test('a merge that would be refused because of a staged file is refused by the dry run, too', () => {
  const { repository, sandbox } = synced('other.c', 'other\n');
  write(join(sandbox, 'staged.c'), 'staged\n');
  git(sandbox, 'add', 'staged.c');
  commit(repository, 'more.c', 'more\n');
  for (const dry of [['-n'], []]) {
    const { stderr, exitCode } = agt(repository, 'sync', 's1', ...dry);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: 1 file in .* is staged; git merges .*\nhint: staged.c\nhint: commit /),
    ]);
  }
});

test('commits of the user that a rebase has rewritten: the hint of a conflict, and sync --rebase, leave them out', () => {
  const session = synced('a.txt', `mine\n${LINES}`);
  const { repository, sandbox } = session;
  write(join(sandbox, 'a.txt'), `agent\nmine\n${LINES}`);
  git(sandbox, 'commit', '-qam', 'agent');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  commit(repository, 'up.c', 'up\n');
  git(repository, 'cherry-pick', 'ORIG_HEAD');
  const { stderr } = agt(repository, 'sync', 's1');
  expect(stderr).toContain(
    'hint: leave out your commits that main has in another form: agt undo s1 && agt sync s1 --rebase\n',
  );
  agtOk(repository, 'undo', 's1');
  agtOk(repository, 'sync', 's1', '--rebase');
  expect(seen(session).files).toEqual(['a.txt', 'b.txt']);
});

test('an amend of the message alone: sync --rebase leaves the old commit out, also after another sync', () => {
  const session = synced('other.c', 'other\n');
  const { repository } = session;
  git(repository, 'commit', '-q', '--amend', '-m', 'another subject');
  agtOk(repository, 'sync', 's1');
  agtOk(repository, 'sync', 's1', '--rebase');
  const { kept_commits: kept } = JSON.parse(
    agtOk(repository, 'accept', 's1', '--keep-commits', '-n', '--json'),
  );
  expect(kept.map((line: string) => line.replace(/^\w+ /, ''))).toEqual(['agent work']);
});

test('what is staged stays so where the sandbox goes on from the branch', () => {
  const { repository, sandbox } = makeSession({ f: 'f\n', g: 'g\n', h: 'h\n' });
  write(join(sandbox, 'f'), 'work\n');
  git(sandbox, 'commit', '-qam', 'work');
  write(join(sandbox, 'g'), 'staged\n');
  git(sandbox, 'add', 'g');
  write(join(sandbox, 'g'), 'newer\n');
  git(sandbox, 'mv', 'h', 'h2');
  const before = git(sandbox, 'status', '--porcelain');
  agtOk(repository, 'accept', 's1', '--keep', '--committed-only');
  expect(agtOk(repository, 'sync', 's1')).toContain('goes on from main');
  expect(git(sandbox, 'status', '--porcelain')).toBe(before);
  expect(git(sandbox, 'show', ':g')).toBe('staged');
});

test.each([[], ['--amend']])(
  'what landed in part, perhaps amended, and was synced, then dropped, lands again: %j',
  (...amend) => {
    const session = makeSession({ 'a.txt': LINES, 'b.txt': LINES });
    const { repository, sandbox } = session;
    write(join(sandbox, 'a.txt'), LINES.replace('\n5\n', '\nfive\n'));
    write(join(sandbox, 'b.txt'), LINES.replace('\n5\n', '\nfive\n'));
    git(sandbox, 'commit', '-qam', 'agent work');
    agtOk(repository, 'accept', 's1', '--include', 'a.txt', '--keep', '-m', 'part');
    if (amend.length > 0) git(repository, 'commit', '-q', ...amend, '-m', 'part, amended');
    agtOk(repository, 'sync', 's1');
    git(repository, 'reset', '-q', '--hard', 'HEAD~1');
    expect(seen(session)).toMatchObject({ files: ['a.txt', 'b.txt'], diff: { files: 2 } });
    expect(agtOk(repository, 'diff', 's1', '--base', '--name-only')).toBe('a.txt\nb.txt');
  },
);

test('sync --rebase leaves out a reverted commit of the user, also beside one that was amended', () => {
  const { repository, sandbox } = synced('debug.c', 'debug\n');
  commit(repository, 'more.c', 'more\n', '--amend');
  agtOk(repository, 'sync', 's1');
  git(repository, 'revert', '--no-edit', 'HEAD');
  agtOk(repository, 'sync', 's1', '--rebase');
  expect(git(sandbox, 'log', '--format=%s', 'main..')).toBe('agent work');
  expect(['debug.c', 'more.c'].filter((name) => existsSync(join(sandbox, name)))).toEqual([]);
});
