/**
 * Pools of zfs-fuse, each in a sparse file. Its one daemon serves all pools of a machine, and sometimes stops answering if
 * two programs mount and destroy at once. So one test file at a time has a daemon, and it is a new one.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from '../../src/once.ts';
import { type Disk, SIZE, tool } from './disks.ts';
import { makeTempDir } from './world.ts';

/** File names as on a Mac: without a difference of case or of Unicode forms, and kept as they were written. */
export const NAMES_OF_MACOS = ['-O', 'casesensitivity=insensitive', '-O', 'normalization=formD'];

/** Less than a hook of a test has: vitest.config.ts. */
const LONGEST_WAIT_S = 170;

/** Ends the daemon that it started after the process with this pid. The second word says by a file that it is ready. */
const DAEMON = `
pools() { timeout 10 zpool list >/dev/null 2>&1; }
if ! pools; then
  zfs-fuse --no-daemon --no-kstat-mount & own=$!
  until pools; do sleep 0.1; done
fi
: >"$2"
tail --pid="$1" -f /dev/null
timeout 10 zpool destroy -f "$3" 2>/dev/null
[ -z "$own" ] || kill -KILL "$own"
`;

/** The name of the pool that this test file may make. */
const pool = once(() => {
  const name = `agt-test-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const ready = join(makeTempDir('zfs-daemon'), 'ready');
  const lock = join(tmpdir(), 'agt-test-zfs.lock');
  const words = ['--close', lock, 'sh', '-c', DAEMON, 'sh', String(process.pid), ready, name];
  spawn('flock', words, { detached: true, stdio: 'ignore' }).unref();
  for (let tries = 0; !existsSync(ready); tries++) {
    if (tries === 10 * LONGEST_WAIT_S) throw new Error(`no zfs-fuse within ${LONGEST_WAIT_S} s: see ${lock}`);
    spawnSync('sleep', ['0.1']);
  }
  return name;
});

/** One at a time. It goes with the test file, if not before. */
export function mountZfs(options: readonly string[] = []): Disk {
  const image = join(makeTempDir('disk'), 'image');
  const path = makeTempDir('zfs');
  const name = pool();
  writeFileSync(image, '');
  truncateSync(image, SIZE);
  tool('zpool', 'create', ...options, '-m', path, name, image);
  return { path, unmount: () => spawnSync('zpool', ['destroy', '-f', name]) };
}

/** Why there is no ZFS here; undefined if there is. */
export function zfsProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make a pool';
  if (spawnSync('sh', ['-c', 'command -v zfs-fuse']).status !== 0)
    return 'there is no zfs-fuse(8): install zfs-fuse';
  try {
    closeSync(openSync('/dev/fuse', 'r+'));
    return undefined;
  } catch (error) {
    return `/dev/fuse cannot be opened: ${(error as Error).message}`;
  }
}
