/** The docs name files that exist, and keep to their size. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SETTING_KEYS } from '../../src/config/setting-table.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const listed = (dir: string) =>
  readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' }).map((path) => join(dir, path));

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'test/README.md',
  ...[...listed('docs'), ...listed('src')].filter((path) => path.endsWith('.md')),
];
const SOURCES = [...listed('src'), ...listed('test'), ...listed('scripts')].filter((path) =>
  /\.tsx?$/.test(path),
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

test('docs/guide/configuration.md has a row for each setting, with its default', () => {
  const page = read('docs/guide/configuration.md');
  const wrong = SETTING_KEYS.filter(
    ({ name, defaultValue }) =>
      !page.includes(`\n| \`${name}\` | ${defaultValue === '' ? '' : `\`${defaultValue}\` |`}`),
  );
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

describe('docs/architecture.md', () => {
  const page = read('docs/architecture.md');

  test('has at most 200 lines', () => {
    expect(page.split('\n').length - 1).toBeLessThanOrEqual(200);
  });

  test('its walks name files and functions that exist', () => {
    const steps = [...page.matchAll(/^ {4}[ \d]\d {2}(\S+) +(\w+)/gm)];
    expect(steps).toHaveLength(40);
    const wrong = steps.filter(
      ([, file = '', name = '']) =>
        !existsSync(join(root, 'src', file)) || !read(`src/${file}`).includes(name),
    );
    expect(wrong.map(([step]) => step)).toEqual([]);
  });

  test('its table has every mechanism of more than 300 lines, with its size to a fifth', () => {
    const rows = [...page.matchAll(/^\| (`[^|]*`) \| ([\d,]+) \|/gm)].map(([, names = '', lines = '']) => ({
      names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      lines: Number(lines.replace(',', '')),
    }));
    const ownLines = (dir: string) =>
      readdirSync(join(root, 'src', dir))
        .filter((name) => /\.tsx?$/.test(name))
        .reduce((sum, name) => sum + read(`src/${dir}/${name}`).split('\n').length - 1, 0);
    const named = new Set(rows.flatMap(({ names }) => names));
    const dirs = listed('src')
      .map((path) => path.slice('src/'.length))
      .filter((path) => path.includes('/') && !/\.\w+$/.test(path));
    const missing = dirs.filter(
      (dir) => ownLines(dir) > 300 && ![...named].some((one) => dir === one || dir.startsWith(`${one}/`)),
    );
    expect(missing).toEqual([]);
    const below = (one: string) => [
      one,
      ...dirs.filter((dir) => dir.startsWith(`${one}/`) && !named.has(dir)),
    ];
    const wrong = rows
      .map(({ names, lines }) => ({
        names,
        lines,
        now: names.flatMap(below).reduce((sum, dir) => sum + ownLines(dir), 0),
      }))
      .filter(({ lines, now }) => Math.abs(lines - now) > now / 5);
    expect(wrong).toEqual([]);
  });
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
