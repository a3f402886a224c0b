/** A session and its fork land one after the other: what has landed with one is no work of the other any more. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endedDaysAgo } from '../harness/opened.ts';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, run, write } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');
const LINES = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];

/** `s1` has committed a line, and `s2` goes on from there. */
function forked() {
  const session = makeSession({ f: `${LINES.join('\n')}\n`, other: 'x\n' });
  const { repository, sandbox } = session;
  const commitLine = (worktree: string, at: number, text: string) => {
    const lines = git(worktree, 'show', 'HEAD:f').split('\n');
    write(join(worktree, 'f'), `${lines.with(at - 1, text).join('\n')}\n`);
    git(worktree, 'commit', '-qam', text);
  };
  const fork = (id: string, from = 's1') => {
    agtOk(repository, 'fork', from, '--id', id);
    return agtOk(repository, 'path', id);
  };
  commitLine(sandbox, 3, 'three');
  const row = (id: string) =>
    JSON.parse(agtOk(repository, 'list', '--all', '--json')).find(
      (one: { session_id: string }) => one.session_id === id,
    );
  const linesOn = (branch = 'main') => git(repository, 'show', `${branch}:f`).split('\n');
  const last = () => git(repository, 'log', '-1', '--format=%s', '--numstat', 'main').split('\n\n');
  return { session, repository, sandbox, fork, commitLine, row, linesOn, last };
}

const OWN = { ahead: 1, merge: 'clean', merged: false, diff: { files: 1, insertions: 1, deletions: 1 } };
const STAT = ' 1 file changed, 1 insertion(+), 1 deletion(-)';

