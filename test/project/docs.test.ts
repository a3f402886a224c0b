/** The docs name files that exist, and keep to their size. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const listed = (dir: string) =>
  readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' }).map((path) => join(dir, path));

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'test/README.md',
  ...listed('docs').filter((path) => path.endsWith('.md')),
];
const SOURCES = [...listed('src'), ...listed('test'), ...listed('scripts')].filter((path) =>
  path.endsWith('.ts'),
);

describe.each(PAGES)('%s', (page) => {
  test('links to pages that exist', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
  });

  test('names sources and tests that exist', () => {
    const named = [...read(page).matchAll(/(?<![\w/.-])(?:src|test|scripts)\/[\w./-]*\w/g)].map(
      ([path]) => path,
    );
    const ours = named.filter((path) => !/\.(?!ts$)\w+$/.test(path)); // src/login.c is an example's
    expect(ours.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('has lines of at most 110 columns, except in tables and code', () => {
    const prose = read(page).replace(/^( {4}|\|).*$/gm, '');
    expect(prose.split('\n').filter((line) => line.length > 110)).toEqual([]);
  });
});

test('README has at most 150 lines', () => {
  expect(read('README.md').split('\n').length - 1).toBeLessThanOrEqual(150);
});

test('no source file has more than 300 lines', () => {
  const tooLong = SOURCES.filter((path) => read(path).split('\n').length - 1 > 300);
  expect(tooLong).toEqual([]);
});

test('files that comments name exist', () => {
  const missing = SOURCES.flatMap((path) => {
    const comments = read(path).match(/\/\*\*[\s\S]*?\*\/|\/\/ .*$/gm) ?? [];
    const named = comments.join('\n').match(/(?<![\w/.-])(?:[\w-]+\/)*[\w-]+\.ts\b/g) ?? [];
    return [...new Set(named)]
      .filter((name) => !SOURCES.some((source) => `/${source}`.endsWith(`/${name}`)))
      .map((name) => `${path}: ${name}`);
  });
  expect(missing).toEqual([]);
});
