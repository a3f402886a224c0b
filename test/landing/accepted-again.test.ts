/** A session that was accepted and goes on: kept, or brought back by undo. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run } from '../harness/world.ts';

function accepted(...how: string[]) {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  const theirs = join(repository, 'new');
  writeFileSync(join(sandbox, 'new'), 'one\n');
  agtOk(repository, 'accept', 's1', ...how);
  return { repository, sandbox, theirs, read: () => readFileSync(theirs, 'utf8') };
}

const listed = (repository: string) => JSON.parse(agtOk(repository, 'list', '--json'))[0];

test('after accept and undo, list and accept say that the branch has all; later work lands, and unaccept takes it back', () => {
  const { repository, sandbox, theirs, read } = accepted();
  writeFileSync(join(repository, 'a'), 'by the user\n');
  git(repository, 'commit', '-qam', 'Mine');
  expect(agtOk(repository, 'undo', 's1')).toMatch(/\nto end it again: agt session remove s1$/);
  expect(listed(repository)).toMatchObject({ state: 'active', merge: null, merged: true });
  expect(agtOk(repository, 'list')).toMatch(/ accepted /);
  expect(agt(repository, 'accept', 's1').stderr).toContain('nothing to accept: "main" has all work of');
  appendFileSync(join(sandbox, 'new'), 'two\n');
  writeFileSync(theirs, 'zero\none\n');
  git(repository, 'commit', '-qam', 'On top');
  expect(listed(repository)).toMatchObject({ merged: false });
  agt(repository, 'accept', 's1', '--dry-run');
  writeFileSync(theirs, 'one\n');
  git(repository, 'commit', '-qam', 'Back');
  expect(listed(repository)).toMatchObject({ merge: 'clean', merged: false });
  agtOk(repository, 'accept', 's1', '-m', 'Later work');
  expect(read()).toBe('one\ntwo\n');
  const said = agtOk(repository, 'session', 'unaccept', 's1');
  expect(said).toMatch(
    /\ncommit {3}\w{10} Later work\nbranch .*\nearlier {2}\w{10} Work of session s1: accepted before, and still on main/,
  );
  expect([read(), readFileSync(join(sandbox, 'new'), 'utf8')]).toEqual(['one\n', 'one\ntwo\n']);
});

test('the user amends the commit of a kept session: agt knows it in the other form', () => {
  const { repository, sandbox, theirs, read } = accepted('--keep');
  writeFileSync(theirs, 'ONE\n');
  git(repository, 'commit', '-q', '--amend', '-am', 'My words');
  expect(listed(repository)).toMatchObject({ merge: null, merged: true });
  expect(agt(repository, 'accept', 's1').stderr).toContain('nothing to accept: "main" has all work of');
  const tip = git(repository, 'rev-parse', 'main');
  expect(agt(repository, 'session', 'unaccept', 's1').stderr).toMatch(
    new RegExp(`in another form, as ${tip.slice(0, 12)}\nhint: .*: git revert ${tip.slice(0, 12)}\n`),
  );
  writeFileSync(join(sandbox, 'b'), 'more\n');
  expect(listed(repository)).toMatchObject({ merge: 'clean', merged: false });
  agtOk(repository, 'accept', 's1');
  expect([read(), readFileSync(join(repository, 'b'), 'utf8')]).toEqual(['ONE\n', 'more\n']);
});

test.each([
  ['by git revert', ['revert', '--no-edit', 'HEAD~1']],
  ['in words of the user', ['revert', '--no-commit', 'HEAD~1']],
])(
  'a landed commit that the branch takes back %s: the session lands again, and sync keeps its work',
  (_, revert) => {
    const { repository, sandbox, read } = accepted();
    writeFileSync(join(repository, 'a'), 'by the user\n');
    git(repository, 'commit', '-qam', 'Mine');
    git(repository, ...revert);
    if (revert[1] === '--no-commit') git(repository, 'commit', '-qm', 'Not yet');
    agtOk(repository, 'undo', 's1');
    expect(listed(repository)).toMatchObject({ merge: 'clean', merged: false });
    git(sandbox, 'add', '--all');
    git(sandbox, 'commit', '-qm', 'By the agent');
    expect(listed(repository)).toMatchObject({ merge: 'clean', merged: false });
    agtOk(repository, 'sync', 's1');
    expect(readFileSync(join(sandbox, 'new'), 'utf8')).toBe('one\n');
    agtOk(repository, 'accept', 's1', '--keep');
    expect(read()).toBe('one\n');
  },
);

test('a landed commit that is taken back and brought again has landed', () => {
  const { repository } = accepted('--keep');
  for (let i = 0; i < 2; i++) git(repository, 'revert', '--no-edit', 'HEAD');
  expect(listed(repository)).toMatchObject({ merge: null, merged: true });
});

test('without a new commit, --committed-only says so, and the way on', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  const committedOnly = (...how: string[]) => agt(repository, 'accept', 's1', '--committed-only', ...how);
  appendFileSync(join(sandbox, 'a'), '2\n');
  for (const how of [['-n'], []])
    expect(committedOnly(...how)).toMatchObject({
      exitCode: 1,
      stderr:
        'error: nothing to accept: nothing new is committed in session "s1"\n' +
        'hint: take its uncommitted files, too: without --committed-only\n',
    });
  agtOk(repository, 'accept', 's1', '--keep');
  expect(committedOnly().stderr).toContain('nothing to accept: "main" has all work of');
  writeFileSync(join(sandbox, 'b'), 'b\n');
  git(sandbox, 'add', 'b');
  git(sandbox, 'commit', '-qm', 'b');
  expect(committedOnly('--keep', '--json').stdout).toContain('"path": "b"');
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('1\n2\n');
});

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

/** Three commits of the agent, and a file that is not committed. */
function threeCommits() {
  const { repository, sandbox } = makeSession({ a: '1\n', f: '1\n2\n3\n' });
  for (const name of ['one', 'two']) {
    writeFileSync(join(sandbox, name), `${name}\n`);
    git(sandbox, 'add', '.');
    git(sandbox, 'commit', '-qm', name);
  }
  writeFileSync(join(sandbox, 'f'), '1\ntwo\n3\n');
  git(sandbox, 'commit', '-qam', 'three');
  appendFileSync(join(sandbox, 'a'), 'open\n');
  return { repository, sandbox };
}