describe('a session and its fork', () => {
  test.each([
    { first: 's1', second: 's2', told: 'three; nine', own: 'THREE' },
    { first: 's2', second: 's1', told: 'three; THREE', own: 'nine' },
  ])('$first lands, then $second lands what is its own', ({ first, second, told, own }) => {
    const { repository, sandbox, fork, commitLine, row, linesOn, last } = forked();
    commitLine(fork('s2'), 3, 'THREE');
    commitLine(sandbox, 9, 'nine');
    const planned = agtOk(repository, 'accept', first, second, '-n');
    expect(planned).toContain(`would accept ${second}: 1 file changed, +1 -1\n`);
    agtOk(repository, 'accept', first);
    expect(last()).toEqual([told, expect.any(String)]);
    expect(row(second)).toMatchObject(OWN);
    expect(agtOk(repository, 'diff', second, '--base', '--shortstat')).toBe(STAT);
    expect(agtOk(repository, 'accept', second, '-n')).toContain(`\n    ${own}\n`);
    const kept = agtOk(repository, 'accept', second, '--keep-commits', '-n');
    expect(kept).toContain(`would accept ${second}: 1 file changed, +1 -1\n`);
    agtOk(repository, 'accept', second);
    expect(last()).toEqual([own, '1\t1\tf']);
    expect(linesOn()).toEqual(LINES.with(2, 'THREE').with(8, 'nine'));
  });

  test('what the branch has changed since conflicts with a change of the same line alone', () => {
    const { repository, fork, commitLine, row, linesOn } = forked();
    commitLine(fork('s2'), 3, 'THREE');
    commitLine(fork('s3'), 9, 'nine');
    agtOk(repository, 'accept', 's1');
    commitLine(repository, 3, 'drei');
    expect(row('s2')).toMatchObject({ ...OWN, merge: 'conflict' });
    const { stderr } = agt(repository, 'accept', 's2');
    expect(stderr).toMatch(/conflicts with "main" in 1 file.*agt sync s2\n$/s);
    agtOk(repository, 'accept', 's3');
    expect(linesOn()).toEqual(LINES.with(2, 'drei').with(8, 'nine'));
  });

  test('a fork of a fork; one without work of its own is merged, and goes with the merged ones', () => {
    const { repository, fork, commitLine, row, linesOn } = forked();
    commitLine(fork('s2'), 3, 'THREE');
    const s3 = fork('a3', 's2');
    fork('s4', 's2');
    commitLine(s3, 3, 'III');
    agtOk(repository, 'accept', 's1');
    expect(row('a3')).toMatchObject({ ...OWN, ahead: 2 });
    agtOk(repository, 'accept', 'a3');
    expect(linesOn()).toEqual(LINES.with(2, 'III'));
    const none = { ahead: 0, merge: null, merged: true, diff: { files: 0, insertions: 0, deletions: 0 } };
    for (const id of ['s2', 's4']) {
      expect(row(id)).toMatchObject(none);
      expect(agt(repository, 'accept', id).stderr).toContain(`"main" has all work of session "${id}"`);
    }
    const gone = JSON.parse(agtOk(repository, 'remove', '--merged', '--json'));
    expect(gone.map((one: { session_id: string }) => one.session_id)).toEqual(['s2', 's4']);
  });

  test('what has landed with a fork is no commit of its own, after a sync and in a rebase', () => {
    const { repository, sandbox, fork, commitLine, row } = forked();
    const s2 = fork('s2');
    commitLine(s2, 7, 'seven');
    agtOk(repository, 'accept', 's2', '--keep');
    commitLine(s2, 5, 'five');
    commitLine(sandbox, 9, 'nine');
    const rebased = 'would rebase 1 commit of s1 onto main, which has 1 new commit\n';
    expect(`${agtOk(repository, 'sync', 's1', '--rebase', '-n')}\n`).toBe(rebased);
    agtOk(repository, 'sync', 's1');
    expect(row('s1')).toMatchObject({ ahead: 2 }); // with the merge
    agtOk(repository, 'undo', 's1');
    agtOk(repository, 'sync', 's1', '--rebase');
    expect(git(sandbox, 'log', '--format=%s', 'main..')).toBe('nine');
  });

  test.each(['a part', 'taken back', 'reverted', 'on another branch'])('%s: not landed', (how) => {
    const { repository, sandbox, fork, commitLine, row } = forked();
    write(join(sandbox, 'new'), 'new\n');
    git(sandbox, 'add', 'new');
    git(sandbox, 'commit', '-qm', 'new');
    commitLine(fork('s2'), 9, 'nine');
    git(repository, 'branch', 'release');
    const words = { 'a part': ['--exclude', 'new'], 'on another branch': ['--onto', 'release'] }[how] ?? [];
    agtOk(repository, 'accept', 's1', ...words);
    if (how === 'taken back') agtOk(repository, 'unaccept', 's1');
    if (how === 'reverted') git(repository, 'revert', '--no-edit', 'HEAD');
    expect(row('s2')).toMatchObject({ ahead: 3, merge: 'clean', diff: { files: 2 } });
    agtOk(repository, 'accept', 's2');
    expect(git(repository, 'ls-tree', '--name-only', 'main').split('\n')).toEqual(['f', 'new', 'other']);
  });

  test.each([['--untracked=none'], ['--exclude', 'note'], ['--committed-only']])(
    'all commits have landed, by accept %s',
    (...words) => {
      const { repository, sandbox, fork, commitLine, row, linesOn, last } = forked();
      write(join(sandbox, 'note'), 'note\n');
      commitLine(fork('s2'), 3, 'THREE');
      agtOk(repository, 'accept', 's1', ...words);
      expect(row('s2')).toMatchObject({ ...OWN, diff: { files: 2, insertions: 2, deletions: 1 } });
      expect(agtOk(repository, 'diff', 's2', '--base', '--shortstat')).toContain(
        '2 insertions(+), 1 deletion(-)',
      );
      expect(agtOk(repository, 'review', 's2')).toContain('-three\n+THREE\n');
      agtOk(repository, 'accept', 's2', '--untracked=none');
      expect([last(), linesOn()]).toEqual([['THREE', '1\t1\tf'], LINES.with(2, 'THREE')]);
    },
  );

  test.each(['landing: branch moved#1', 'landing: source kept#1', 'landing: recorded#1'])(
    'all commits have landed, by an accept that was killed: %s',
    (point) => {
      const { repository, sandbox, fork, commitLine, row } = forked();
      write(join(sandbox, 'note'), 'note\n');
      commitLine(fork('s2'), 3, 'THREE');
      const words = ['accept', 's1', '--untracked=none'];
      const env = { AGT_TEST_KILL_AT: point };
      expect(run(process.execPath, [KILLABLE, ...words], { cwd: repository, env }).exitCode).toBe(null);
      agtOk(repository, ...words);
      expect(row('s2')).toMatchObject({ ...OWN, diff: { files: 2, insertions: 2, deletions: 1 } });
    },
  );

  test.each(['excluded', 'and changed since'])('a committed file that was %s has not landed', (how) => {
    const { repository, sandbox, fork, commitLine, row } = forked();
    commitLine(fork('s2'), 3, 'THREE');
    if (how !== 'excluded') write(join(sandbox, 'f'), 'all new\n');
    write(join(sandbox, 'other'), 'y\n');
    agtOk(repository, 'accept', 's1', '--exclude', 'f');
    expect(row('s2')).toMatchObject({ ahead: 2, merge: 'clean', diff: { insertions: 1, deletions: 1 } });
    expect(agtOk(repository, 'accept', 's2', '-n')).toContain('1 file changed, +1 -1\n  M f\n');
  });

  test('after a rebase, and an acceptance of a part: what the branch has is no work of the fork', () => {
    const { repository, sandbox, fork, commitLine, row } = forked();
    git(sandbox, 'rm', '-q', 'other');
    git(sandbox, 'commit', '-qm', 'tidy');
    const s2 = fork('s2');
    commitLine(s2, 9, 'nine');
    write(join(sandbox, 'f'), 'later\n');
    write(join(repository, 'mine'), 'mine\n');
    git(repository, 'add', 'mine');
    git(repository, 'commit', '-qm', 'mine');
    agtOk(repository, 'sync', 's2', '--rebase');
    agtOk(repository, 'accept', 's1', '--keep', '--include', 'other');
    expect(row('s2')).toMatchObject({ merge: 'clean', diff: { files: 1, insertions: 2, deletions: 2 } });
    expect(agtOk(repository, 'diff', 's2', '--base', '--name-only')).toBe('f');
    expect(agtOk(repository, 'review', 's2')).not.toContain('other');
    expect(agtOk(repository, 'accept', 's2', '-n')).toContain('\n    three; nine\n');
  });

  test('syncs before and after the other one has landed', () => {
    const { repository, fork, commitLine, row, linesOn } = forked();
    const [s2, s3] = [fork('s2'), fork('s3')];
    write(join(repository, 'other'), 'main\n');
    git(repository, 'commit', '-qam', 'main');
    agtOk(repository, 'sync', 's2');
    write(join(s2, 'other'), 'x\n');
    commitLine(s2, 3, 'THREE');
    commitLine(s3, 9, 'nine');
    agtOk(repository, 'accept', 's1');
    expect(row('s2')).toMatchObject({ merge: 'clean', diff: { files: 2, insertions: 2, deletions: 2 } });
    expect(agtOk(repository, 'diff', 's2', '--base', '--shortstat')).toContain(
      '2 files changed, 2 insertions',
    );
    const tip = git(repository, 'rev-parse', 'main');
    agtOk(repository, 'sync', 's2');
    expect(linesOn('agt/s2')).toEqual(LINES.with(2, 'THREE'));
    expect(git(repository, 'rev-parse', 'agt/s2^2')).toBe(tip);
    agtOk(repository, 'accept', 's2');
    expect(git(repository, 'show', 'main:other')).toBe('x');
    agtOk(repository, 'accept', 's3');
    expect(linesOn()).toEqual(LINES.with(2, 'THREE').with(8, 'nine'));
  });

  test('both at once, on the same line: each lands, one after the other', async () => {
    const { repository, sandbox, fork, commitLine, linesOn } = forked();
    commitLine(fork('s2'), 3, 'THREE');
    commitLine(sandbox, 9, 'nine');
    const accepted = ['s1', 's2'].map((id) => {
      const child = spawn(AGT, ['accept', id, '-q'], { cwd: repository });
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      return new Promise((done) => child.once('close', (code) => done([code, said])));
    });
    expect(await Promise.all(accepted)).toEqual(Array(2).fill([0, '']));
    expect(linesOn()).toEqual(LINES.with(2, 'THREE').with(8, 'nine'));
  });
});

