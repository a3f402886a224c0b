/** The arrows between the rooms of src/, as docs/architecture.md draws them. */
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../../src');

/** From the bottom to the top. Rooms on one floor do not import each other. */
const FLOORS = [
  ['disk'],
  ['git'],
  ['filter'],
  ['config'],
  ['snapshot'],
  ['autocommit', 'checkout', 'repository', 'providers'],
  ['session'],
  ['survey', 'folders'],
  ['workspace'],
  ['lifecycle'],
  ['maintenance'],
  ['triggers'],
  ['timetravel'],
  ['landing'],
  ['review'],
  ['running'],
  ['integrations'],
  ['travel'],
  ['page'],
];
const COLUMN = FLOORS.flat();
const ROOMS = [...COLUMN, 'gitmode', 'agtmode'];

/** Git mode starts on a budget. */
const TOO_LARGE_FOR_GITMODE = ['yargs', 'execa', 'fast-glob'];

function mayImport(room: string): readonly string[] {
  if (room === 'gitmode') return ['disk', 'git', 'filter', 'config'];
  if (room === 'agtmode') return [...COLUMN, 'gitmode'];
  return FLOORS.slice(
    0,
    FLOORS.findIndex((floor) => floor.includes(room)),
  ).flat();
}

/** The files of src/, and the packages, that a file of src/ imports. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8');
  const names = [
    ...text.matchAll(/^(?:import|export)\s[^'";]*?from '([^']+)'|\bimport\((?:\/\*.*?\*\/)?\s*'([^']+)'/gm),
  ];
  return names.map(([, name = '', late = '']) => {
    const path = name || late;
    return path.startsWith('.') ? normalize(join(dirname(file), path)) : path;
  });
}

test('the ground imports nothing', () => {
  expect(importsOf('layout.ts').filter((path) => !path.startsWith('node:'))).toEqual([]);
});

test('every room of src has its place', () => {
  const isRoom = (name: string) => statSync(join(src, name)).isDirectory() && name !== 'process';
  expect(readdirSync(src).filter(isRoom).sort()).toEqual([...ROOMS].sort());
});

test.each(ROOMS)('%s imports only the rooms below it', (room) => {
  const allowed = new Set([room, ...mayImport(room)]);
  const files = globSync(`${room}/**/*.{ts,tsx}`, { cwd: src });
  const imports = files.flatMap((file) => importsOf(file).map((path) => ({ file, path })));
  const roomOf = (path: string) => ROOMS.find((name) => path.startsWith(`${name}/`));
  const upward = imports.filter(({ path }) => {
    if (room === 'gitmode' && TOO_LARGE_FOR_GITMODE.includes(path)) return true;
    const other = roomOf(path);
    return other !== undefined && !allowed.has(other);
  });
  expect(upward).toEqual([]);
  expect(imports.length).toBeGreaterThan(0);
});
