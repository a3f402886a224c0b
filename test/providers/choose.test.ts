/** Which provider a session gets, and which snapshots nobody asked for. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { choose, findAll } from '../../src/providers/choose.ts';
import type { Place } from '../../src/providers/provider.ts';
import {
  endLease,
  listLeases,
  newToken,
  parseToken,
  takeLease,
  tokenText,
} from '../../src/providers/token.ts';
import { agt, agtOk, GIT_MODE, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';

const BTRFS = 0x9123683e;

function place(changed: Partial<Place> = {}): Place {
  const directory = makeTempDir();
  return {
    ...{ directory, existing: directory, fileSystem: BTRFS, isRoot: true, state: undefined },
    mount: { point: '/', type: 'btrfs', source: '/dev/sda1', options: ['rw'] },
    program: (name) => (name === 'agentfs' ? undefined : `/usr/bin/${name}`),
    ...changed,
  };
}

const mount = (...options: string[]) => ({ point: '/', type: 'btrfs', source: '/dev/sda1', options });

describe('the best provider at a place', () => {
  const zfs = (type: string) => ({
    fileSystem: 0,
    mount: { point: '/', type, source: 'tank/a', options: [] },
  });

  // The providers that can work there; the others say why not.
  test.each<[string, Partial<Place>, Record<string, number>]>([
    ['btrfs, as root', {}, { btrfs: 80, git: 50 }],
    ['btrfs, as its owner', { isRoot: false }, { btrfs: 60, git: 50 }],
    [
      'btrfs that lets its owner drop',
      { isRoot: false, mount: mount('user_subvol_rm_allowed') },
      { btrfs: 80, git: 50 },
    ],
    ['btrfs without its program', { program: () => undefined }, { git: 50 }],
    ["the kernel's ZFS, as root", zfs('zfs'), { zfs: 90, git: 50 }],
    ['zfs-fuse, as root', zfs('fuse.zfs'), { zfs: 90, git: 50 }],
    ['ZFS without root', { ...zfs('zfs'), isRoot: false }, { git: 50 }],
    ['ZFS without its program', { ...zfs('zfs'), program: () => undefined }, { git: 50 }],
    ['ext4', { fileSystem: 0xef53, mount: { ...mount(), type: 'ext4' } }, { git: 50, overlay: 40 }],
    ['a system that cannot tell', { fileSystem: undefined, mount: undefined }, { git: 50 }],
  ])('%s', (_, changed, expected) => {
    const found = findAll(place(changed));
    const scores = found.map(({ kind, score }) => [kind, score] as const);
    expect(Object.fromEntries(scores.filter(([, score]) => score > 0))).toEqual(expected);
    expect(scores.map(([, score]) => score)).toEqual(scores.map(([, score]) => score).sort((a, b) => b - a));
    expect(choose(place(changed), 'auto').kind).toBe(Object.keys(expected)[0]);
    expect(choose(place(changed), 'git').kind).toBe('git');
    for (const { notes } of found) expect(notes.length).toBeGreaterThan(0);
  });

  test('one that was asked for and cannot work is an error with the reason and the next step', () => {
    const repository = makeRepository();
    const elsewhere = { fileSystem: 0xef53 };
    expect(() => choose(place(elsewhere), 'btrfs')).toThrow(/is not on btrfs, but on btrfs$/);
    expect(() => choose(place({ program: () => undefined }), 'btrfs')).toThrow(/no btrfs program on PATH/);
    const [found] = JSON.parse(agtOk(repository, 'doctor', '--json')).providers as { kind: string }[];
    if (found?.kind === 'btrfs') return;
    const { exitCode, stderr } = agt(repository, 'session', 'new', 's1', '--fs-snapshots', 'btrfs');
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: fs.snapshots "btrfs" cannot work in .*\nhint: /),
    ]);
    expect(git(repository, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(agtOk(repository, 'session', 'list', '--all', '--json')).toBe('[]');
    expect(agt(repository, 'session', 'new', 's1', '--fs-snapshots', 'tape').exitCode).toBe(2);
    expect(agt(repository, 'session', 'new', 's1', '--working-copy', 'tape').exitCode).toBe(2);
  });

  test('agt doctor prints each with its score and the reason', () => {
    const printed = agtOk(makeRepository(), 'doctor', '--verbose');
    expect(printed).toMatch(/^providers\n(?: {2}\w+ +\d+ +\S.*\n){3}/m);
  });
});

test('disable: nothing captures the session by itself, commands that a person gives do', () => {
  const repository = makeRepository({ a: 'a\n' });
  agtOk(repository, 'config', 'set', 'fs.snapshots', 'disable');
  agtOk(repository, 'session', 'new', 's1');
  agtOk(repository, 'session', 'new', 's2', '--fs-snapshots', 'git');
  const sandbox = (id: string) => join(`${repository}.agt`, 'sessions', id, 'sandbox');
  const snapshots = (id: string) =>
    git(repository, 'rev-list', '--first-parent', '--count', `main..agtsessions/${id}`);
  for (const id of ['s1', 's2']) {
    write(join(sandbox(id), 'a'), 'work\n');
    agtOk(repository, 'session', 'run', id, '--', 'true');
    write(join(sandbox(id), 'a'), 'more work\n');
    expect(run(GIT_MODE, ['reset', '-q', '--hard'], { cwd: sandbox(id) }).exitCode).toBe(0);
    write(join(sandbox(id), 'a'), 'new work\n');
  }
  const all = JSON.parse(agtOk(repository, 'autocommit', '--all', '--json')) as { session_id: string }[];
  expect(all.map(({ session_id }) => session_id)).toEqual(['s2']);
  expect([snapshots('s1'), snapshots('s2')]).toEqual(['0', '3']);
  expect(agtOk(repository, 'session', 'show', 's1')).toMatch(/^provider +git, snapshots by command only$/m);
  agtOk(repository, 'autocommit', '--session-id', 's1');
  expect(snapshots('s1')).toBe('1');
  agtOk(repository, 'session', 'remove', 's1');
  agtOk(repository, 'session', 'restore', 's1', '--to', '@');
});

test('a session in place has no provider but git', () => {
  const repository = makeRepository({ a: 'a\n' });
  const inPlace = ['session', 'new', 's1', '--working-copy', 'in-place', '--fs-snapshots'];
  const { exitCode, stderr } = agt(repository, ...inPlace, 'btrfs');
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('in place')]);
  agtOk(repository, ...inPlace, 'disable');
  write(join(repository, 'a'), 'work\n');
  expect(JSON.parse(agtOk(repository, 'autocommit', '--all', '--json'))).toEqual([]);
  const shown = JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json'));
  expect([shown.provider, shown.captures]).toEqual(['git', 'by command']);
  agtOk(repository, 'session', 'remove', 's1');
});

test('tokens and leases read as they were written, and nothing else reads as one', () => {
  const token = newToken('btrfs', '/a b/\nc:d');
  expect(parseToken(tokenText(token))).toEqual(token);
  for (const text of [
    '',
    'btrfs:2:0123456789abcdef:/a',
    'ext4:1:0123456789abcdef:/a',
    'btrfs:1:0123:/a',
    'btrfs:1:0123456789abcdef:a',
  ])
    expect(parseToken(text)).toBeUndefined();
  const state = makeTempDir();
  expect(listLeases(state)).toEqual([]);
  const lease = { token, repository: '/r/.git', session: 's1', made: '2026-01-01T00:00:00.000Z' };
  takeLease(state, lease);
  takeLease(state, lease);
  for (const [name, text] of [
    ['x.json', '{}'],
    ['0123456789abcdef.json', tokenText(token)],
    ['y', ''],
  ] as const)
    writeFileSync(join(state, 'agt/leases', name), text);
  expect(listLeases(state)).toEqual([lease]);
  endLease(state, token);
  endLease(state, token);
  expect(listLeases(state)).toEqual([]);
});