test('a fork began with uncommitted work of its parent, which has landed since: what it changed there lands', () => {
  const { repository, sandbox } = makeSession({ f: 'f\n' });
  const put = (name: string, text: string, from = sandbox) => write(join(from, name), text);
  put('new', 'one\n');
  put('f', 'f\none\n');
  agtOk(repository, 'fork', 's1', '--id', 'k');
  const fork = agtOk(repository, 'path', 'k');
  put('new', 'one\ntwo\n', fork);
  put('f', 'two\n', fork);
  agtOk(repository, 'accept', 's1', '--untracked=all');
  const [row] = JSON.parse(agtOk(repository, 'list', '--json'));
  expect(row).toMatchObject({ merge: 'clean', diff: { files: 2, insertions: 2, deletions: 2 } });
  const open = agtOk(repository, 'diff', 'k', '--base', '--', 'new');
  expect(open).toMatch(/\n one\n\+two$/);
  expect(agtOk(repository, 'review', 'k')).toMatch(/\n one\n\+two$/);
  agtOk(repository, 'accept', 'k', '--untracked=all');
  expect(git(repository, 'show', 'HEAD:new')).toBe('one\ntwo');
  expect(git(repository, 'show', 'HEAD:f')).toBe('two');
});

test('a fork began with uncommitted work of which its parent has landed an earlier state: only the rest is its own', () => {
  const { repository, sandbox, row } = forked();
  for (const text of ['one\n', 'one\ntwo\n']) {
    write(join(sandbox, 'new'), text);
    agtOk(repository, 'autocommit', 's1');
  }
  agtOk(repository, 'fork', 's1', '--id', 's2');
  agtOk(repository, 'undo', 's1');
  agtOk(repository, 'accept', 's1');
  expect(row('s2')).toMatchObject({ merge: 'clean', diff: { files: 1, insertions: 1, deletions: 0 } });
  agtOk(repository, 'accept', 's2');
  expect(git(repository, 'show', 'main:new')).toBe('one\ntwo');
  expect(git(repository, 'show', '--format=', '--numstat', 'main')).toBe('1\t0\tnew');
});

