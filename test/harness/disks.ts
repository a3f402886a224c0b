/** File systems on loop devices: a sparse file, mounted in a directory of the tests. They need root. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from './world.ts';

export const SIZE = 512 * 1024 * 1024;

/** Throws if it fails. */
export function tool(...[program = '', ...args]: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

export interface Disk {
  /** Where it is mounted. */
  readonly path: string;
  readonly unmount: () => void;
}

/** `options`: of mount(8). */
export function mountBtrfs(...options: string[]): Disk {
  return mountImage('btrfs', options);
}

/** For overlays: they cannot lie on one another, as they would in a container. */
export function mountExt4(): Disk {
  return mountImage('ext4', []);
}

/** A process that outlives the test undoes the mount if the test is killed. */
function mountImage(type: 'btrfs' | 'ext4', options: readonly string[]): Disk {
  const directory = makeTempDir('disk');
  const image = join(directory, 'image');
  const path = makeTempDir(type);
  writeFileSync(image, '');
  truncateSync(image, SIZE);
  tool(`mkfs.${type}`, '-q', image);
  tool('mount', '-o', ['loop', ...options].join(','), image, path);
  const unmount = () => {
    if (isMounted(path)) tool('umount', '--lazy', path);
  };
  const script = 'tail --pid="$1" -f /dev/null; umount --lazy "$2" 2>/dev/null';
  const words = ['-c', script, 'sh', String(process.pid), path];
  spawn('sh', words, { detached: true, stdio: 'ignore' }).unref();
  return { path, unmount };
}

/** Why overlays cannot be tested here; undefined if they can. */
export function overlayProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can mount an overlay';
  spawnSync('modprobe', ['overlay']);
  if (!/\toverlay$/m.test(readFileSync('/proc/filesystems', 'utf8'))) return 'the kernel has no overlayfs';
  try {
    mountExt4().unmount();
    return undefined;
  } catch (error) {
    return `no ext4 can be mounted: ${(error as Error).message}`;
  }
}

function isMounted(path: string): boolean {
  return readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${path} `);
}

/** Why no btrfs can be mounted here; undefined if it can. */
export function btrfsProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can mount a btrfs';
  if (spawnSync('btrfs', ['--version']).status !== 0) return 'there is no btrfs(8): install btrfs-progs';
  spawnSync('modprobe', ['btrfs']);
  if (!/\tbtrfs$/m.test(readFileSync('/proc/filesystems', 'utf8'))) return 'the kernel has no btrfs';
  try {
    mountBtrfs().unmount();
    return undefined;
  } catch (error) {
    return `no btrfs can be mounted: ${(error as Error).message}`;
  }
}

/** Leaves no room for data; btrfs keeps small files elsewhere, and `small` fills that too. Returns a function that empties it. */
export function fillDisk({ path }: Disk, small = false): () => void {
  const filler = join(path, 'filler');
  mkdirSync(filler);
  const large = join(filler, 'large');
  const size = () => statSync(large, { throwIfNoEntry: false })?.size ?? 0;
  for (let more = SIZE / 2; more > 4096; more /= 2)
    while (spawnSync('fallocate', ['-o', String(size()), '-l', String(more), large]).status === 0);
  try {
    for (let n = 0; small; n++) writeFileSync(join(filler, String(n)), 'x'.repeat(2000));
  } catch {
    // it is full
  }
  return () => rmSync(filler, { recursive: true });
}
