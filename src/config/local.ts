/**
 * Where a repository's own agt settings are. An agt clone records its area (the folder beside the bare repository)
 * in `<common>/agt/area`, so that a bare repository with an unrelated worktree beside it is never mistaken for one.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** `<git-common-dir>/agt`: everything that agt keeps about a repository. */
export function stateDirectory(commonDir: string): string {
  return join(commonDir, 'agt');
}

/** Absolute path of an agt clone's area, or undefined in an ordinary repository. */
export function readArea(commonDir: string): string | undefined {
  let recorded: string;
  try {
    recorded = readFileSync(join(stateDirectory(commonDir), 'area'), 'utf8').trimEnd();
  } catch {
    return undefined;
  }
  const area = resolve(commonDir, recorded);
  return recorded !== '' && !existsSync(join(area, '.git')) ? area : undefined;
}

export function localConfigPath(commonDir: string): string {
  const area = readArea(commonDir);
  return area === undefined ? join(stateDirectory(commonDir), 'config') : join(area, '.agt', 'config');
}