test('after a sync, the message of a session leaves out commits that have landed with its fork', () => {
  const { repository, sandbox, fork, commitLine, last } = forked();
  commitLine(fork('s2'), 9, 'nine');
  write(join(sandbox, 'other'), 'y\n');
  git(sandbox, 'commit', '-qam', 'other');
  commitLine(sandbox, 5, 'five');
  agtOk(repository, 'accept', 's2', '-m', 'fork');
  agtOk(repository, 'sync', 's1');
  agtOk(repository, 'accept', 's1');
  expect(last()).toEqual(['other; five', '1\t1\tf\n1\t1\tother']);
});

test.each(['s1', 's2'])(
  'agt gc does not forget what has landed with %s while the other one is active',
  (one) => {
    const { session, repository, fork, commitLine, row } = forked();
    commitLine(fork('s2'), 9, 'nine');
    agtOk(repository, 'accept', one);
    commitLine(repository, 3, 'own');
    const other = one === 's1' ? 's2' : 's1';
    const before = row(other);
    expect(before).toMatchObject({ ahead: one === 's1' ? 1 : 0 });
    endedDaysAgo({ ...session, id: one }, 40);
    agtOk(repository, 'gc');
    expect(row(other)).toMatchObject({ ahead: before.ahead, merge: before.merge });
    agtOk(repository, 'remove', other, '--force');
    agtOk(repository, 'gc');
    expect(row(one)).toBe(undefined);
  },
);
