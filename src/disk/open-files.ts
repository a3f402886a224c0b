import { readdirSync, readlinkSync } from 'node:fs';

/** What any process that can be looked at has open; undefined without /proc. */
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
      // it has ended, or belongs to another user
    }
  }
  return processes.length === 0 ? undefined : open;
}
