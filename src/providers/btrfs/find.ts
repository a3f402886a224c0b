/** Whether a place is on btrfs, and what this user may do with subvolumes there. */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Place } from '../place.ts';
import type { Finding } from '../provider.ts';

/** BTRFS_SUPER_MAGIC of statfs(2). */
const BTRFS = 0x9123683e;
const SCORE = 80;
/** Without the right to drop a subvolume at once, agt deletes its files one by one. */
const SCORE_OF_SLOW_DROP = 60;

export function findBtrfs(place: Place): Finding {
  const { existing, fileSystem, mount, isRoot } = place;
  const cannot = (reason: string, hint?: string): Finding => ({
    ...{ kind: 'btrfs', score: 0, clone: false, freeze: false, drop: 'slowly' },
    ...{ notes: [reason], hint },
  });
  if (fileSystem !== BTRFS) return cannot(`${existing} is not on btrfs${named(mount?.type)}`);
  if (place.program('btrfs') === undefined)
    return cannot('there is no btrfs program on PATH', 'install the package btrfs-progs');
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    return cannot(`${existing} is not writable`, `let your user write to ${existing}`);
  }
  const mayDrop = isRoot || mount?.options.includes('user_subvol_rm_allowed') === true;
  const notes = [
    mayDrop
      ? 'clones and drops a session in milliseconds'
      : 'clones a session in milliseconds; drops it file by file',
    ...(hasQuotas(mount?.source)
      ? ['quotas are on: with many snapshots they make btrfs slow (turn them off: btrfs quota disable)']
      : []),
  ];
  return {
    ...{ kind: 'btrfs', clone: true, freeze: mayDrop, notes },
    score: mayDrop ? SCORE : SCORE_OF_SLOW_DROP,
    drop: mayDrop ? 'at once' : 'slowly',
    hint: mayDrop ? undefined : `mount it with the option user_subvol_rm_allowed`,
  };
}

function named(type: string | undefined): string {
  return type === undefined ? '' : `, but on ${type}`;
}

const SYSFS = '/sys/fs/btrfs';

/** The kernel lists quota groups for each file system since 5.9. */
function hasQuotas(device: string | undefined): boolean {
  if (device === undefined || !existsSync(SYSFS)) return false;
  try {
    return readdirSync(SYSFS).some(
      (id) =>
        existsSync(join(SYSFS, id, 'devices', basename(device))) && existsSync(join(SYSFS, id, 'qgroups')),
    );
  } catch {
    return false;
  }
}
