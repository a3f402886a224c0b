/**
 * Over random trees and random edits on both sides: agt accept gives what `git merge --squash` gives in a clean clone, or
 * refuses where that conflicts or a file of the user is in the way; and the user's own files have the same bytes.
 */
import { cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsOfToday } from '../harness/today.ts';
import { agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run } from '../harness/world.ts';
import { apply, type Edit, edits, filesOf, place, start } from './random-edits.ts';

const RUNS = runsOfToday(12);

interface Story {
  readonly files: readonly (readonly [path: string, text: string])[];
  readonly user: readonly Edit[];
  readonly uncommitted: readonly Edit[];
  readonly isStaged: boolean;
  readonly agent: readonly Edit[];
  /** So many of the agent's edits are committed. */
  readonly committed: number;
}

const stories: fc.Arbitrary<Story> = fc.record({
  files: start,
  user: edits,
  uncommitted: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 2, arbitrary: edits }),
  isStaged: fc.boolean(),
  agent: fc.tuple(edits, edits).map(([a, b]) => [...a, ...b]),
  committed: fc.nat(10),
});

function commit(dir: string, message: string): void {
  git(dir, 'add', '-A');
  git(dir, 'commit', '-q', '--allow-empty', '-m', message);
}

/** The tree that git makes; undefined if it reports conflicts. */
function squashInClone(repository: string, sandbox: string): string | undefined {
  const clone = join(makeTempDir(), 'clone');
  git(repository, 'clone', '-q', '--shared', '-b', 'work', repository, clone);
  git(clone, 'rm', '-r', '-q', '--force', '--ignore-unmatch', '.');
  cpSync(sandbox, clone, {
    recursive: true,
    verbatimSymlinks: true,
    force: true,
    filter: (path) => basename(path) !== '.git',
  });
  commit(clone, 'work');
  const theirs = git(clone, 'rev-parse', 'HEAD');
  git(clone, 'checkout', '-q', '--force', '-B', 'main', 'origin/main');
  git(clone, 'clean', '-q', '-f', '-d', '-x');
  const merged = run(REAL_GIT, ['merge', '-q', '--squash', theirs], { cwd: clone });
  return merged.exitCode === 0 ? git(clone, 'write-tree') : undefined;
}

const seen = { accepted: 0, conflicts: 0, overlaps: 0, nothing: 0 };
let number = 0;

/** Each story has a repository of its own: a session removed from one would be in the way of the next. */
function play({ files, user, uncommitted, isStaged, agent, committed }: Story): void {
  const repository = makeRepository({ '.gitignore': '*.log\n', '.gitattributes': '*.union merge=union\n' });
  const id = `s${++number}`;
  for (const [path, text] of files) place(repository, path, text);
  commit(repository, 'base');
  const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', id, '--json'));
  for (const edit of agent.slice(0, committed)) apply(sandbox, edit);
  commit(sandbox, 'by the agent');
  for (const edit of agent.slice(committed)) apply(sandbox, edit);
  for (const edit of user) apply(repository, edit);
  commit(repository, 'by the user');
  git(repository, 'branch', 'work', `agt/${id}`);
  const expected = squashInClone(repository, sandbox);

  for (const edit of uncommitted) apply(repository, edit);
  if (isStaged) git(repository, 'add', '-A');
  const before = {
    tip: git(repository, 'rev-parse', 'main'),
    files: filesOf(repository),
    status: statusOf(repository),
  };
  const outcome = agt(repository, 'accept', id, '--json');
  const tip = git(repository, 'rev-parse', 'main');
  if (outcome.exitCode !== 0) {
    expect({ tip, files: filesOf(repository), status: statusOf(repository) }).toEqual(before);
    if (/conflicts with/.test(outcome.stderr)) {
      expect(expected).toBeUndefined();
      seen.conflicts++;
    } else if (/nothing to accept/.test(outcome.stderr)) {
      expect(expected).toBe(git(repository, 'rev-parse', 'main^{tree}'));
      seen.nothing++;
    } else {
      expect(outcome.stderr).toMatch(/would be overwritten/);
      expect(overlaps(repository, expected ?? '', uncommittedPaths(before.status))).toBe(true);
      seen.overlaps++;
    }
    return;
  }
  seen.accepted++;
  expect(git(repository, 'rev-parse', 'main^{tree}')).toBe(expected);
  expect(statusOf(repository)).toEqual(before.status);
  const after = filesOf(repository);
  const own = uncommittedPaths(before.status);
  for (const path of own) expect([path, after.get(path)]).toEqual([path, before.files.get(path)]);
  expect(
    git(repository, 'diff', '--name-only', '-z', before.tip, 'main')
      .split('\0')
      .some((path) => own.includes(path)),
  ).toBe(false);
}

/** `XY path`, ignored files included. */
function statusOf(repository: string): string[] {
  const args = ['status', '--porcelain', '-z', '--no-renames', '--ignored', '-uall'];
  const lines = git(repository, ...args).split('\0');
  return lines.filter((line) => line !== '').map((line) => Buffer.from(line, 'latin1').toString());
}

function uncommittedPaths(status: readonly string[]): string[] {
  return status.map((line) => line.slice(3));
}

/** Whether a path that changes is one of these, above one or below one. */
function overlaps(repository: string, tree: string, paths: readonly string[]): boolean {
  const changed = git(repository, 'diff', '--name-only', '-z', '--no-renames', 'main', tree)
    .split('\0')
    .map((path) => Buffer.from(path, 'latin1').toString())
    .filter((path) => path !== '');
  return changed.some((a) => paths.some((b) => `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`)));
}

test('agt accept equals git merge --squash in a clean clone', { timeout: RUNS.numRuns * 60_000 }, () => {
  fc.assert(fc.property(stories, play), {
    ...RUNS,
    seed: Number(process.env['AGT_TEST_SEED'] ?? 20260301),
    endOnFailure: true,
  });
  console.log(JSON.stringify(seen));
});
