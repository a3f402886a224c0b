/** The programs of others that an executable holds: their licences, and a list of them as a CycloneDX document (SBOM). */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Release } from './archive.ts';
import { nodePackage } from './node-binary.ts';
import type { Target } from './targets.ts';

const root = join(import.meta.dirname, '..', '..');

interface Bundled {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly text: string;
}

/** `inputs`: the files of which the bundles are made. */
export function bundledPackages(inputs: readonly string[], target: Target): Bundled[] {
  const directories = inputs.flatMap(
    (path) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  const packages = [...new Set(directories)].sort().map((path) => readPackage(join(root, path)));
  return [{ ...readPackage(nodePackage(target)), name: 'node' }, ...packages];
}

function readPackage(directory: string): Bundled {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const [file] = globSync('{LICENSE,LICENCE,license,licence}*', { cwd: directory }).sort();
  if (file === undefined) throw new Error(`${directory} has no licence`);
  return { name, version, license, text: readFileSync(join(directory, file), 'utf8') };
}

export function licences(packages: readonly Bundled[]): string {
  const rule = '-'.repeat(78);
  return packages
    .map(({ name, version, text }) => `${name} ${version}\n${rule}\n${text.trim()}\n`)
    .join('\n\n');
}

export function billOfMaterials({ name, version, time }: Release, packages: readonly Bundled[]): string {
  const component = (one: { name: string; version: string; license: string }, type: string) => ({
    type,
    'bom-ref': `pkg:npm/${one.name}@${one.version}`,
    ...{
      name: one.name,
      version: one.version,
      purl: `pkg:npm/${one.name.replace('@', '%40')}@${one.version}`,
    },
    licenses: [{ license: { id: one.license } }],
  });
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: new Date(time * 1000).toISOString(),
      component: component({ name, version, license: 'MIT' }, 'application'),
    },
    components: packages.map((one) => component(one, 'library')),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
