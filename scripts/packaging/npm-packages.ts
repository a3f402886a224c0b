/**
 * The npm packages: `agt`, which runs on the Node of its host, and one for each system with the executable. npm installs
 * the one that fits; `bin/agt` starts that if it is there.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Target } from './targets.ts';

const root = join(import.meta.dirname, '..', '..');
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The others of package.json are for builds. bin/agt says which Node the bundle needs. */
const FIELDS = ['name', 'version', 'description', 'license', 'type', 'bin', 'files', 'man'];

export function executablePackage({ name }: Target): string {
  return `@${own.name}/${name}`;
}

/** Packs what `files` of package.json names, with the packages of `targets` as optional ones. Returns the archive's name. */
export function packMain(targets: readonly Target[], directory: string): string {
  return inFolder((folder) => {
    for (const path of [...own.files, 'README.md', 'LICENSE'])
      cpSync(join(root, path), join(folder, path), { recursive: true });
    const fields = Object.fromEntries(FIELDS.map((name) => [name, own[name]]));
    const optionalDependencies = Object.fromEntries(
      targets.map((target) => [executablePackage(target), own.version]),
    );
    return packFolder(folder, { ...fields, optionalDependencies }, directory);
  });
}

export function packExecutable(target: Target, executable: string, directory: string): string {
  return inFolder((folder) => {
    mkdirSync(join(folder, 'bin'));
    cpSync(executable, join(folder, 'bin', 'agt'));
    cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    const { version, license } = own;
    const description = `the executable of ${own.name} for ${target.name}`;
    const name = executablePackage(target);
    // Node's binary needs glibc: elsewhere npm leaves the package out.
    const libc = target.platform === 'linux' ? { libc: ['glibc'] } : {};
    const system = { os: [target.platform], cpu: [target.arch], ...libc };
    return packFolder(folder, { name, version, description, license, ...system, files: ['bin'] }, directory);
  });
}

function inFolder(action: (folder: string) => string): string {
  const work = mkdtempSync(join(tmpdir(), 'agt-npm-'));
  try {
    return action(work);
  } finally {
    rmSync(work, { recursive: true });
  }
}

function packFolder(folder: string, manifest: object, directory: string): string {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', directory];
  return execFileSync('npm', words, { cwd: folder, encoding: 'utf8' }).trim();
}
