import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endedDaysAgo } from '../harness/opened.ts';
import { sessionIn } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, write } from '../harness/world.ts';

function commit(worktree: string, path: string, content: string): void {
  write(join(worktree, path), content);
  git(worktree, 'add', '-A');
  git(worktree, 'commit', '-q', '-m', `${path}: ${content}`);
}

describe('work that came home in another form', () => {
  test('squashed or rebased commits do not keep remove and gc from deleting the work branch; others do', () => {
    const repository = makeRepository({ 'a.txt': 'a\n' });
    const ids = ['squashed', 'rebased', 'at-remote', 'cancelled', 'open'];
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
    git(repository, 'merge', '-q', '--squash', 'agt/at-remote');
    git(repository, 'commit', '-q', '-m', 'squash at the remote');
    git(repository, 'push', '-q', 'origin', 'HEAD:main');
    git(repository, 'fetch', '-q', 'origin');
    git(repository, 'checkout', '-q', 'main');

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
