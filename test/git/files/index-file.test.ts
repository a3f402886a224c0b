/** Compares agt's reader of the index with git's own output, and checks what the digest depends on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseIndex, summarizeIndex } from '../../../src/git/files/index-file.ts';
import { git, makeRepository, REAL_GIT, run } from '../../harness/world.ts';

const VERSIONS = [2, 3, 4] as const;
const OID = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

const entry = fc.record({
  path: fc
    .array(fc.constantFrom('a', 'b', 'ab', 'é', 'x'.repeat(120), '-n', ' '), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/')),
  mode: fc.constantFrom('100644', '100755', '120000', '160000'),
  oid: fc.constantFrom(OID, '5'.repeat(40), 'a0'.repeat(20)),
  stage: fc.constantFrom(0, 0, 0, 1, 2, 3),
});

interface Entry {
  path: string;
  mode: string;
  oid: string;
  stage: number;
}

/** Drops entries that an index cannot hold together: a path twice in a stage, resolved and in conflict, file and folder. */
function compatible(entries: readonly Entry[]): Entry[] {
  const taken = new Map<string, Entry[]>();
  for (const one of entries) {
    const same = taken.get(one.path) ?? [];
    const nested = [...taken.keys()].some(
      (path) => path.startsWith(`${one.path}/`) || one.path.startsWith(`${path}/`),
    );
    const clashes = same.some(({ stage }) => stage === one.stage || stage === 0 || one.stage === 0);
    if (!nested && !clashes) taken.set(one.path, [...same, one]);
  }
  return [...taken.values()].flat();
}

function makeIndex(repository: string, entries: readonly Entry[]): void {
  run('rm', ['-f', '.git/index'], { cwd: repository });
  const lines = entries.map(({ path, mode, oid, stage }) => `${mode} ${oid} ${stage}\t${path}\0`).join('');
  const input = Buffer.from(lines);
  const outcome = run(REAL_GIT, ['update-index', '-z', '--index-info'], { cwd: repository, input });
  expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
}

const indexOf = (repository: string) => readFileSync(join(repository, '.git/index'));
const digestOf = (repository: string) => summarizeIndex(indexOf(repository), 20).digest;

test('agt reads the entries that git lists, in every version, and the digest is the same for all versions', () => {
  const repository = makeRepository({});
  const property = fc.property(fc.array(entry, { minLength: 1, maxLength: 12 }), (random) => {
    const entries = compatible(random);
    makeIndex(repository, entries);
    const digests = VERSIONS.map((version) => {
      git(repository, 'update-index', '--index-version', String(version), '--force-write-index');
      const read = parseIndex(indexOf(repository), 20);
      const listed = read.entries.map(
        ({ path, mode, oid, stage }) => `${mode.toString(8)} ${oid} ${stage}\t${path}\0`,
      );
      expect(listed.join('')).toBe(git(repository, 'ls-files', '-z', '--stage'));
      const summary = summarizeIndex(indexOf(repository), 20);
      expect(summary.hasMoreThanTree).toBe(entries.some(({ stage }) => stage > 0));
      expect([read.split, summary.split]).toEqual([false, false]);
      return summary.digest;
    });
    expect(new Set(digests).size).toBe(1);
  });
  fc.assert(property, { numRuns: 25 });
});

test('the digest depends on the meaning of an entry and not on its stat data', () => {
  const repository = makeRepository({ a: 'a\n', 'd/b': 'b\n', 'd/c': 'c\n' });
  const seen = new Set<string>();
  const before = digestOf(repository);
  seen.add(before);
  const isNew = () => {
    const digest = digestOf(repository);
    expect(seen).not.toContain(digest);
    seen.add(digest);
  };
  run('touch', ['-d', '2001-01-01', 'a'], { cwd: repository });
  const bytes = indexOf(repository);
  git(repository, 'update-index', '--refresh');
  expect(indexOf(repository).equals(bytes)).toBe(false);
  expect(digestOf(repository)).toBe(before);
  for (const change of [
    ['--chmod=+x', 'a'],
    ['--assume-unchanged', 'a'],
    ['--skip-worktree', 'd/b'],
    ['--cacheinfo', `100644,${OID},d/c`],
    ['--force-remove', 'd/c'],
    ['--add', '--cacheinfo', `100644,${OID},d/cc`],
  ]) {
    git(repository, 'update-index', ...change);
    isNew();
  }
  run('touch', ['new'], { cwd: repository });
  git(repository, 'add', '--intent-to-add', 'new');
  isNew();
  git(repository, 'update-index', '--split-index');
  expect([summarizeIndex(indexOf(repository), 20).split, parseIndex(indexOf(repository), 20).split]).toEqual([
    true,
    true,
  ]);
});

test('the digest tells "ab/c" from "a/bc"', () => {
  const repository = makeRepository({});
  const digests = [
    ['ab', 'c'],
    ['a', 'bc'],
    ['abc', 'd'],
    ['ab', 'cd'],
  ].map((paths) => {
    makeIndex(
      repository,
      paths.map((path) => ({ path, mode: '100644', oid: OID, stage: 0 })),
    );
    return digestOf(repository);
  });
  expect(new Set(digests).size).toBe(4);
});

test('bytes that are not an index are refused', () => {
  const bytes = indexOf(makeRepository({ a: 'a\n' }));
  for (const broken of [Buffer.from('nonsense, this'), bytes.subarray(0, 40), bytes.subarray(0, 5)]) {
    expect(() => parseIndex(broken, 20)).toThrow();
    expect(() => summarizeIndex(broken, 20)).toThrow();
  }
  expect(summarizeIndex(Buffer.alloc(0), 20)).toMatchObject({ hasMoreThanTree: false, split: false });
});
