/** push and pull killed between every two steps: the same command goes on, one repository has the session, nothing is lost. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { ofToday } from '../harness/today.ts';
import { agt, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { chain, factsOf, makeTwo, type Two, workIn } from './two.ts';

const bundle = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

interface Scene {
  readonly name: string;
  readonly command: readonly string[];
  readonly at: 'here' | 'there';
  readonly prepare: (two: Two) => void;
  /** After the command, killed and run again: where the session is, and the repositories that must not have it. */
  readonly holder: 'here' | 'there' | 'nobody';
}

const changeHere = ({ here }: Two) => write(join(sessionOf(here, 's1').sandbox, 'a.txt'), 'later work\n');

const SCENES: readonly Scene[] = [
  { name: 'the first push', command: ['push', 's1'], at: 'here', prepare: changeHere, holder: 'here' },
  {
    name: 'a later push that gives it away',
    command: ['push', 's1', '--release'],
    at: 'here',
    prepare: (two) => {
      agtOk(two.here, 'session', 'push', 's1');
      changeHere(two);
    },
    holder: 'nobody',
  },
  {
    name: 'the first pull',
    command: ['pull', 's1', '--take'],
    at: 'there',
    prepare: ({ here }) => agtOk(here, 'session', 'push', 's1', '--release'),
    holder: 'there',
  },
  {
    name: 'a pull where the session was, with work that only this side has',
    command: ['pull', 's1', '--take'],
    at: 'here',
    prepare: (two) => {
      agtOk(two.here, 'session', 'push', 's1', '--release');
      agtOk(two.there, 'session', 'pull', 's1');
      write(join(sessionOf(two.there, 's1').sandbox, 'b.txt'), 'theirs\n');
      agtOk(two.there, 'session', 'push', 's1');
      changeHere(two);
    },
    holder: 'here',
  },
];

