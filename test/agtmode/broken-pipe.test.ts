/** A reader that ends early changes nothing: no message, no other exit code, and the work is done. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, git, run, write } from '../harness/world.ts';

test.each([
  ['status', 0],
  ['session list', 0],
  ['session log s1 --stat', 0],
  // This becomes git, which ends as git does.
  ['session diff s1', 141],
  ['du', 0],
  ['config list', 0],
  ['autocommit --session-id s1', 0],
  ['help', 0],
])('agt %s', (words, exitCode) => {
  const session = makeSession();
  write(join(session.sandbox, 'a'), 'one\n');
  const script = `{ sleep 0.2; "$0" ${words}; echo "code $?" >&2; } | true`;
  const outcome = run('sh', ['-c', script, AGT], { cwd: session.repository });
  expect(outcome.stderr).toBe(`code ${exitCode}\n`);
  if (words.startsWith('autocommit'))
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/a')).toBe('one');
});
