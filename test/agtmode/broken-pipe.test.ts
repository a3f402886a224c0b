/**
 * A reader that ends early changes nothing: no message, no other exit code, and the work is done. A slow one gets everything,
 * also where another process has made the pipe non-blocking.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, git, run, write } from '../harness/world.ts';

test.each([
  ['status', 0],
  ['session list', 0],
  ['list --watch --json', 0],
  ['session log s1 --stat', 0],
  // This becomes git, which ends as git does.
  ['session diff s1', 141],
  ['du', 0],
  ['config list', 0],
  ['autocommit --session-id s1', 0],
  ['help', 0],
  ['session list --help', 0],
])('agt %s', (words, exitCode) => {
  const session = makeSession();
  write(join(session.sandbox, 'a'), 'one\n');
  const script = `{ sleep 0.2; "$0" ${words}; echo "code $?" >&2; } | true`;
  const outcome = run('sh', ['-c', script, AGT], { cwd: session.repository });
  expect(outcome.stderr).toBe(`code ${exitCode}\n`);
  if (words.startsWith('autocommit'))
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/a')).toBe('one');
});

test('a slow reader of a non-blocking pipe gets everything', ({ skip }) => {
  const perl = spawnSync('perl', ['-MFcntl', '-e', '1']);
  skip(perl.status !== 0, 'there is no perl(1), which makes the pipe non-blocking');
  const session = makeSession();
  for (let n = 0; n < 2000; n++) write(join(session.sandbox, `file with a long name, number ${n}`), 'x');
  const words = ['autocommit', 's1', '-n', '--json'];
  const expected = run(AGT, words, { cwd: session.repository }).stdout;
  expect(expected.length).toBeGreaterThan(100_000);
  const nonBlocking = 'fcntl(STDOUT, F_SETFL, O_NONBLOCK | fcntl(STDOUT, F_GETFL, 0)); exec @ARGV';
  const script = `perl -MFcntl -e '${nonBlocking}' "$0" "$@" | { sleep 0.5; cat; }`;
  const outcome = run('sh', ['-c', script, AGT, ...words], { cwd: session.repository });
  expect(outcome.stderr).toBe('');
  expect(JSON.parse(outcome.stdout).changes).toEqual(JSON.parse(expected).changes);
});
