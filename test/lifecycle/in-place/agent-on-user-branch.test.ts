/** The agent switches to the user's own branch, and works or commits there. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtOk, git, run, write } from '../../harness/world.ts';
import { begin, busyCheckout, look } from './checkout.ts';

test('everything of the user comes back, however the session ends', () => {
  const repository = busyCheckout();
  const before = look(repository);
  for (const end of ['remove', 'reject']) {
    begin(repository, end);
    git(repository, 'switch', '-q', 'main');
    write(join(repository, 'b'), 'by the agent\n');
    write(join(repository, 'agent'), 'agent\n');
    agtOk(repository, end, end);
    expect(look(repository)).toEqual(before);
    expect(agtOk(repository, 'session', 'cat', end, '@{0}:b')).toBe('by the agent');
  }
  begin(repository, 's3');
  git(repository, 'switch', '-q', 'main');
  write(join(repository, 'agent'), 'agent\n');
  git(repository, 'add', 'agent');
  const env = { GIT_COMMITTER_DATE: new Date().toISOString() };
  run('git', ['commit', '-qm', 'on the branch of the user'], { cwd: repository, env });
  agtOk(repository, 'session', 'sweep');
  const hash = git(repository, 'rev-parse', '--short', 'HEAD');
  const line = `stays    1 commit on main, made since the session began: ${hash} on the branch of the user`;
  for (const end of ['reject', 'remove']) expect(agtOk(repository, end, 's3', '-n')).toContain(`\n${line}`);
  expect(agtOk(repository, 'remove', 's3')).toContain(`\n${line}`);
  const after = look(repository);
  expect(git(repository, 'show', '--format=', '--name-only', 'main')).toBe('agent');
  expect(after.status).toBe(before.status);
});
