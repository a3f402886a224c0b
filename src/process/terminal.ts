import { fstatSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { isatty } from 'node:tty';

/** Whether a standard stream is a terminal. `isatty` loads node:tty: a file, a pipe or /dev/null need not wait for it. */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isCharacterDevice() && stat.rdev !== statSync(devNull).rdev && isatty(fd);
  } catch {
    return false; // it is closed
  }
}
