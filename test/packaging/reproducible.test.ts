/** Equal bundles and code caches make equal executables, and V8 takes the caches. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { asCommonJsFunction } from '../../src/process/load-agtmode.ts';
import { makeTempDir, run } from '../harness/world.ts';

const root = join(import.meta.dirname, '../..');

test('a second executable has the same bytes', () => {
  const made = ['one', 'two'].map((name) => join(makeTempDir('build'), name));
  for (const path of made) {
    const code = `import('./scripts/packaging/executable.ts').then((pack) => pack.packWithCaches('${path}'))`;
    expect(run(process.execPath, ['-e', code], { cwd: root })).toMatchObject({ exitCode: 0 });
  }
  const [one, two] = made.map((path) => readFileSync(path));
  expect(two !== undefined && one?.equals(two)).toBe(true);
});

test('a hook loads neither editors of settings nor texts of extensions', () => {
  const inBundle = (bundle: string, word: string) =>
    readFileSync(join(root, 'dist', bundle), 'latin1').includes(word);
  for (const word of ['jsonc-parser', 'registerCommand'])
    expect([word, inBundle('frequent.cjs', word), inBundle('agtmode.cjs', word)]).toEqual([
      word,
      false,
      true,
    ]);
});

test.each(['main.cjs', 'frequent.cjs', 'agtmode.cjs'])('V8 takes the code cache of %s', (bundle) => {
  const source = asCommonJsFunction(readFileSync(join(root, 'dist', bundle), 'latin1'));
  const cachedData = readFileSync(join(root, 'dist', `${bundle}.cache`));
  expect(new Script(source, { filename: bundle, cachedData }).cachedDataRejected).toBe(false);
});
