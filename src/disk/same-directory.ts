/** Whether two paths lead to one directory: by links, or because one is mounted at the other. */
import { realpathSync, statSync } from 'node:fs';

export function isSameDirectory(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    if (realpathSync(one) === realpathSync(other)) return true;
    const [a, b] = [statSync(one), statSync(other)];
    return a.isDirectory() && a.dev === b.dev && a.ino === b.ino;
  } catch {
    return false;
  }
}
