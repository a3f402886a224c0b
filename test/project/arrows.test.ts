/** Lint keeps the arrows between the rooms of src/, as docs/architecture.md draws them. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { makeTempDir, write } from '../harness/world.ts';

const root = join(import.meta.dirname, '../..');

/** From the bottom to the top. Rooms on one floor do not import each other. */
const FLOORS = [
  ['disk'],
  ['git'],
  ['filter'],
  ['config'],
  ['snapshot'],
  ['autocommit', 'checkout', 'repository', 'providers'],
  ['session'],
  ['maintenance'],
  ['triggers'],
  ['timetravel'],
  ['landing'],
  ['running'],
  ['integrations'],
];
const COLUMN = FLOORS.flat();
const ROOMS = [...COLUMN, 'gitmode', 'agtmode'];

function mayImport(room: string): readonly string[] {
  if (room === 'gitmode') return ['disk', 'git', 'filter', 'config'];
  if (room === 'agtmode') return [...COLUMN, 'gitmode'];
  return FLOORS.slice(
    0,
    FLOORS.findIndex((floor) => floor.includes(room)),
  ).flat();
}

/** The rooms that each room must not import, according to lint. */
let refused: Map<string, string[]>;

beforeAll(() => {
  const dir = makeTempDir();
  copyFileSync(join(root, 'biome.json'), join(dir, 'biome.json'));
  for (const room of ROOMS) {
    for (const other of ROOMS.filter((name) => name !== room)) {
      write(join(dir, 'src', room, `${other}.ts`), `import '../${other}/probe.ts';\n`);
    }
    write(join(dir, 'src', room, 'leaf.ts'), `import '../repository/layout.ts';\n`);
  }
  refused = lint(dir);
});

function lint(dir: string): Map<string, string[]> {
  const args = ['lint', '--only=style/noRestrictedImports', '--vcs-enabled=false', '--max-diagnostics=none'];
  const biome = join(root, 'node_modules/.bin/biome');
  const run = spawnSync(biome, [...args, '--reporter=github', 'src'], { cwd: dir, encoding: 'utf8' });
  const found = new Map<string, string[]>();
  for (const [, room = '', file = ''] of run.stdout.matchAll(/file=\S*?src\/(\w+)\/(\w+)\.ts/g)) {
    found.set(room, [...(found.get(room) ?? []), file]);
  }
  return found;
}

test('every room of src has its place', () => {
  const isRoom = (name: string) => statSync(join(root, 'src', name)).isDirectory() && name !== 'process';
  expect(readdirSync(join(root, 'src')).filter(isRoom).sort()).toEqual([...ROOMS].sort());
});

test.each(ROOMS)('%s may import the rooms below it, and no other', (room) => {
  const forbidden = ROOMS.filter((other) => other !== room && !mayImport(room).includes(other));
  expect((refused.get(room) ?? []).sort()).toEqual(forbidden.sort());
});