test.each(ofToday(SCENES))('$name', { timeout: 600_000 }, ({ command, at, prepare, holder }) => {
  const two = makeTwo();
  workIn(two.here);
  prepare(two);
  const parent = dirname(two.remote);
  const copy = `${parent}-prepared`;
  cpSync(parent, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const reset = () => {
    rmSync(parent, { recursive: true, force: true });
    cpSync(copy, parent, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  };
  const attack = (env: Record<string, string>) =>
    run(process.execPath, [bundle, 'session', ...command], { cwd: two[at], env });
  const list = join(makeTempDir('points'), 'list');
  const whole = attack({ AGT_TEST_LIST_POINTS: list });
  expect(whole.stderr.replace(/^note: .*\n/gm, '')).toBe('');
  const expected = holder === 'nobody' ? undefined : factsOf(sessionOf(two[holder], 's1'));
  const sessions = () => git(two[at], 'for-each-ref', 'refs/agt/tip/').split('\n').length;
  const all = sessions();
  const points = readFileSync(list, 'utf8').trim().split('\n');
  const first = [...new Map(points.map((point) => [point.split('#')[0], point])).values()];
  for (const point of first.filter((name) =>
    /^(push|pull|fork|remove|restore|checkout|sandbox|metadata)/.test(name),
  )) {
    reset();
    const local = [two.here, two.there].filter((path) => existsSync(join(path, '.git/agt/sessions/s1.json')));
    const moments = local.flatMap((path) => chain({ ...sessionOf(path, 's1') }));
    expect(attack({ AGT_TEST_KILL_AT: point }).exitCode, point).toBe(null);
    if (/^pull: (taken|refs moved|metadata written)/.test(point))
      expect(agt(two[at], 'doctor').stdout, point).toMatch(
        /warning: s1: .*stopped before all .*\n.*fix: agt session pull s1/,
      );
    const again = agt(two[at], 'session', ...command);
    const isDone = /session "s1" is away/.test(again.stderr);
    expect([
      point,
      again.exitCode,
      isDone ? '' : again.stderr.replace(/^note: only your key opens it.*\n/m, ''),
    ]).toEqual([point, isDone ? 1 : 0, '']);
    if (holder !== 'nobody') expect(factsOf(sessionOf(two[holder], 's1')), point).toEqual(expected);
    // A folder that had other files is a fork once more while it is between the two.
    if (all === 1) expect(sessions(), point).toBe(all);
    const listed = JSON.parse(agtOk(two.there, 'session', 'list', '--remote', '--json'));
    expect(listed, point).toMatchObject([
      { session_id: 's1', repository: holder === 'nobody' ? null : two[holder] },
    ]);
    // Every snapshot that there was is still in a chain of the repository that had it.
    for (const path of local) {
      const tips = git(path, 'for-each-ref', '--format=%(refname)', 'refs/agt/tip/').split('\n');
      const kept = new Set(git(path, 'rev-list', ...tips).split('\n'));
      const own = moments.filter(
        (commit) => run(REAL_GIT, ['cat-file', '-e', commit], { cwd: path }).exitCode === 0,
      );
      expect(
        own.filter((commit) => !kept.has(commit)),
        point,
      ).toEqual([]);
    }
    for (const path of [two.here, two.there]) {
      expect(git(path, 'fsck', '--strict', '--no-dangling'), point).toBe('');
      agt(path, 'doctor', '--fix');
      expect(agtOk(path, 'doctor').split('\n').at(-1), point).toBe('nothing is wrong');
    }
  }
});

test.each(['', '--release'])('after a first push %s that the remote has taken and agt not noted', (more) => {
  const { here, there } = makeTwo();
  workIn(here);
  const words = ['session', 'push', 's1', ...more.split(' ').filter(Boolean)];
  const env = { AGT_TEST_KILL_AT: 'push: moved#1' };
  expect(run(process.execPath, [bundle, ...words], { cwd: here, env }).exitCode).toBe(null);
  const stateOf = (path: string) => JSON.parse(agtOk(path, 'list', '--json'))[0].state;
  const copies = () => JSON.parse(agtOk(here, 'session', 'list', '--remote', '--json'));
  if (more !== '') {
    // The same again gives it away, and it can come back.
    agtOk(here, ...words);
    expect(stateOf(here)).toBe('away');
    expect(copies()).toMatchObject([{ repository: null }]);
    agtOk(here, 'session', 'pull', 's1');
    agtOk(here, 'session', 'push', 's1');
    return;
  }
  // Another repository takes it before the next push: one copy, and this one learns so.
  agtOk(there, 'session', 'pull', 's1', '--take');
  write(join(sessionOf(there, 's1').sandbox, 'b.txt'), 'theirs\n');
  changeHere({ here } as Two);
  expect(agt(here, ...words).stderr).toContain('session "s1" is away');
  agtOk(there, 'session', 'push', 's1');
  expect(copies()).toMatchObject([{ repository: there }]);
  expect(agtOk(here, 'session', 'pull', 's1', '--take')).toContain('fork     s1-2 has what only');
});

test('a session that a killed push has given away can be pulled here and there', () => {
  for (const taker of ['here', 'there'] as const) {
    const two = makeTwo();
    workIn(two.here);
    const env = { AGT_TEST_KILL_AT: 'push: moved#1' };
    const words = ['session', 'push', 's1', '--release'];
    expect(run(process.execPath, [bundle, ...words], { cwd: two.here, env }).exitCode).toBe(null);
    agtOk(two[taker], 'session', 'pull', 's1');
    const listed = JSON.parse(agtOk(two.here, 'session', 'list', '--remote', '--json'));
    expect(listed).toMatchObject([{ repository: two[taker] }]);
    expect(agt(two.here, 'session', 'push', 's1').exitCode).toBe(taker === 'here' ? 0 : 1);
  }
});

test('where a pull or a push that gives away was killed, nobody goes on with what is old', () => {
  const two = makeTwo();
  workIn(two.here);
  agtOk(two.here, 'session', 'push', 's1');
  agtOk(two.there, 'session', 'pull', 's1', '--take');
  write(join(sessionOf(two.there, 's1').sandbox, 'a.txt'), 'newer\n');
  agtOk(two.there, 'session', 'push', 's1');
  // This side does not know yet that it is elsewhere.
  const killAt = (point: string, ...words: string[]) => {
    const env = { AGT_TEST_KILL_AT: `${point}#1` };
    expect(run(process.execPath, [bundle, 'session', ...words], { cwd: two.here, env }).exitCode).toBe(null);
    for (const act of [
      ['accept', 's1'],
      ['sync', 's1'],
      ['session', 'run', 's1', '--', 'true'],
    ])
      expect(agt(two.here, ...act).stderr).toContain('session "s1" is away');
  };
  killAt('pull: moved', 'pull', 's1', '--take');
  agtOk(two.here, 'session', 'pull', 's1', '--take');
  changeHere(two);
  killAt('push: moved', 'push', 's1', '--release');
  agtOk(two.here, 'session', 'pull', 's1');
  changeHere(two);
  killAt('push: written down', 'push', 's1', '--release');
  expect(agtOk(two.here, 'list', '--remote')).toMatch(/^s1 +active /m);
  expect(agtOk(two.here, 'session', 'pull', 's1')).toBe('s1 is here, and goes on here');
  expect(agtOk(two.here, 'list')).toMatch(/^s1 +active /m);
  killAt('push: written down', 'push', 's1', '--release');
  agtOk(two.here, 'session', 'push', 's1', '--release');
  agtOk(two.there, 'session', 'pull', 's1');
});

test('a push that the remote refuses gives nothing away', () => {
  const { here, remote } = makeTwo();
  workIn(here);
  const hook = join(remote, 'hooks/pre-receive');
  mkdirSync(dirname(hook), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  expect(agt(here, 'session', 'push', 's1', '--release').exitCode).toBe(1);
  expect(JSON.parse(agtOk(here, 'list', '--json'))).toMatchObject([{ state: 'active', away: null }]);
  rmSync(hook);
  agtOk(here, 'session', 'push', 's1', '--release');
  expect(JSON.parse(agtOk(here, 'list', '--json'))).toMatchObject([{ state: 'away' }]);
});
