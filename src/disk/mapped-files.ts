/**
 * Files that a process has mapped into its memory for writing. A write there may change no time of the file: Linux
 * sets the times only when a page is written that was clean before, and on tmpfs never. agt looks at processes whose
 * current directory is in the folder; to look at all of them would take too long.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { attempt } from '../errors.ts';
import { realPath } from './real-path.ts';

/** Relative to `folder`, which is absolute; one byte per character. Empty without /proc. */
export function filesMappedForWriting(folder: string): Set<string> {
  const found = new Set<string>();
  const real = Buffer.from(realPath(folder)).toString('latin1');
  for (const name of attempt(() => readdirSync('/proc')) ?? []) {
    if (!/^\d+$/.test(name)) continue;
    const cwd = attempt(() => readlinkSync(`/proc/${name}/cwd`, 'latin1'));
    if (cwd !== real && cwd?.startsWith(`${real}/`) !== true) continue;
    const maps = attempt(() => readFileSync(`/proc/${name}/maps`, 'latin1')) ?? '';
    for (const path of writablePaths(maps))
      if (path.startsWith(`${real}/`)) found.add(path.slice(real.length + 1));
  }
  return found;
}

/** Lines are `address perms offset device inode path`; perms of a shared mapping end in `s`. */
function writablePaths(maps: string): string[] {
  const lines = maps.matchAll(/^\S+ .w.s \S+ \S+ \d+ +(\/.*)$/gm);
  return [...lines].map(([, path = '']) => path.replaceAll('\\012', '\n'));
}
