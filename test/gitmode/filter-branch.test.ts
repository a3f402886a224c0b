/** git filter-branch through git mode rewrites the user's refs alone. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, tryAutocommit } from '../harness/session.ts';
import { agtOk, GIT_MODE, git, run, write } from '../harness/world.ts';

test.each(['--all', '--branches', '--glob=refs/heads/*'])('filter-branch -- %s', (set) => {
  const session = makeSession();
  const { repository } = session;
  git(repository, 'branch', 'other');
  git(repository, 'tag', 'v1');
  write(join(session.sandbox, 'x'), 'x');
  expect(tryAutocommit(session).exitCode).toBe(0);
  const agents = () =>
    git(repository, 'for-each-ref', 'refs/agt', 'refs/heads/agt', 'refs/heads/agtsessions');
  const [before, main] = [agents(), git(repository, 'rev-parse', 'main')];
  const args = ['filter-branch', '-f', '--msg-filter', 'sed s/^/X/', '--', set];
  const outcome = run(GIT_MODE, args, { cwd: repository, env: { FILTER_BRANCH_SQUELCH_WARNING: '1' } });
  expect(outcome.exitCode).toBe(0);
  expect(outcome.stdout + outcome.stderr).not.toMatch(/agt/);
  expect(agents()).toBe(before);
  expect(git(repository, 'for-each-ref', 'refs/original/refs/heads/agt*', 'refs/original/refs/agt')).toBe('');
  expect(git(repository, 'rev-parse', 'main', 'other')).not.toContain(main);
  expect(agtOk(repository, 'session', 'log', 's1')).toContain('@{0}');
});
