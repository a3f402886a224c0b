import { readdirSync, readlinkSync } from 'node:fs';

/** The files that any process of this user has open, or any process at all for root; undefined without /proc. */
export function openFiles(): Set<string> | undefined {
  const open = new Set<string>();
  let processes: string[];
  try {
    processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
  for (const pid of processes) {
    try {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) open.add(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      // the process has ended, or belongs to another user
    }
  }
  return processes.length === 0 ? undefined : open;
}
