/** The settings that git mode adds for a fetch also reach the git that fetches each submodule. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtOk, GIT_MODE, git, makeRepository, makeTempDir, REAL_GIT, run } from '../harness/world.ts';

const env = { GIT_ALLOW_PROTOCOL: 'file', AGT_GIT_PATH: undefined };

/** A clone with a submodule, whose remote has this name, and an upstream with something new in both. */
function clonedWithSubmodule(remote: string): string {
  const library = makeRepository();
  const upstream = makeRepository();
  const protocol = ['-c', 'protocol.file.allow=always'];
  git(upstream, ...protocol, 'submodule', '--quiet', 'add', library, 'lib/x');
  git(upstream, 'commit', '-q', '-m', 'submodule');
  const clone = join(makeTempDir(), 'clone');
  git(upstream, ...protocol, 'clone', '-q', '--recurse-submodules', upstream, clone);
  if (remote !== 'origin') git(join(clone, 'lib/x'), 'remote', 'rename', 'origin', remote);
  for (const repository of [library, upstream]) {
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'newer');
    git(repository, 'branch', 'agt/s1');
  }
  git(clone, 'branch', 'agt/s2');
  return clone;
}

test.each([
  ['git mode', () => GIT_MODE],
  [
    'the shim',
    () => {
      const shim = makeTempDir('shim');
      agtOk('/', 'shim', 'install', '--dir', shim);
      return join(shim, 'git');
    },
  ],
] as const)('%s: a fetch reaches a submodule whose remote has another name', (_, program) => {
  const git_ = program();
  for (const words of [
    ['fetch', '--recurse-submodules'],
    ['fetch', '--recurse-submodules', 'origin', 'main'],
  ]) {
    const clone = clonedWithSubmodule('upstream');
    const outcome = run(git_, words, { cwd: clone, env });
    expect([outcome.exitCode, outcome.stderr]).toEqual([0, expect.not.stringContaining('fatal')]);
    expect(git(join(clone, 'lib/x'), 'log', '-1', '--format=%s', 'upstream/main')).toBe('newer');
  }
  const clone = clonedWithSubmodule('origin');
  const outcome = run(git_, ['fetch', '--recurse-submodules'], { cwd: clone, env });
  expect([outcome.exitCode, outcome.stderr]).toEqual([0, expect.not.stringContaining('agt/s1')]);
  expect(run(REAL_GIT, ['branch', '-r', '--list', '*/agt/*'], { cwd: clone }).stdout).toBe('');
});
