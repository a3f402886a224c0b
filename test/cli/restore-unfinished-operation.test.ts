/** agt session restore, undo and redo of a merge, rebase, cherry-pick or revert that is not finished. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

describe('agt session restore', () => {
  describe('restores an unfinished', () => {
    /** A sandbox whose branch and main both changed `a`. */
    const conflict = (): TestSession => {
      const session = makeSession({ a: 'a\n' });
      write(join(session.sandbox, 'a'), 'theirs\n');
      git(session.sandbox, 'commit', '-q', '-am', 'In the sandbox');
      write(join(session.repository, 'a'), 'ours\n');
      git(session.repository, 'commit', '-q', '-am', 'On main');
      return session;
    };
    test.each([
      ['merge', ['merge', 'main'], ['merge', '--continue']],
      ['rebase', ['rebase', 'main'], ['rebase', '--continue']],
      ['cherry-pick', ['cherry-pick', 'main'], ['cherry-pick', '--continue']],
      ['revert', ['revert', '--no-edit', 'HEAD'], ['revert', '--continue']],
    ])('%s that was aborted, so that git can continue it', (_, start, proceed) => {
      const session = conflict();
      if (start[0] === 'revert') {
        write(join(session.sandbox, 'a'), 'on it\n');
        git(session.sandbox, 'commit', '-q', '-am', 'On it');
        start = [...start.slice(0, 2), 'HEAD~1'];
      }
      expect(run(REAL_GIT, start, { cwd: session.sandbox }).exitCode).not.toBe(0);
      const status = git(session.sandbox, 'status', '--porcelain=v2');
      autocommit(session, '--label', 'then');
      expect(autocommit(session).outcome).toBe('unchanged');
      git(session.sandbox, start[0] as string, '--abort');
      const done = agt(session.repository, 'session', 'restore', 's1', '--to', 'then');
      expect(done.stderr).toBe('');
      expect(git(session.sandbox, 'status', '--porcelain=v2')).toBe(status);
      write(join(session.sandbox, 'a'), 'resolved\n');
      git(session.sandbox, 'add', 'a');
      const env = { GIT_EDITOR: 'true' };
      expect(run(REAL_GIT, proceed, { cwd: session.sandbox, env })).toMatchObject({ exitCode: 0 });
    });

    test('merge: undo ends it, redo restores it', () => {
      const session = conflict();
      autocommit(session);
      run(REAL_GIT, ['merge', 'main'], { cwd: session.sandbox });
      agtOk(session.sandbox, 'session', 'undo');
      expect(git(session.sandbox, 'status')).not.toContain('merg');
      expect(git(session.sandbox, 'status', '--porcelain')).toBe('');
      agtOk(session.sandbox, 'session', 'redo');
      expect(git(session.sandbox, 'status')).toContain('You have unmerged paths');
    });
  });
});
