/** Whether a place is on ZFS, and whether this user may make datasets there. */
import type { Place } from '../place.ts';
import type { Finding } from '../provider.ts';

const SCORE = 90;

/** Types in mountinfo: of the kernel's module, and of zfs-fuse. The source of such a mount is the dataset. */
export const ZFS_TYPES: readonly (string | undefined)[] = ['zfs', 'fuse.zfs'];

export function findZfs({ existing, mount, program, isRoot }: Place): Finding {
  const cannot = (reason: string, hint?: string): Finding => ({
    ...{ kind: 'zfs', score: 0, clone: false, freeze: false, drop: 'slowly' },
    ...{ notes: [reason], hint },
  });
  if (!ZFS_TYPES.includes(mount?.type))
    return cannot(`${existing} is not on ZFS${mount === undefined ? '' : `, but on ${mount.type}`}`);
  if (program('zfs') === undefined)
    return cannot('there is no zfs program on PATH', 'install the package zfsutils-linux, or zfs-fuse');
  if (!isRoot) return cannot('only root can mount datasets on Linux', 'run agt as root, or use git');
  return {
    ...{ kind: 'zfs', score: SCORE, clone: true, freeze: true, drop: 'at once' },
    notes: [
      'clones and drops a session in milliseconds',
      ...(mount?.type === 'zfs' ? ["agt is tested with zfs-fuse, not with the kernel's ZFS"] : []),
    ],
  };
}