test('with --commits, all that stays out is named, the commits as well', () => {
  const { repository, sandbox } = threeCommits();
  const accept = (...words: string[]) => agtOk(repository, 'accept', 's1', ...words).split('\n');
  const name = (spec: string) => git(sandbox, 'log', '-1', '--abbrev=10', '--format=left out %h %s', spec);
  const [one, two] = [name('HEAD~2'), name('HEAD~1')];
  expect(accept('--keep', '--commits', 'agt/s1').slice(1, 5)).toEqual(['  M f', 'left out a', one, two]);
  // A file that landed in another way has landed.
  accept('--keep', '--include', 'one', '-m', 'One');
  writeFileSync(join(sandbox, 'g'), 'g\n');
  git(sandbox, 'add', 'g');
  git(sandbox, 'commit', '-qm', 'four');
  expect(accept('--commits', 'agt/s1', '-n').slice(1, 4)).toEqual(['  A g', 'left out a', two]);
  const { left_out_commits: left } = JSON.parse(accept('--commits', 'agt/s1', '--json').join(''));
  expect(left).toMatchObject([{ subject: 'two' }]);
  expect(agtOk(repository, 'log', '--format=%s', 'main').split('\n')).not.toContain('two');
});

test('a rebase passes over what has landed, and git says nothing about it', () => {
  const { repository, sandbox } = threeCommits();
  agtOk(repository, 'accept', 's1', '--keep', '--commits', 'agt/s1~2');
  git(sandbox, 'checkout', 'a');
  const { stdout, stderr } = agt(repository, 'sync', 's1', '--rebase');
  expect(stderr + stdout).toMatch(/^rebased 2 .* main, which had 1 new commit \(accepted from s1\); s1 is/);
  expect(git(sandbox, 'log', '--format=%s', 'main..')).toBe('three\ntwo');
});

test('with kept commits and uncommitted work, the sandbox goes on from the branch as it does without', () => {
  const { repository, sandbox } = threeCommits();
  writeFileSync(join(sandbox, 'f'), 'uncommitted\n');
  agtOk(repository, 'accept', 's1', '--keep-commits', '--keep');
  expect(agtOk(repository, 'session', 'diff', 's1', '--base', '--stat')).toBe('');
  agtOk(repository, 'sync', 's1');
  expect(git(sandbox, 'status', '--porcelain')).toBe('');
  writeFileSync(join(sandbox, 'f'), 'later\n');
  expect(agtOk(repository, 'accept', 's1', '--keep')).toContain('1 file changed, +1 -1');
  expect(git(repository, 'show', 'main:f')).toBe('later');
});

