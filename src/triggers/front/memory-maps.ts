import { statfsSync } from 'node:fs';

/** f_type of ext2 to ext4, XFS, Btrfs, F2FS (statfs(2)). */
const TYPES = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010]);

/**
 * Whether the first write through a new memory map gives a file a new time; on tmpfs none does. After a scan all maps
 * count as new: agt leaves no facts while a process in the folder has a file mapped for writing.
 */
export function mapsChangeTimes(folder: string): boolean {
  return TYPES.has(statfsSync(folder).type >>> 0);
}
