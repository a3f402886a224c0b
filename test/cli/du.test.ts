import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, run, write } from '../harness/world.ts';

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

test('agt du, list, show and log count the same snapshots of a fork', () => {
  const session = makeSession({ a: 'a\n' });
  const { repository, sandbox } = session;
  for (const text of ['b', 'c']) {
    write(join(sandbox, 'a'), text);
    autocommit(session);
  }
  agtOk(repository, 'fork', 's1', '--id', 'f1');
  write(join(agtOk(repository, 'session', 'path', 'f1'), 'a'), 'd');
  agtOk(repository, 'autocommit', 'f1');
  const ask = (...words: string[]) => JSON.parse(agtOk(repository, ...words, '--json'));
  const logged = ask('session', 'log', 'f1').length;
  expect(logged).toBeGreaterThan(2);
  expect(ask('session', 'show', 'f1').autocommits).toBe(logged);
  expect(use(repository, 'f1').sessions).toMatchObject([{ session_id: 'f1', snapshots: logged }]);
});

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
  expect(agtOk(repository, 'du', 's2')).toMatch(/^s2 .*\ntotal of all sessions [\d.]+ KiB, .* free$/);
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

test('agt du --folders says why it cannot read a store, and shows the others', () => {
  const env = { XDG_STATE_HOME: makeTempDir('state') };
  const inFolder = (folder: string, words: string[], more = {}) =>
    run(AGT, words, { cwd: folder, env: { ...env, ...more } });
  const [good, bad] = ['good', 'bad'].map((name) => join(makeTempDir(), name)) as [string, string];
  for (const folder of [good, bad]) {
    write(join(folder, 'a'), 'a\n');
    expect(inFolder(folder, ['snapshot']).exitCode).toBe(0);
  }
  const list = ['du', '--folders'];
  const stores = join(env.XDG_STATE_HOME, 'agt/folders');
  const store = join(stores, readdirSync(stores).find((name) => name.startsWith('bad-')) ?? '');
  const reasonFor = (more = {}) => {
    const listed = inFolder(good, list, more);
    expect(listed.exitCode).not.toBe(0);
    expect(listed.stdout).toMatch(new RegExp(`^${bad} +unreadable `, 'm'));
    const { stdout } = inFolder(good, [...list, '--json'], more);
    const found = JSON.parse(stdout).folders.find(({ folder }: { folder: string }) => folder === bad);
    expect(found).toMatchObject({ exists: true, store, snapshots: null, last_at: null });
    expect(listed.stderr).toContain(
      [`error: ${found.error}`, ...found.hints.map((hint: string) => `hint: ${hint}`), ''].join('\n'),
    );
    return { listed, reason: found.error, hints: found.hints };
  };
  const owner = reasonFor({ GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' });
  expect(owner.reason).toContain(`git cannot use ${store}: detected dubious ownership in repository`);
  expect(owner.hints).toEqual([`git config --global --add safe.directory ${store}`]);
  renameSync(join(store, 'HEAD'), join(store, 'lost'));
  const headless = reasonFor();
  expect(headless.reason).toBe(
    `cannot read the snapshots of ${bad}: git cannot use ${store}: not a git repository`,
  );
  expect(headless.listed.stdout).toMatch(new RegExp(`^${good} +1 snapshot `, 'm'));
  renameSync(join(store, 'lost'), join(store, 'HEAD'));
  rmSync(join(store, 'objects'), { recursive: true });
  mkdirSync(join(store, 'objects'));
  const { reason, hints } = reasonFor();
  expect(reason).toBe(`cannot read the snapshots of ${bad}: its store is damaged: ${store}`);
  expect(hints).toEqual([`to begin anew, move the store away: mv ${store} ${store}.damaged`]);
  renameSync(store, `${store}.damaged`);
  expect(inFolder(bad, ['snapshot']).stdout).toContain('first snapshot');
  expect(inFolder(good, list).exitCode).toBe(0);
});

test('agt du tells of snapshots without a session, which are in a store of their own', () => {
  const { repository } = makeSession({ a: 'a\n' });
  expect(agt(repository, 'du').stderr).toBe('');
  agtOk(repository, 'snapshot');
  expect(agt(repository, 'du').stderr).toMatch(
    /^note: .* has snapshots without a session: agt du --folders\n$/,
  );
});
