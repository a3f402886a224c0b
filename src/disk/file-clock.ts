/**
 * The current time on the clock of a folder's file system: the time of a file that is made there. The file loses its
 * name at once; killed between the two calls, agt leaves it, and the next call deletes it.
 */
import { closeSync, fstatSync, openSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

const PREFIX = '.agt-clock-';

/** In milliseconds. `folder` is absolute. */
export function readFileClock(folder: string): number {
  const path = join(folder, `${PREFIX}${process.pid}-${Math.random().toString(36).slice(2)}`);
  // O_EXCL: a link of that name is not followed.
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

/** A clock that is this far behind the files was set back, and will not pass them soon. All files are read then. */
const CLOCK_SET_BACK_MS = 100;

/** Waits until the file system's clock is past `last`, so that every later change gets another time. */
export async function clockAfter(last: number, folder: string): Promise<number> {
  for (;;) {
    const clock = readFileClock(folder);
    if (clock > last || clock < last - CLOCK_SET_BACK_MS) return clock;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
