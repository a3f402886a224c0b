import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endedDaysAgo } from '../harness/opened.ts';
import { sessionIn } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

function commit(worktree: string, path: string, content: string): void {
  write(join(worktree, path), content);
  git(worktree, 'add', '-A');
  git(worktree, 'commit', '-q', '-m', `${path}: ${content}`);
}

describe('work that came home in another form', () => {
  test('squashed or rebased commits do not keep remove and gc from deleting the work branch; others do', () => {
    const repository = makeRepository({ 'a.txt': 'a\n' });
    const ids = ['squashed', 'rebased', 'at-remote', 'fast-forward', 'cancelled', 'open'];
    const sessions = new Map(ids.map((id) => [id, sessionIn(repository, id)]));
    for (const [id, { sandbox }] of sessions) {
      commit(sandbox, `${id}.txt`, 'one\n');
      commit(sandbox, `${id}.txt`, 'two\n');
      if (id === 'cancelled') git(sandbox, 'revert', '--no-edit', 'HEAD', 'HEAD~1');
    }
    git(repository, 'merge', '-q', '--squash', 'agt/squashed');
    git(repository, 'commit', '-q', '-m', 'squash');
    git(repository, 'cherry-pick', 'agt/rebased~1', 'agt/rebased');
    for (const id of ['squashed', 'rebased']) commit(repository, `${id}.txt`, 'three\n');
    // A pull request that was squashed at the remote: the user's branch does not have it yet.
    git(repository, 'clone', '-q', '--bare', '.', '../remote.git');
    git(repository, 'remote', 'add', 'origin', '../remote.git');
    git(repository, 'checkout', '-q', '--detach');
    git(repository, 'merge', '-q', 'agt/fast-forward');
    git(repository, 'merge', '-q', '--squash', 'agt/at-remote');
    git(repository, 'commit', '-q', '-m', 'squash at the remote');
    git(repository, 'push', '-q', 'origin', 'HEAD:main');
    git(repository, 'fetch', '-q', 'origin');
    git(repository, 'checkout', '-q', 'main');

    const table = agtOk(repository, 'list');
    for (const id of ['at-remote', 'fast-forward'])
      expect(table).toMatch(new RegExp(`^${id} .* merged on origin/main {2}`, 'm'));
    expect(table).toMatch(/^squashed .* merged {2}/m);
    for (const id of ['cancelled', 'open']) {
      const refused = agt(repository, 'remove', id, '--delete-branch');
      expect(refused.stderr).toMatch(/has [24] commits on its HEAD neither exported nor merged/);
    }
    agtOk(repository, 'remove', 'at-remote', '--delete-branch');
    agtOk(repository, 'remove', 'squashed', '--delete-branch', '--dry-run');
    for (const id of ids.filter((id) => id !== 'at-remote')) {
      agtOk(repository, 'remove', id);
      const session = sessions.get(id);
      if (session !== undefined) endedDaysAgo(session, 31);
    }
    agtOk(repository, 'gc');
    expect(git(repository, 'branch', '--list', '--format=%(refname:short)', 'agt/*').split('\n')).toEqual([
      'agt/cancelled',
      'agt/open',
    ]);
  });
});

const LINES = Array.from({ length: 30 }, (_, i) => `${i}\n`);
const withLine = (at: number, text: string, lines = LINES) => lines.with(at, `${text}\n`);

/** A session `s1` whose agent has changed line 5, and if `both` line 15 in another commit. */
function sessionWithCommits(both = false) {
  const repository = makeRepository({ f: LINES.join('') });
  const { sandbox } = sessionIn(repository, 's1');
  commit(sandbox, 'f', withLine(5, 'five').join(''));
  if (both) commit(sandbox, 'f', withLine(15, 'xv', withLine(5, 'five')).join(''));
  commit(repository, 'other', 'other\n');
  return { repository, sandbox };
}

function squash(repository: string): void {
  git(repository, 'merge', '-q', '--squash', 'agt/s1');
  git(repository, 'commit', '-q', '-m', 'squash');
}

/** The user changes one line of a file. */
function edit(repository: string, from: string, to: string): void {
  const lines = readFileSync(join(repository, 'f'), 'utf8').split('\n');
  commit(repository, 'f', lines.with(lines.indexOf(from), to).join('\n'));
}

const statusOf = (repository: string, id = 's1') =>
  JSON.parse(agtOk(repository, 'list', '--json')).find(
    (one: { session_id: string }) => one.session_id === id,
  );

const MERGED = { merge: null, merged: true, diff: { files: 0 } };

