/**
 * What the file system of a folder calls now, which need not be what this machine calls so: the time of a file made
 * there. It has no name while it is asked, so that a process that is killed leaves nothing, but for one made in the
 * instant between two calls, which the next one takes away.
 */
import { closeSync, fstatSync, openSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

const PREFIX = '.agt-clock-';

/** In milliseconds. `folder` is absolute. */
export function readFileClock(folder: string): number {
  // Exclusively: a link that somebody put there is not followed.
  const path = join(folder, `${PREFIX}${process.pid}-${Math.random().toString(36).slice(2)}`);
  const probe = openSync(path, 'wx');
  try {
    unlinkSync(path);
    for (const name of readdirSync(folder)) {
      if (name.startsWith(PREFIX)) rmSync(join(folder, name), { force: true });
    }
    return fstatSync(probe).mtimeMs;
  } finally {
    closeSync(probe);
  }
}
