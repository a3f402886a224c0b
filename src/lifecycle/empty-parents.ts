import { rmdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Beside an ordinary repository agt leaves no empty folder: `sessions`, and `<repository>.agt` above it. */
export function removeEmptyParents(sessions: string): void {
  const parent = dirname(sessions);
  // If that is a link, the folder that it leads to is the user's.
  const isOwn = parent.endsWith('.agt');
  try {
    for (const directory of isOwn ? [sessions, parent] : [sessions]) rmdirSync(directory);
  } catch {
    // not empty: other sessions are there
  }
}