describe('work that came home, and the branch goes on', () => {
  test.each(['squash', 'squash of two', 'cherry-pick', 'by hand'])('%s: it stays merged', (how) => {
    const { repository, sandbox } = sessionWithCommits(how !== 'squash');
    if (how === 'by hand') git(sandbox, 'reset', '-q', 'HEAD~2');
    if (how === 'by hand') commit(repository, 'f', withLine(15, 'xv', withLine(5, 'five')).join(''));
    else if (how === 'cherry-pick') git(repository, 'cherry-pick', 'agt/s1~1', 'agt/s1');
    else squash(repository);
    edit(repository, '6', 'six');
    expect(statusOf(repository)).toMatchObject(MERGED);
    expect(agt(repository, 'accept', 's1', '-n').stderr).toContain('nothing to accept: "main" has all work');
    edit(repository, 'five', 'FIVE');
    expect(statusOf(repository)).toMatchObject(MERGED);
    // Somebody takes it back by hand.
    edit(repository, 'FIVE', '5');
    expect(statusOf(repository)).toMatchObject({ merge: 'conflict', merged: false });
  });

  test('what the branch takes back is not merged: by a revert in another context, and by hand', () => {
    const { repository } = sessionWithCommits();
    squash(repository);
    edit(repository, '8', 'eight');
    expect(statusOf(repository)).toMatchObject({ merged: true });
    git(repository, 'revert', '--no-edit', 'HEAD~1');
    expect(statusOf(repository)).toMatchObject({ merge: 'clean', merged: false });
    git(repository, 'revert', '--no-edit', 'HEAD');
    edit(repository, 'five', 'FIVE');
    edit(repository, 'FIVE', '5');
    expect(statusOf(repository)).toMatchObject({ merge: 'clean', merged: false });
    expect(agtOk(repository, 'remove', '--merged', '-n')).toBe('');
  });

  test('list, diff --base and review show the rest that accept would take', () => {
    const { repository, sandbox } = sessionWithCommits();
    write(join(sandbox, 't'), 'todo\n');
    squash(repository);
    expect(statusOf(repository)).toMatchObject({
      merge: 'clean',
      merged: false,
      diff: { files: 1, insertions: 1 },
    });
    expect(agtOk(repository, 'diff', 's1', '--base', '--name-only')).toBe('t');
    const hunks: { path: string }[] = JSON.parse(agtOk(repository, 'review', 's1', '--json'));
    expect(hunks.map(({ path }) => path)).toEqual(['t']);
    expect(agt(repository, 'accept', 's1', '-n', '--exclude', 't').stderr).toBe(
      'error: the patterns leave no changed file, and nothing has changed\nhint: these would land: t\n',
    );
    git(repository, 'revert', '--no-edit', 'HEAD');
    expect(statusOf(repository)).toMatchObject({ diff: { files: 2 } });
    expect(agtOk(repository, 'diff', 's1', '--base', '--name-only')).toBe('f\nt');
  });

  test('of two acceptances the branch has reverted the last one: the other is no difference', () => {
    const { repository } = sessionWithCommits(true);
    agtOk(repository, 'accept', 's1', '--keep', '--commits', 'agt/s1~1');
    agtOk(repository, 'accept', 's1', '--keep');
    git(repository, 'revert', '--no-edit', 'HEAD');
    expect(statusOf(repository)).toMatchObject({ merged: false, diff: { insertions: 1, deletions: 1 } });
    expect(agtOk(repository, 'accept', 's1', '-n')).toContain('1 file changed, +1 -1');
  });

  test('a restore takes work out that has landed: clean or a conflict, and its prompt is no message', () => {
    const { repository, sandbox } = sessionIn(makeRepository({ a: '1\n2\n3\n' }));
    const agent = agentIn(sandbox, 'claude-code', 'c-1');
    agent.says('Add lines');
    agent.begins('1');
    write(join(sandbox, 'a'), '1\n2\n3\n4\n');
    write(join(sandbox, 'c'), 'c\n');
    agent.ends('1');
    agent.says('Add b');
    agent.begins('2');
    write(join(sandbox, 'b'), 'b\n');
    agent.ends('2');
    agtOk(repository, 'accept', 's1', '--include', 'a', '--include', 'c', '--keep', '-m', 'Part');
    agtOk(repository, 'restore', 's1', 'Add lines');
    expect(statusOf(repository)).toMatchObject({ merge: 'clean', diff: { insertions: 0, deletions: 2 } });
    expect(agtOk(repository, 'list')).toContain(' clean, accepted in part ');
    const turns: { stands: boolean }[] = JSON.parse(
      agtOk(repository, 'session', 'log', 's1', '--turns', '--json'),
    );
    expect(turns.map(({ stands }) => stands)).toEqual([false, false]);
    commit(repository, 'a', '1\n2\n3\nfour\n');
    expect(statusOf(repository)).toMatchObject({ merge: 'conflict', merged: false });
    git(repository, 'reset', '-q', '--hard', 'HEAD~1');
    agtOk(repository, 'accept', 's1', '--keep');
    expect(git(repository, 'log', '-1', '--format=%s')).toBe('Work of session s1');
    expect(statusOf(repository)).toMatchObject({ merge: null, merged: true, diff: { deletions: 0 } });
  });

  test('a fork with nothing of its own is merged as its parent is', () => {
    const { repository } = sessionWithCommits();
    agtOk(repository, 'fork', 's1', '--id', 's2');
    agtOk(repository, 'new', 'fresh');
    agtOk(repository, 'fork', 'fresh', '--id', 'fork-of-fresh');
    git(repository, 'merge', '-q', '--no-edit', 'agt/s1');
    const merged = ['s1', 's2', 'fresh', 'fork-of-fresh'].map((id) => statusOf(repository, id).merged);
    expect(merged).toEqual([true, true, false, false]);
  });

  test('of a fork whose parent has landed, its own uncommitted lines alone differ and land, without a conflict', () => {
    const { repository, sandbox } = sessionIn(makeRepository({ a: 'a\n' }));
    commit(sandbox, 't', 'tax\n');
    agtOk(repository, 'fork', 's1', '--id', 's2');
    write(join(agtOk(repository, 'path', 's2'), 't'), 'tax\nwip\n');
    expect(agtOk(repository, 'accept', 's1', 's2', '-n')).toContain(
      'would accept s2: 1 file changed, +1 -0\n',
    );
    agtOk(repository, 'accept', 's1');
    expect(agtOk(repository, 'diff', 's2', '--base', '--shortstat')).toContain(
      '1 file changed, 1 insertion(+)',
    );
    const own = { merge: 'clean', merged: false, diff: { files: 1, insertions: 1, deletions: 0 } };
    expect(statusOf(repository, 's2')).toMatchObject(own);
    commit(repository, 'other', 'other\n');
    expect(statusOf(repository, 's2')).toMatchObject(own);
    agtOk(repository, 'accept', 's2');
    expect(git(repository, 'show', '--format=%s', '--numstat', 'main')).toBe('Work of session s2\n\n1\t0\tt');
  });

  test.each([['--untracked=none'], ['--keep', '--include', 't']])(
    'of a fork whose parent has landed in part (%s), the list counts what accept would take',
    (...options) => {
      const { repository, sandbox } = sessionIn(makeRepository({ a: 'a\n' }));
      commit(sandbox, 't', 'tax\n');
      write(join(sandbox, 'note'), 'note\n');
      agtOk(repository, 'fork', 's1', '--id', 's2');
      commit(agtOk(repository, 'path', 's2'), 'own', 'own\n');
      agtOk(repository, 'accept', 's1', ...options);
      expect(agtOk(repository, 'accept', 's2', '-n')).toContain('2 files changed, +2 -0\n');
      expect(statusOf(repository, 's2')).toMatchObject({ diff: { files: 2, insertions: 2, deletions: 0 } });
    },
  );

  test.each([
    ['--commits', 'agt/s1~1'],
    ['--include', 'a'],
  ])('of a fork whose parent has landed in part (%s), what the user has made of that stays', (...part) => {
    const { repository, sandbox } = sessionIn(makeRepository({ a: 'a\n' }));
    commit(sandbox, 'a', 'landed\n');
    commit(sandbox, 'own', 'own\n');
    agtOk(repository, 'fork', 's1', '--id', 's2');
    agtOk(repository, 'accept', 's1', '--keep', ...part);
    commit(repository, 'a', 'of the user\n');
    const own = { files: 1, insertions: 1, deletions: 0 };
    expect(statusOf(repository, 's2')).toMatchObject({ merge: 'clean', diff: own });
    commit(repository, 'own', 'in the way\n');
    expect(statusOf(repository, 's2')).toMatchObject({ merge: 'conflict', diff: own });
    git(repository, 'reset', '-q', '--hard', 'HEAD~1');
    agtOk(repository, 'accept', 's2');
    expect(git(repository, 'show', '--format=', '--numstat', 'main')).toBe('1\t0\town');
  });

  test('a part is accepted on another branch, and the user branch has all of it', () => {
    const { repository } = sessionWithCommits(true);
    git(repository, 'branch', 'release', 'HEAD~1');
    agtOk(repository, 'accept', 's1', '--commits', 'agt/s1~1', '--onto', 'release', '--keep');
    git(repository, 'cherry-pick', 'agt/s1~1', 'agt/s1');
    expect(agtOk(repository, 'list')).toContain(' merged, accepted before on release ');
    expect(statusOf(repository)).toMatchObject({ merged: true });
  });

  test('nothing since an acceptance but a sync is merged; nothing since it was dropped on both sides is not', () => {
    const { repository, sandbox } = sessionIn(makeRepository({ a: 'a\n' }));
    write(join(sandbox, 'new'), 'new\n');
    agtOk(repository, 'accept', 's1', '--keep', '--untracked=all');
    commit(repository, 'other', 'other\n');
    agtOk(repository, 'sync', 's1');
    const why = () => [statusOf(repository).merged, agt(repository, 'accept', 's1', '-n').stderr];
    expect(why()).toEqual([true, expect.stringContaining('"main" has all work of session "s1"')]);
    const start = git(repository, 'rev-parse', 'main~2');
    for (const one of [repository, sandbox]) git(one, 'reset', '-q', '--hard', start);
    expect(why()).toEqual([false, expect.stringContaining('session "s1" has changed nothing yet')]);
  });
});
