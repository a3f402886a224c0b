/** The package that npm installs is agt alone: the Node of builds and tests is a workspace, which is not published. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));

test('npm downloads nothing with agt, and the Node of builds in a clone', () => {
  const { dependencies, optionalDependencies, workspaces, files } = read('package.json');
  expect([dependencies, optionalDependencies]).toEqual([undefined, undefined]);
  expect(workspaces).toEqual(['scripts/node']);
  expect(files).not.toContain('scripts');
  const lock = read('package-lock.json').packages;
  const nodes = read('scripts/node/package.json').optionalDependencies;
  for (const [name, version] of Object.entries(nodes))
    expect(lock[`node_modules/${name}`]).toMatchObject({ version, optional: true });
});
