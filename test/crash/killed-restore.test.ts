/** The half that a killed restore has left is no step, whoever captures it, and agt's temporary file is nobody's. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

const KILLABLE = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

/** Two snapshots, and a restore to the first one that was killed; `texts` reads the folder. */
function killedRestore(point: string) {
  const { repository, sandbox } = makeSession();
  for (const text of ['big', 'small']) {
    for (const name of ['a', 'b', 'd/c']) write(join(sandbox, name), text);
    agtOk(repository, 'autocommit', '--session-id', 's1', '--label', text);
  }
  const env = { AGT_TEST_KILL_AT: point, AGT_GIT_PATH: REAL_GIT };
  const killed = run(process.execPath, [KILLABLE, 'restore', 's1', 'big'], { cwd: repository, env });
  expect(killed.exitCode).toBe(null);
  const texts = () => ['a', 'b', 'd/c'].map((name) => readFileSync(join(sandbox, name), 'utf8')).join(' ');
  return { repository, sandbox, texts };
}

const CAPTURES = {
  'a refused redo': ['redo', 's1'],
  'an autocommit': ['autocommit', '--session-id', 's1'],
};

test.each([
  ['a refused redo', ['restore', 's1', 'big']],
  ['a refused redo', ['doctor', '--fix']],
  ['an autocommit', ['restore', 's1', 'big']],
] as const)('captured by %s, then finished by agt %j', (by, finish) => {
  const { repository, sandbox, texts } = killedRestore('checkout: file written#2');
  expect(texts()).toBe('big small small');
  agt(repository, ...CAPTURES[by]);
  agtOk(repository, ...finish);
  expect(texts()).toBe('big big big');
  expect(readdirSync(sandbox, { recursive: true }).join()).not.toContain('.tmp');
  agtOk(repository, 'undo', 's1');
  expect(texts()).toBe('small small small');
  agtOk(repository, 'redo', 's1');
  expect(texts()).toBe('big big big');
  const branch = git(repository, 'for-each-ref', '--format=%(refname)', 'refs/heads/agt/').split('\n');
  expect(git(repository, 'log', '--name-only', '--format=', ...branch)).not.toContain('.tmp');
});

test('an undo takes a killed restore back, and names the half that it leaves', () => {
  const { repository, texts } = killedRestore('checkout: file written#2');
  const way = /^to take this back: agt (.*)$/m.exec(agtOk(repository, 'undo', 's1'))?.[1] ?? '';
  expect(texts()).toBe('small small small');
  agtOk(repository, ...way.split(' '));
  expect(texts()).toBe('big small small');
  agtOk(repository, 'undo', 's1');
  expect(texts()).toBe('small small small');
});
