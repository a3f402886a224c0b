import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

/** Random bytes, which git cannot compress. */
function noise(length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(Math.random() * 256)));
}

interface Use {
  sessions: { session_id: string; state: string; snapshots: number; own: number; shared: number }[];
  total: number;
  budget: number | null;
  free: number;
}

function use(repository: string, ...args: string[]): Use {
  return JSON.parse(agtOk(repository, 'du', '--json', ...args)) as Use;
}

test('agt du counts objects of one session, objects that sessions share, and no objects of the user', () => {
  const session = makeSession({ 'big.bin': noise(200_000) });
  const { repository, sandbox } = session;
  const other = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's2', '--json')).sandbox;
  expect(use(repository).total).toBe(0);

  const [both, shared] = [noise(50_000), noise(30_000)];
  write(join(sandbox, 'alone'), noise(100_000));
  for (const dir of [sandbox, other]) {
    write(join(dir, 'both'), both);
    write(join(dir, 'shared'), shared);
  }
  autocommit(session);
  autocommit({ ...session, id: 's2' });
  git(sandbox, 'add', 'both');
  git(sandbox, 'commit', '-q', '-m', 'of the agent');
  autocommit(session);

  const { sessions, total, budget, free } = use(repository);
  const [s1, s2] = sessions;
  expect(s1).toMatchObject({ session_id: 's1', state: 'active', snapshots: 2 });
  expect(s2).toMatchObject({ session_id: 's2', state: 'active', snapshots: 1 });
  expect(s1?.own).toBeGreaterThan(100_000);
  expect(s1?.own).toBeLessThan(110_000);
  expect(s2?.own).toBeLessThan(10_000);
  // The file "both" is not shared any more: the agent has committed it to its work branch.
  expect(s1?.shared).toBeGreaterThan(30_000);
  expect(s1?.shared).toBeLessThan(35_000);
  expect(s2?.shared).toBe(s1?.shared);
  expect(total).toBe((s1?.own ?? 0) + (s2?.own ?? 0) + (s1?.shared ?? 0));
  expect(budget).toBeNull();
  expect(free).toBeGreaterThan(0);

  expect(use(repository, 's2').sessions).toEqual([s2]);
  expect(agtOk(repository, 'du')).toMatch(
    /^s1 {2}active {2}2 snapshots {2}[\d.]+ KiB own {2}[\d.]+ KiB shared\ns2 {2}active {2}1 snapshot .*\ntotal [\d.]+ KiB, .* free$/,
  );
  expect(agt(repository, 'du', 'nope').stderr).toContain('no session "nope"');
});

test('agt du works for a session whose refs are gone', () => {
  const session = makeSession();
  git(session.repository, 'update-ref', '-d', 'refs/agt/tip/s1');
  git(session.repository, 'update-ref', '-d', 'refs/heads/agtsessions/s1');
  expect(use(session.repository).sessions).toEqual([
    { session_id: 's1', state: 'active', snapshots: 0, own: 0, shared: 0 },
  ]);
});
