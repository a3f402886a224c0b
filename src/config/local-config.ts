/**
 * Finds the settings file of a repository. An agt clone records its area (the directory beside the bare repository) in
 * `<common>/agt/area`, so agt never takes a bare repository with an unrelated worktree beside it for a clone of its own.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readIfThere } from '../disk/read-file.ts';
import { agtDirectory, areaConfigFile, areaFile, configFile } from '../layout.ts';

/** Absolute path of an agt clone's area, or undefined in an ordinary repository. */
export function readArea(commonDir: string): string | undefined {
  const recorded = readIfThere(areaFile(agtDirectory(commonDir))).trimEnd();
  const area = resolve(commonDir, recorded);
  return recorded !== '' && !existsSync(join(area, '.git')) ? area : undefined;
}

export function localConfigPath(commonDir: string): string {
  const area = readArea(commonDir);
  return area === undefined ? configFile(agtDirectory(commonDir)) : areaConfigFile(area);
}
