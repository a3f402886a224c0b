/** New stat data for an index: git sees what it would see if it read every file again, and any later change. */
import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseIndex } from '../../../src/git/files/index-file.ts';
import { withStatData } from '../../../src/git/files/index-stat.ts';
import { examineFiles, statOfExamined } from '../../../src/timetravel/written-folder.ts';
import { git, makeTempDir, REAL_GIT, run, write } from '../../harness/world.ts';

const PATHS = ['a', 'b.sh', 'd/c', 'd/e f', 'g\u00e9', 'link'];

interface Wanted {
  readonly staged: string;
  readonly onDisk: string;
  readonly isProgram: boolean;
}

const file = fc.record({
  staged: fc.constantFrom('one\n', 'two\n', '', 'longer\n'),
  onDisk: fc.constantFrom('same', 'one\n', 'two\n', '', 'longer\n', 'gone'),
  isProgram: fc.boolean(),
});

function put(path: string, { isProgram }: Wanted, content: string): void {
  rmSync(path, { force: true });
  if (path.endsWith('link')) symlinkSync(content === '' ? 'nowhere' : content.trim(), path);
  else write(path, content, isProgram ? 0o755 : 0o644);
}

function blob(path: string): string {
  const bytes = path.endsWith('link')
    ? run('readlink', ['-n', path], { cwd: '/' }).stdout
    : readFileSync(path, 'latin1');
  const content = Buffer.from(bytes, 'latin1');
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

const status = (sandbox: string, index: string) =>
  run(REAL_GIT, ['status', '--porcelain=v2', '-z', '--no-renames', '-uno'], {
    cwd: sandbox,
    env: { GIT_INDEX_FILE: index, GIT_OPTIONAL_LOCKS: '0' },
  }).stdout;

function extensionsIn(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let offset = parseIndex(bytes, 20).end; offset + 8 <= bytes.length - 20; ) {
    found.push(bytes.toString('latin1', offset, offset + 4));
    offset += 8 + bytes.readUInt32BE(offset + 4);
  }
  return found;
}

test('git shows the same as after update-index --really-refresh, and a later edit of the same size', () => {
  const folder = makeTempDir();
  const sandbox = join(folder, 'sandbox');
  git(folder, 'init', '-q', 'sandbox');
  const indexFile = join(sandbox, '.git/index');
  const property = fc.property(
    fc.dictionary(fc.constantFrom(...PATHS), file, { minKeys: 1 }),
    fc.constantFrom('2', '4'),
    fc.boolean(),
    (wanted, version, hasTree) => {
      for (const path of PATHS) rmSync(join(sandbox, path), { force: true, recursive: true });
      rmSync(indexFile, { force: true });
      for (const [path, each] of Object.entries(wanted)) put(join(sandbox, path), each, each.staged);
      git(sandbox, 'add', '-A');
      git(sandbox, 'update-index', '--index-version', version, '--untracked-cache');
      if (hasTree) git(sandbox, 'write-tree');
      for (const [path, each] of Object.entries(wanted)) {
        if (each.onDisk === 'gone') rmSync(join(sandbox, path));
        else if (each.onDisk !== 'same') put(join(sandbox, path), each, each.onDisk);
      }
      const files = Object.entries(wanted).flatMap(([path, { onDisk }]) =>
        onDisk === 'gone'
          ? []
          : [
              {
                path: `sandbox/${Buffer.from(path).toString('latin1')}`,
                oid: blob(join(sandbox, path)),
                kind: path === 'link' ? ('link' as const) : ('file' as const),
              },
            ],
      );
      const before = readFileSync(indexFile);
      const statOf = statOfExamined(
        examineFiles(folder, files, () => false),
        new Set(),
      );
      const bytes = withStatData(before, 20, statOf) as Buffer;
      expect(extensionsIn(bytes)).toEqual(extensionsIn(before).filter((name) => name !== 'UNTR'));

      const copy = join(sandbox, '.git/index-copy');
      for (const each of [indexFile, copy]) writeFileSync(each, bytes);
      run(REAL_GIT, ['update-index', '-q', '--really-refresh'], {
        cwd: sandbox,
        env: { GIT_INDEX_FILE: copy },
      });
      const shown = status(sandbox, indexFile);
      expect(shown).toBe(status(sandbox, copy));
      expect(git(sandbox, 'ls-files', '--stage')).toBe(
        run(REAL_GIT, ['ls-files', '--stage'], {
          cwd: sandbox,
          env: { GIT_INDEX_FILE: copy },
        }).stdout.trimEnd(),
      );

      const edited = Object.keys(wanted).find((path) => wanted[path]?.onDisk === 'one\n' && path !== 'link');
      if (edited === undefined) return;
      writeFileSync(indexFile, bytes);
      writeFileSync(join(sandbox, edited), 'ONE\n');
      expect(status(sandbox, indexFile)).toMatch(/ [.A]M /);
      chmodSync(join(sandbox, edited), 0o644);
    },
  );
  fc.assert(property, { numRuns: 40 });
});

test('of files in a conflict, hidden or merely intended ones, nothing changes; a split index is left to git', () => {
  const folder = makeTempDir();
  git(folder, 'init', '-q', 'sandbox');
  const sandbox = join(folder, 'sandbox');
  for (const path of ['assumed', 'skipped', 'plain']) write(join(sandbox, path), 'x\n');
  git(sandbox, 'add', '-A');
  git(sandbox, 'update-index', '--assume-unchanged', 'assumed');
  git(sandbox, 'update-index', '--skip-worktree', 'skipped');
  write(join(sandbox, 'new'), 'new\n');
  git(sandbox, 'add', '--intent-to-add', 'new');
  const oid = git(sandbox, 'rev-parse', ':plain');
  const stages = [1, 2, 3].map((stage) => `100644 ${oid} ${stage}\tconflict\n`).join('');
  run(REAL_GIT, ['update-index', '--index-info'], { cwd: sandbox, input: stages });
  const indexFile = join(sandbox, '.git/index');
  const seen: string[] = [];
  const before = readFileSync(indexFile);
  const bytes = withStatData(before, 20, ({ path }) => {
    seen.push(path);
    return undefined;
  });
  expect(seen).toEqual(['plain']);
  writeFileSync(indexFile, bytes as Buffer);
  expect(git(sandbox, 'status', '--porcelain')).toBe('A  assumed\nUU conflict\n A new\nA  plain\nA  skipped');
  git(sandbox, 'update-index', '--split-index');
  expect(withStatData(readFileSync(indexFile), 20, () => undefined)).toBeUndefined();
});
