/** File systems on loop devices: a sparse file, mounted in a directory of the tests. They need root. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from './world.ts';

const SIZE = 512 * 1024 * 1024;

function tool(...[program = '', ...args]: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

export interface Disk {
  /** Where it is mounted. */
  readonly path: string;
  readonly unmount: () => void;
}

/** `options`: of mount(8). A process that outlives the test undoes the mount if the test is killed. */
export function mountBtrfs(...options: string[]): Disk {
  const directory = makeTempDir('disk');
  const image = join(directory, 'image');
  const path = makeTempDir('btrfs');
  writeFileSync(image, '');
  truncateSync(image, SIZE);
  tool('mkfs.btrfs', '-q', image);
  tool('mount', '-o', ['loop', ...options].join(','), image, path);
  const unmount = () => {
    if (isMounted(path)) tool('umount', '--lazy', path);
  };
  const script = 'tail --pid="$1" -f /dev/null; umount --lazy "$2" 2>/dev/null';
  const words = ['-c', script, 'sh', String(process.pid), path];
  spawn('sh', words, { detached: true, stdio: 'ignore' }).unref();
  return { path, unmount };
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
