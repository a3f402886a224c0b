/** Autocommits killed at arbitrary times: the next one finds the old snapshot or the new one, and needs no repair. */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession, snapshotFolder, snapshotTree } from '../harness/session.ts';
import { AGT, REAL_GIT, run, write } from '../harness/world.ts';

const KILLS = Number(process.env['AGT_TEST_KILLS'] ?? 60);
/** From before the first read until an autocommit of this size has ended on a quiet machine. */
const LATEST_MS = 220;

test(`${KILLS} kills leave every snapshot whole, no lock, and a repository that fsck --strict accepts`, async () => {
  const session = makeSession(Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, `${n}\n`])));
  let killed = 0;
  for (let round = 0; round < KILLS; round++) {
    for (let n = 0; n < 120; n++) write(join(session.sandbox, `g${n}`), `${round} ${n}\n`.repeat(50));
    const child = spawn(AGT, ['autocommit', '--session-id', 's1'], {
      cwd: session.repository,
      stdio: 'ignore',
    });
    const ended = new Promise<NodeJS.Signals | null>((resolve) =>
      child.on('exit', (_, signal) => resolve(signal)),
    );
    const timer = setTimeout(() => child.kill('SIGKILL'), 30 + ((LATEST_MS - 30) * round) / KILLS);
    if ((await ended) === 'SIGKILL') killed++;
    clearTimeout(timer);
  }
  expect(killed).toBeGreaterThan(KILLS / 4);

  const report = autocommit(session);
  expect(['committed', 'unchanged']).toContain(report.outcome);
  const disk = [...snapshotFolder(session.folder)].filter(([, text]) => text.startsWith('file '));
  const captured = snapshotTree(session, 'agtsessions/s1');
  expect(captured.size).toBe(disk.length);
  for (const [path, text] of disk)
    expect(captured.get(path)).toBe(`100644 ${text.replace(/^file [0-7]+ /, '')}`);
  const checked = run(REAL_GIT, ['fsck', '--strict', '--no-dangling'], { cwd: session.repository });
  expect(checked.stdout + checked.stderr).toBe('');
  const left = globSync('**/*.lock', { cwd: join(session.repository, '.git') });
  expect([...left, ...globSync('agt/locks/s1', { cwd: join(session.repository, '.git') })]).toEqual([]);
}, 180_000);

test('the next autocommit deletes the crash report of its own cut stream, and no other', () => {
  const session = makeSession();
  autocommit(session);
  for (const cwd of [session.sandbox, session.repository])
    run(REAL_GIT, ['fast-import', '--quiet', '--done'], { cwd, input: 'blob\ndata 3\n' });
  const reports = () => globSync('**/fast_import_crash_*', { cwd: join(session.repository, '.git') });
  expect(reports()).toHaveLength(2);
  write(join(session.sandbox, 'x'), 'x\n');
  autocommit(session);
  expect(reports()).toEqual([expect.stringMatching(/^fast_import_crash_\d+$/)]);
});
