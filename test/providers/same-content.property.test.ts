/**
 * Random changes, large and small, in two sessions: one of git, one of a provider that freezes folders. Each snapshot has
 * the same content. AGT_TEST_RUNS=20: more rounds.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listMoments } from '../../src/workspace/moments.ts';
import { btrfsProblem, type Disk, mountBtrfs } from '../harness/disks.ts';
import { change } from '../harness/random-changes.ts';
import { autocommit, manifestOf, sessionOf, type TestSession } from '../harness/session.ts';
import { agtOk, git, makeRepositoryAt, makeTempDir } from '../harness/world.ts';
import { mountZfs, zfsProblem } from '../harness/zfs.ts';

const KINDS = [
  { kind: 'btrfs' as const, mount: mountBtrfs, problem: btrfsProblem() },
  { kind: 'zfs' as const, mount: mountZfs, problem: zfsProblem() },
];
const ROUNDS = Number(process.env['AGT_TEST_RUNS'] ?? 3);
const SEED = Number(process.env['AGT_TEST_SEED'] ?? 1);

for (const { kind, problem } of KINDS.filter((one) => one.problem !== undefined))
  test.skip(`${kind} (${problem})`, () => {});

describe.each(KINDS.filter(({ problem }) => problem === undefined))('$kind', ({ kind, mount }) => {
  let disk: Disk;

  beforeAll(() => {
    disk = mount();
    process.env['XDG_STATE_HOME'] = makeTempDir('state');
  });

  afterAll(() => {
    delete process.env['XDG_STATE_HOME'];
    disk.unmount();
  });

  test('each snapshot has the content of the one that git makes', { timeout: 300_000 }, () => {
    const repository = makeRepositoryAt(join(disk.path, 'project'), { a: 'a\n' });
    const make = (provider: string): TestSession => {
      agtOk(repository, 'session', 'new', `by-${provider}`, '--fs-snapshots', provider);
      return sessionOf(repository, `by-${provider}`);
    };
    const pair = [make('git'), make(kind)] as const;
    for (let seed = SEED; seed < SEED + ROUNDS; seed++) {
      const [byGit, byProvider] = pair.map((session) => {
        change(session.folder, seed);
        const { commit, changes, failed, skipped } = autocommit(session);
        const { modes, empty_directories: empty, encoded } = manifestOf(session);
        const trees = git(repository, 'ls-tree', commit as string, 'config', 'sandbox', 'xdg');
        return { trees, changes, failed, skipped, modes, empty, encoded };
      });
      expect([seed, byProvider]).toEqual([seed, byGit]);
    }
    const owner = { session_id: `by-${kind}`, sandbox: pair[1].sandbox };
    expect(listMoments(join(repository, '.git/agt'), owner).length).toBeGreaterThan(0);
    for (const { id } of pair) agtOk(repository, 'session', 'remove', id);
  });
});
