import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { snapshotRefs } from '../../src/session/record.ts';
import { resolveSnapshot } from '../../src/snapshot/resolve-snapshot.ts';
import { openSession } from '../harness/opened.ts';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { agtOk, git, write } from '../harness/world.ts';
import { makeThreeSnapshots } from './three-snapshots.ts';

async function resolve(session: TestSession, spec: string, now = new Date('2026-11-20T12:00:00Z')) {
  const { repository, record } = openSession(session);
  return (await resolveSnapshot(repository.git, snapshotRefs(record), spec, now)).commit;
}

describe('a snapshot can be named', () => {
  test('by its number, its label, its commit, a revision of git, a time', async () => {
    const { session, commits } = makeThreeSnapshots();
    const [first = '', second = '', third = ''] = commits;
    const specs: [string, string][] = [
      ['@', third],
      ['@{0}', third],
      ['@{2}', first],
      ['one', first],
      ['one two', third],
      ['one   two', third],
      [second, second],
      [second.slice(0, 8), second],
      [second.slice(0, 8).toUpperCase(), second],
      ['agtsessions/s1~2', first],
      ['refs/agt/tip/s1^', second],
    ];
    for (const [spec, commit] of specs) expect([spec, await resolve(session, spec)]).toEqual([spec, commit]);
    const later = new Date(Date.now() + 3_600_000);
    expect(await resolve(session, '10 minutes ago', later)).toBe(third);
    expect(await resolve(session, '@{10 minutes ago}', later)).toBe(third);
    expect(await resolve(session, 'now', later)).toBe(third);
    expect(await resolve(session, later.toISOString(), later)).toBe(third);
  });

  test('by a label: the newest one wins, also over a commit whose name begins like the label', async () => {
    const { session, commits } = makeThreeSnapshots();
    const prefix = commits[0]?.slice(0, 6) ?? '';
    write(join(session.sandbox, 'a'), 'x\n');
    const labelled = autocommit(session, '--label', prefix).commit;
    expect(await resolve(session, prefix)).toBe(labelled);
    write(join(session.sandbox, 'a'), 'y\n');
    autocommit(session);
    write(join(session.sandbox, 'a'), 'z\n');
    const newest = autocommit(session, '--label', 'one').commit;
    expect(await resolve(session, 'one')).toBe(newest);
  });

  test('by the id of the call of a tool', async () => {
    const { session } = makeThreeSnapshots();
    const tip = () => git(session.repository, 'rev-parse', 'agtsessions/s1');
    agtOk(session.sandbox, 'session', 'record', '--tool', 'Bash', '--call-id', 'toolu_1');
    const called = tip();
    agtOk(session.sandbox, 'session', 'record', '--tool', 'Bash', '--call-id', 'toolu_2');
    expect(await resolve(session, 'toolu_1')).toBe(called);
    expect(await resolve(session, 'toolu_2')).toBe(tip());
  });
});

test('a snapshot can be named by the beginning of a label or a prompt, if it is the only one', async () => {
  const session = makeSession();
  const labels = [
    'tests pass',
    'tests fail',
    'prompt: Fix it',
    'prompt: Fix it all',
    'tests pass',
    '10 minutes',
  ];
  const commits = labels.map((label, i) => {
    write(join(session.sandbox, 'a'), `${i}\n`);
    return autocommit(session, '--label', label).commit;
  });
  const later = new Date(Date.now() + 3_600_000);
  for (const [spec, n] of [
    ['tests p', 4],
    ['Fix it a', 3],
    ['Fix it', 2],
    ['prompt: Fix it a', 3],
    ['10 min', 5],
    ['10 minutes ago', 5],
  ] as const)
    expect([spec, await resolve(session, spec, later)]).toEqual([spec, commits[n]]);
  for (const [spec, reason] of [
    ['tests', 'several labels begin with it: "tests pass", "tests fail"'],
    ['Fix', 'several labels begin with it: "prompt: Fix it all", "prompt: Fix it"'],
    ['10', 'it is not a label or its beginning'],
  ] as const)
    await expect(resolve(session, spec, later)).rejects.toThrow(reason);
});

describe('agt gives the reason', () => {
  test.each([
    ['@{3}', /it has 3 snapshots, @\{0\} to @\{2\}/],
    ['onc', /it is not a label or its beginning, a call, a commit or a time/],
    ['step 4', /it is not a label or its beginning, a call, a commit or a time/],
    ['4', /it is not a label or its beginning, a call, a commit or a time/],
    ['', /it is not a label or its beginning, a call, a commit or a time/],
    ['main', /commit [0-9a-f]{10} is not one of its snapshots/],
    ['yesterday', /its first snapshot is from 2/],
  ])('when %j names no snapshot', async (spec, reason) => {
    const { session } = makeThreeSnapshots();
    await expect(resolve(session, spec)).rejects.toThrow(reason);
  });

  test('HEAD is that of the sandbox', async () => {
    const { session } = makeThreeSnapshots();
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
    const head = git(session.sandbox, 'rev-parse', '--short=10', 'HEAD');
    await expect(resolve(session, 'HEAD')).rejects.toThrow(`commit ${head} is not one of its snapshots`);
  });

  test('when there is no snapshot yet', async () => {
    await expect(resolve(makeSession(), '@')).rejects.toThrow(/it has no snapshots yet/);
  });
});