test('after a rebase that flattens it, unaccept names all commits of an acceptance', () => {
  const { repository } = threeCommits();
  agtOk(repository, 'accept', 's1', '--keep-commits');
  git(repository, 'rebase', '-q', '--root', '--force-rebase');
  const hint = agt(repository, 'unaccept', 's1').stderr;
  const revert = /: git revert (.*)\n/.exec(hint)?.[1] ?? '';
  expect(revert.split(' ')).toHaveLength(4);
  git(repository, 'revert', '--no-edit', ...revert.split(' '));
  expect(git(repository, 'show', 'main:f')).toBe('1\n2\n3');
});

test('-n predicts that git rebases no sandbox with uncommitted changes, and says what it would rebase', () => {
  const { repository, sandbox } = threeCommits();
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'Mine');
  const rebase = (...how: string[]) => agt(repository, 'sync', 's1', '--rebase', ...how);
  for (const how of [['-n'], []])
    expect(rebase(...how).stderr).toMatch(
      /^error: git does not rebase the sandbox of "s1" with uncommitted changes; .*\nhint: commit .* add -- a && /,
    );
  git(sandbox, 'checkout', 'a');
  expect(rebase('-n').stdout).toBe('would rebase 3 commits of s1 onto main, which has 1 new commit\n');
  expect(rebase().exitCode).toBe(0);
});

test('the proposed message has the commits that land, neither those before nor those of the user', () => {
  const { repository, sandbox } = threeCommits();
  const subject = (...how: string[]): string =>
    JSON.parse(agtOk(repository, 'accept', 's1', '--json', ...how)).message?.split('\n')[0];
  expect(subject('-n')).toBe('one; two; three');
  expect(subject('--keep', '--include', 'two')).toBe('two');
  expect(subject('-n')).toBe('one; three');
  expect(subject('-n', '--exclude', 'f')).toBe('one');
  agtOk(repository, 'unaccept', 's1');
  subject('--keep', '--commits', 'agt/s1,agt/s1~2');
  expect(subject('--keep')).toBe('two');
  git(repository, 'commit', '-q', '--amend', '-m', 'Words of the user');
  agtOk(repository, 'sync', 's1');
  git(repository, 'commit', '-q', '--amend', '-m', 'Newer words of the user');
  appendFileSync(join(sandbox, 'a'), 'later\n');
  expect(subject('-n')).toBe('Work of session s1');
  git(sandbox, 'commit', '-qam', 'four');
  expect(subject('-n')).toBe('four');
});

const diffOf = (repository: string) => ({ ...listed(repository).diff, in_part: undefined });

test.each([
  ['commits', ['--commits', 'agt/s1~1', '--commits', 'agt/s1'], { files: 2, insertions: 2, deletions: 0 }],
  ['paths', ['--include', 'f', '-m', 'Part'], { files: 3, insertions: 3, deletions: 0 }],
  ['all but some paths', ['--exclude', 'one', '-m', 'Part'], { files: 1, insertions: 1, deletions: 0 }],
  ['all', ['-m', 'Part'], { files: 0, insertions: 0, deletions: 0 }],
])(
  'after a part has landed (%s), DIFF and the next accept have the rest, also after a kill',
  (_, how, rest) => {
    const { repository, sandbox } = threeCommits();
    expect(diffOf(repository)).toEqual({ files: 4, insertions: 4, deletions: 1 });
    const env = { AGT_TEST_KILL_AT: 'landing: source kept#1', AGT_GIT_PATH: REAL_GIT };
    const words = ['accept', 's1', '--keep', ...how];
    expect(run(process.execPath, [KILLABLE, ...words], { cwd: repository, env }).exitCode).not.toBe(0);
    const tip = git(repository, 'rev-parse', 'main');
    agtOk(repository, 'doctor', '--fix');
    expect(git(repository, 'rev-parse', 'main')).toBe(tip);
    expect(diffOf(repository)).toEqual(rest);
    const base = JSON.parse(agtOk(repository, 'session', 'diff', 's1', '--base', '--json'));
    expect(base).toHaveLength(rest.files);
    const preview = JSON.parse(agtOk(repository, 'sync', 's1', '-n', '--json'));
    const landed = how[0] === '--commits' ? 2 : 1;
    expect([preview.commits, preview.own_commits]).toEqual([landed, landed]);
    // What has landed is the base: a later change of the user there is no conflict.
    if (how[0] !== '--exclude' && how[0] !== '-m') {
      writeFileSync(join(repository, 'f'), '1\nTWO\n3\n');
      git(repository, 'commit', '-qam', 'Mine');
      expect(listed(repository)).toMatchObject({ merge: 'clean', diff: rest });
    }
    if (rest.files === 0) return;
    const report = JSON.parse(agtOk(repository, 'accept', 's1', '--keep', '-m', 'Rest', '--json'));
    expect(report.files).toHaveLength(rest.files);
    expect(diffOf(repository)).toEqual({ files: 0, insertions: 0, deletions: 0 });
    expect(readFileSync(join(sandbox, 'f'), 'utf8')).toBe('1\ntwo\n3\n');
  },
);

