/** Node's binary for a target, from its npm package. npm installs only that of the own system; the others are fetched. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HOST, type Target } from './targets.ts';

const root = join(import.meta.dirname, '..', '..');

interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
}

/** The directory of the package. */
export function nodePackage(target: Target): string {
  if (target.name === HOST) return join(root, 'node_modules', target.node);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { version, integrity } = lock.packages[`node_modules/${target.node}`] as LockedPackage;
  const store = join(root, 'node_modules', '.cache', 'agt-node');
  const directory = join(store, `${target.node}-${version}`);
  if (existsSync(directory)) return directory;
  mkdirSync(store, { recursive: true });
  const words = ['pack', `${target.node}@${version}`, '--silent', '--pack-destination', store];
  const archive = join(store, execFileSync('npm', words, { encoding: 'utf8' }).trim());
  const [algorithm = '', expected] = integrity.split(/-(.*)/s);
  if (createHash(algorithm).update(readFileSync(archive)).digest('base64') !== expected)
    throw new Error(`${archive} is not what package-lock.json says: delete it, and try again`);
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished);
  execFileSync('tar', ['-xzf', archive, '-C', unfinished, '--strip-components=1']);
  renameSync(unfinished, directory);
  rmSync(archive);
  return directory;
}
