/**
 * Random restores of two sessions with the same life: one of git, whose files agt writes, and one of btrfs, whose folder it
 * swaps where it can. Both have the same content and the same snapshots afterwards. AGT_TEST_RUNS=50: more rounds.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aloneProblem, tryAlone } from '../harness/alone.ts';
import { btrfsProblem, type Disk, mountBtrfs } from '../harness/disks.ts';
import { change, randomFrom } from '../harness/random-changes.ts';
import { autocommit, manifestOf, sessionOf, snapshotFolder, type TestSession } from '../harness/session.ts';
import { agtOk, git, makeRepositoryAt, makeTempDir, REAL_GIT, run } from '../harness/world.ts';

const problem = btrfsProblem() ?? aloneProblem();
const ROUNDS = Number(process.env['AGT_TEST_RUNS'] ?? 4);
const SEED = Number(process.env['AGT_TEST_SEED'] ?? 1);
const SCOPES = [[], [], ['--only', 'sandbox'], ['--path', 'many'], ['--path', 'd']];

describe.skipIf(problem !== undefined)(`btrfs${problem === undefined ? '' : ` (${problem})`}`, () => {
  let disk: Disk;

  beforeAll(() => {
    disk = mountBtrfs();
    process.env['XDG_STATE_HOME'] = makeTempDir('state');
  });

  afterAll(() => {
    delete process.env['XDG_STATE_HOME'];
    disk.unmount();
  });

  function facts({ repository, sandbox, folder, id }: TestSession): Record<string, unknown> {
    const {
      modes,
      empty_directories: empty,
      encoded,
      skipped,
    } = manifestOf({ repository, sandbox, folder, id });
    return {
      files: [...snapshotFolder(folder)].sort(),
      trees: git(repository, 'ls-tree', `agtsessions/${id}`, 'config', 'sandbox', 'xdg'),
      captured: { modes, empty, encoded, skipped },
      status: run(REAL_GIT, ['status', '--porcelain=v2', '-z'], { cwd: sandbox }).stdout,
    };
  }

  test('a swap leaves what a restore in place leaves', { timeout: 300_000 }, () => {
    const repository = makeRepositoryAt(join(disk.path, 'project'), { a: 'a\n', 'd/f1': 'f1\n' });
    const [byGit, bySwap] = ['git', 'btrfs'].map((provider) => {
      agtOk(repository, 'session', 'new', `by-${provider}`, '--fs-snapshots', provider);
      return sessionOf(repository, `by-${provider}`);
    }) as [TestSession, TestSession];
    let swaps = 0;
    for (let seed = SEED; seed < SEED + ROUNDS; seed++) {
      const random = randomFrom(seed * 7919);
      for (const session of [byGit, bySwap])
        for (const part of [0, 1]) {
          change(session.folder, seed * 2 + part);
          if (part === 0) autocommit(session);
        }
      const scope = SCOPES[random(SCOPES.length)] as string[];
      const back = `@{${1 + random(Math.min(6, 2 * (seed - SEED) + 1))}}`;
      const outcomes = [byGit, bySwap].map((session) => {
        const { dev } = statSync(session.folder);
        const args = ['session', 'restore', session.id, '--to', back, ...scope];
        const { exitCode, stdout, stderr } = tryAlone(repository, args, { AGT_TEST_MANY: '1' });
        if (statSync(session.folder).dev !== dev) swaps++;
        const alike = (text = '') => text.replaceAll(session.id, 'ID').replace(/\b[0-9a-f]{10}\b/g, 'COMMIT');
        return { exitCode, said: alike(stdout.split('\n')[0]), stderr: alike(stderr), ...facts(session) };
      });
      expect([seed, scope, back, outcomes[1]]).toEqual([seed, scope, back, outcomes[0]]);
      const next = [byGit, bySwap].map((session) => {
        const { outcome, changes } = autocommit(session);
        return { outcome, changes };
      });
      expect([seed, next[1]]).toEqual([seed, next[0]]);
    }
    expect(swaps).toBeGreaterThan(0);
    expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);
    console.log(`${swaps} of ${ROUNDS} restores were swaps`);
  });
});