test('sync takes what the user made of landed lines without a conflict, and leaves other conflicts', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `${i}\n`);
  const { repository, sandbox } = makeSession({ f: lines.join(''), g: 'g\n' });
  const put = (at: string, i: number, text: string, name = 'f') =>
    writeFileSync(join(at, name), readFileSync(join(at, name), 'utf8').split('\n').with(i, text).join('\n'));
  const commit = (at: string, message: string) => git(at, 'commit', '-qam', message);
  put(sandbox, 3, 'three');
  commit(sandbox, 'three');
  put(sandbox, 20, 'twenty');
  put(sandbox, 0, 'of the agent', 'g');
  commit(sandbox, 'twenty');
  agtOk(repository, 'accept', 's1', '--keep', '--commits', git(sandbox, 'rev-parse', 'HEAD~1'));
  put(repository, 3, 'three, by the user');
  commit(repository, 'Mine');
  expect(agt(repository, 'session', 'sync', 's1', '-n')).toMatchObject({ exitCode: 0, stderr: '' });
  agtOk(repository, 'session', 'sync', 's1');
  const both = lines.with(3, 'three, by the user\n').with(20, 'twenty\n').join('');
  expect(readFileSync(join(sandbox, 'f'), 'utf8')).toBe(both);
  expect(git(sandbox, 'status', '--porcelain')).toBe('');
  expect(git(sandbox, 'log', '-1', '--format=%P%n%B').trim()).toBe(
    `${git(sandbox, 'rev-parse', 'HEAD^1')} ${git(repository, 'rev-parse', 'main')}\nMerge branch 'main' into agt/s1`,
  );
  agtOk(repository, 'undo', 's1');
  put(repository, 0, 'of the user', 'g');
  commit(repository, 'Mine, too');
  for (const dry of [['-n'], []])
    expect(JSON.parse(agt(repository, 'session', 'sync', 's1', '--json', ...dry).stdout)).toMatchObject({
      conflicts: ['g'],
    });
  expect(git(sandbox, 'status', '--porcelain')).toBe('M  f\nUU g');
  expect(readFileSync(join(sandbox, 'f'), 'utf8')).toBe(both);
});

test.each([1, 14])(
  'a renamed file landed, and the user renames it again: a sync brings %i later lines there',
  (count) => {
    const lines = Array.from({ length: 20 }, (_, i) => `${i}\n`);
    const { repository, sandbox, id } = makeSession({ a: lines.join('') });
    const file = join(sandbox, 'b');
    git(sandbox, 'mv', 'a', 'b');
    git(sandbox, 'commit', '-qm', 'renamed');
    agtOk(repository, 'accept', id, '--keep');
    const later = lines.map((line, i) => (i < count ? `later ${line}` : line)).join('');
    writeFileSync(file, later);
    git(sandbox, 'commit', '-qam', 'later');
    mkdirSync(join(repository, 'd'));
    git(repository, 'mv', 'b', 'd/c');
    git(repository, 'commit', '-qm', 'renamed again');
    appendFileSync(file, 'uncommitted\n');
    const refused = agt(repository, 'sync', id);
    expect([refused.exitCode, git(sandbox, 'ls-files', '--unmerged')]).toEqual([1, '']);
    git(sandbox, 'checkout', '-q', '--', 'b');
    agtOk(repository, 'sync', id);
    expect([git(sandbox, 'status', '--porcelain'), existsSync(file)]).toEqual(['', false]);
    expect(readFileSync(join(sandbox, 'd/c'), 'utf8')).toBe(later);
  },
);
