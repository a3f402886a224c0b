/** Whether a place is on a file system over which overlayfs works, and whether this user may mount. */
import { accessSync, constants, readFileSync } from 'node:fs';
import { attempt } from '../../errors.ts';
import type { Place } from '../place.ts';
import type { Finding } from '../provider.ts';

/** f_type of statfs(2). */
const TYPES = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x01021994, 'tmpfs'],
]);

/** Less than git's: a session has to be mounted again after each restart of the system, so nobody gets it unasked. */
const SCORE = 40;

export function findOverlay({ existing, fileSystem, mount, isRoot }: Place): Finding {
  const cannot = (reason: string, hint?: string): Finding => ({
    ...{ kind: 'overlay', score: 0, clone: false, freeze: false, drop: 'slowly' },
    ...{ notes: [reason], hint },
  });
  if (!TYPES.has(fileSystem ?? 0))
    return cannot(`${existing} is not on ext4 or xfs${mount === undefined ? '' : `, but on ${mount.type}`}`);
  if (!isRoot) return cannot('only root can mount an overlay');
  if (!hasOverlay()) return cannot('the kernel has no overlayfs', 'load its module: modprobe overlay');
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    return cannot(`${existing} is not writable`);
  }
  const notes = [
    'clones a session in milliseconds; on request only: after a restart of the system, root has to run agt',
  ];
  return { kind: 'overlay', score: SCORE, clone: true, freeze: false, drop: 'slowly', notes };
}

function hasOverlay(): boolean {
  return attempt(() => /^nodev\toverlay$/m.test(readFileSync('/proc/filesystems', 'utf8'))) ?? false;
}
