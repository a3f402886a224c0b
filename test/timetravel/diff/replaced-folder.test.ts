/** agt session diff where somebody has put a file in the place of a folder of the session. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession } from '../../harness/session.ts';
import { agtOk, write } from '../../harness/world.ts';

test('names the file', () => {
  const session = makeSession({ a: 'a\n' });
  write(join(session.folder, 'config/settings'), '{}\n');
  autocommit(session);
  rmSync(join(session.folder, 'config'), { recursive: true });
  write(join(session.folder, 'config'), 'a file\n');
  autocommit(session);
  rmSync(join(session.folder, 'config'));
  const lines = agtOk(session.repository, 'session', 'diff', 's1', '--stat', '@{1}', '@{0}').split('\n');
  expect(lines.slice(0, -1).map((line) => line.replace(/ +\|.*$/, ''))).toEqual([
    ' config',
    ' config/settings',
  ]);
});
