/** A tracked file over agt.maxFileSize stays in the snapshots as it was before a change, so no acceptance deletes it. */
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';

const BIG = 'x'.repeat(20_000);

function begin() {
  const session = newSession({ big: BIG, a: 'a\n' });
  agtOk(session.repository, 'config', 'set', 'agt.maxFileSize', '10k');
  const big = join(session.sandbox, 'big');
  utimesSync(big, 1, 1);
  return { ...session, big };
}

test('one with another time only is captured, comes back, and is no deletion', () => {
  const { repository, sandbox } = begin();
  writeFileSync(join(sandbox, 'a'), 'work\n');
  expect(agt(repository, 'autocommit', 's1')).toMatchObject({ exitCode: 0, stderr: '' });
  rmSync(sandbox, { recursive: true });
  expect(agtOk(repository, 'restore', 's1', '@')).toContain('verified');
  expect(git(sandbox, 'status', '--short')).toBe(' M a');
  agtOk(repository, 'remove', 's1');
  agtOk(repository, 'undo', 's1');
  agtOk(repository, 'fork', 's1', '--id', 's2');
  agtOk(repository, 'accept', 's2');
  expect(git(repository, 'show', '--format=', '--name-status', 'main')).toBe('M\ta');
});

test('one that has changed is left out, and named', () => {
  const { repository, big } = begin();
  writeFileSync(big, `${BIG}more\n`);
  expect(agt(repository, 'autocommit', 's1').stderr).toMatch(/sandbox\/big: is larger than agt\.maxFileSize/);
  writeFileSync(big, 'small\n');
  agtOk(repository, 'autocommit', 's1');
  expect(agtOk(repository, 'session', 'cat', 's1', '@:big')).toBe('small');
  writeFileSync(big, `${BIG}more\n`);
  expect(agt(repository, 'accept', 's1').stderr).toContain('cannot capture 1 file');
  agtOk(repository, 'accept', 's1', '--keep');
  expect(git(repository, 'show', '--format=', '--name-status', 'main')).toBe('M\tbig');
});

test('one that has changed and is lost with its sandbox is no deletion', () => {
  const { repository, sandbox, big } = begin();
  writeFileSync(big, `${BIG}more\n`);
  writeFileSync(join(sandbox, 'a'), 'work\n');
  agtOk(repository, 'autocommit', 's1');
  writeFileSync(join(sandbox, 'a'), 'more work\n');
  agtOk(repository, 'autocommit', 's1');
  agtOk(repository, 'undo', 's1');
  expect(readFileSync(big, 'utf8')).toBe(`${BIG}more\n`);
  expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('work\n');
  rmSync(sandbox, { recursive: true });
  const restored = agt(repository, 'restore', 's1', '@');
  expect(restored.stdout).toContain('verified');
  expect(restored.stderr).toMatch(
    /back as an earlier snapshot has it, because that one leaves it out: \S*big\n/,
  );
  expect(readFileSync(big, 'utf8')).toBe(BIG);
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'show', '--format=', '--name-status', 'main')).toBe('M\ta');
});
