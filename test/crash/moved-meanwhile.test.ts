/** Another process interferes with an autocommit: the fast-import of a killed agt, or a `git gc --prune=now`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession, snapshotTree } from '../harness/session.ts';
import { AGT, agtOk, git, makeTempDir, REAL_GIT, run, runsAsGit, write } from '../harness/world.ts';

/** A git that runs `before` ahead of its first `times` calls of `command`. */
function gitWith(before: string, times: number, command = 'fast-import'): string {
  const bin = makeTempDir('bin');
  const calls = join(bin, 'calls');
  write(calls, '');
  const script = `#!/bin/sh
for word; do [ "$word" = ${command} ] && {
  echo call >>${calls}
  [ $(wc -l <${calls}) -le ${times} ] && { ${before}; }
  exec ${REAL_GIT} "$@"
}; done
exec ${REAL_GIT} "$@"
`;
  write(join(bin, 'git'), script, 0o755);
  return bin;
}

function calls(bin: string): number {
  return readFileSync(join(bin, 'calls'), 'utf8').split('\n').length - 1;
}

/** Moves the session's refs forward, as an orphaned fast-import does. */
const MOVE = [
  `old=$(${REAL_GIT} rev-parse refs/agt/tip/s1)`,
  `new=$(${REAL_GIT} log -1 --format=%B $old | ${REAL_GIT} commit-tree -p $old $old^{tree})`,
  `${REAL_GIT} update-ref refs/agt/tip/s1 $new`,
  `${REAL_GIT} update-ref refs/heads/agtsessions/s1 $new`,
].join('; ');

test('the tip moves in between: the autocommit starts again from there', () => {
  const session = makeSession();
  const { commit } = autocommit(session);
  write(join(session.sandbox, 'x'), 'x\n');
  const bin = gitWith(`sleep 0.3; ${MOVE}`, 1);
  const env = runsAsGit(join(bin, 'git'));
  const outcome = run(AGT, ['autocommit', '--session-id', 's1'], { cwd: session.repository, env });
  expect(outcome.stderr).toBe('');
  expect(outcome.exitCode).toBe(0);
  expect(calls(bin)).toBe(2);
  const chain = git(session.repository, 'rev-list', '--first-parent', `${commit}..agtsessions/s1`).split(
    '\n',
  );
  expect(chain).toHaveLength(2);
  expect(snapshotTree(session, 'agtsessions/s1').get('sandbox/x')).toBe('100644 x\n');
});

test('the tip keeps moving: exit code 1, and the chain is whole', () => {
  const session = makeSession();
  autocommit(session);
  write(join(session.sandbox, 'x'), 'x\n');
  const bin = gitWith(`sleep 0.3; ${MOVE}`, 9);
  const env = runsAsGit(join(bin, 'git'));
  const outcome = run(AGT, ['autocommit', '--session-id', 's1'], { cwd: session.repository, env });
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stderr).toContain('the last snapshot is unchanged');
  expect(calls(bin)).toBe(8);
  expect(autocommit(session).outcome).toBe('committed');
});

test('objects of staged content disappear before the refs move: agt writes them again', () => {
  const session = makeSession();
  autocommit(session);
  write(join(session.sandbox, 'dir/staged'), 'staged\n');
  git(session.sandbox, 'add', '.');
  const bin = gitWith(`sleep 0.5; ${REAL_GIT} prune --expire=now`, 1);
  const env = runsAsGit(join(bin, 'git'));
  const outcome = run(AGT, ['autocommit', '--session-id', 's1'], { cwd: session.repository, env });
  expect(outcome.stderr).toBe('');
  expect(outcome.exitCode).toBe(0);
  expect(git(session.repository, 'cat-file', 'blob', 'agtsessions/s1:_/staged/dir/staged')).toBe('staged');
  expect(git(session.repository, 'fsck', '--strict', '--no-dangling')).toBe('');
});

test('branches are deleted all the time while agt gc reads the refs', () => {
  const { repository } = makeSession();
  agtOk(repository, 'session', 'new', 's2');
  agtOk(repository, 'session', 'remove', 's2');
  for (let i = 0; i < 20; i++) git(repository, 'branch', `passing${i}`);
  const record = join(repository, '.git/agt/sessions/s2.json');
  write(
    record,
    readFileSync(record, 'utf8').replace(/("last_activity_at": ")[^"]*/, '$12020-01-01T00:00:00.000Z'),
  );
  const one = `for-each-ref --count=1 --format='delete %(refname)' 'refs/heads/passing*'`;
  const bin = gitWith(`${REAL_GIT} ${one} | ${REAL_GIT} update-ref --stdin`, 20, 'rev-list');
  const env = runsAsGit(join(bin, 'git'));
  for (const words of [['gc'], ['gc', '--thin', '--prune=now'], ['du']]) {
    const outcome = run(AGT, words, { cwd: repository, env });
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
  }
  expect(calls(bin)).toBeGreaterThan(3);
  expect(agtOk(repository, 'session', 'list', '--all')).not.toContain('s2');
});

test('a session is removed while agt autocommit --all is at work: the others are captured, exit code 0', () => {
  const session = makeSession();
  const { repository } = session;
  agtOk(repository, 'session', 'new', 's2');
  write(join(session.sandbox, 'x'), 'x\n');
  const bin = gitWith(`AGT_GIT_PATH=${REAL_GIT} ${AGT} session remove s2 >&2`, 1);
  const env = runsAsGit(join(bin, 'git'));
  const outcome = run(AGT, ['autocommit', '--all'], { cwd: repository, env });
  expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
  expect(snapshotTree(session, 'agtsessions/s1').get('sandbox/x')).toBe('100644 x\n');
  expect(agtOk(repository, 'session', 'list')).not.toContain('s2');
});
