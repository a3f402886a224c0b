/**
 * Random changes, large and small, in two sessions: one of git, one of a provider that freezes folders. Each snapshot has
 * the same content. AGT_TEST_RUNS=20: more rounds.
 */
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listMoments } from '../../src/providers/moment.ts';
import { btrfsProblem, type Disk, mountBtrfs, mountZfs, zfsProblem } from '../harness/disks.ts';
import { autocommit, manifestOf, sessionOf, type TestSession } from '../harness/session.ts';
import { agtOk, git, makeRepositoryAt, makeTempDir, write } from '../harness/world.ts';

const KINDS = [
  { kind: 'btrfs' as const, mount: mountBtrfs, problem: btrfsProblem() },
  { kind: 'zfs' as const, mount: mountZfs, problem: zfsProblem() },
];
const ROUNDS = Number(process.env['AGT_TEST_RUNS'] ?? 3);
const SEED = Number(process.env['AGT_TEST_SEED'] ?? 1);

/** Numbers below `n`, the same for the same seed. */
function randomFrom(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // such as a file in the place of a directory: it fails in both sessions
  }
}

/** One round of changes, which the seed decides. */
function change(folder: string, seed: number): void {
  const random = randomFrom(seed);
  const directory = () =>
    join(folder, ['sandbox', 'sandbox/d', 'sandbox/d/e', 'xdg', 'config'][random(5)] as string);
  const path = () => join(directory(), `${['f', 'g\u00e9', 'h i'][random(3)]}${random(30)}`);
  for (let n = 0; n < 30; n++) {
    const [kind, one, other] = [random(8), path(), path()];
    const text = `${seed} ${random(1000)}\n`;
    attempt(() => {
      if (kind < 2) write(one, text);
      else if (kind === 2) rmSync(one, { recursive: true, force: true });
      else if (kind === 3) renameSync(one, other);
      else if (kind === 4) chmodSync(one, [0o600, 0o755, 0o644][random(3)] as number);
      else if (kind === 5) symlinkSync('target', one);
      else if (kind === 6) mkdirSync(other);
      else write(join(one, 'below'), text);
    });
  }
  if (seed % 3 !== 0)
    for (let n = 0; n < 280; n++) write(join(folder, `sandbox/many/f${n}`), `${seed} ${n}\n`);
  if (seed % 5 === 4) rmSync(join(folder, 'sandbox/many'), { recursive: true, force: true });
}

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
