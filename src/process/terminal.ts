import { fstatSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Whether a standard stream is a terminal. `isatty` loads node:tty, which a file or a pipe need not wait for. */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && isatty(fd);
  } catch {
    return false; // it is closed
  }
}
