/**
 * One synchronous walk over a session folder: lstat of everything, content of nothing. Links are never followed, `.git`
 * entries never entered. Names are bytes: strings hold one byte per character, and only where a path is not plain ASCII
 * does it go to the system as a Buffer.
 */
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { errorCode } from '../errors.ts';

export interface Skipped {
  /** Relative to the session folder, one byte per character. */
  readonly path: string;
  readonly reason: string;
}

export interface Walked {
  /** Regular files and symbolic links, in the order of the walk. */
  readonly files: Map<string, Stats>;
  readonly directories: Map<string, { mode: number; empty: boolean }>;
  readonly skipped: Skipped[];
}

/** `folder` is absolute, one byte per character like everything here. */
export function walk(folder: string, tops: readonly string[]): Walked {
  const walked: Walked = { files: new Map(), directories: new Map(), skipped: [] };
  for (const top of tops) {
    const stat = lstatSync(systemPath(`${folder}/${top}`), { throwIfNoEntry: false });
    if (stat?.isDirectory()) enter(folder, top, stat, walked);
    else if (stat !== undefined) visit(folder, top, walked);
  }
  return walked;
}

/** A path as the file system calls take it. */
export function systemPath(path: string): string | Buffer {
  return /[\x80-\xff]/.test(path) ? Buffer.from(path, 'latin1') : path;
}

function enter(folder: string, path: string, stat: Stats, walked: Walked): void {
  let names: string[];
  try {
    names = readdirSync(systemPath(`${folder}/${path}`), 'latin1');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT')
      walked.skipped.push({ path, reason: `cannot be listed (${errorCode(error)})` });
    return;
  }
  walked.directories.set(path, { mode: stat.mode, empty: names.length === 0 });
  for (const name of names.sort()) {
    if (name !== '.git') visit(folder, `${path}/${name}`, walked);
    else if (path !== 'sandbox')
      walked.skipped.push({ path: `${path}/.git`, reason: 'belongs to a nested repository' });
  }
}

function visit(folder: string, path: string, walked: Walked): void {
  let stat: Stats;
  try {
    stat = lstatSync(systemPath(`${folder}/${path}`));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT')
      walked.skipped.push({ path, reason: `cannot be looked at (${errorCode(error)})` });
    return;
  }
  if (stat.isFile() || stat.isSymbolicLink()) walked.files.set(path, stat);
  else if (stat.isDirectory()) enter(folder, path, stat, walked);
  else walked.skipped.push({ path, reason: kindOf(stat) });
}

function kindOf(stat: Stats): string {
  if (stat.isSocket()) return 'is a socket';
  if (stat.isFIFO()) return 'is a named pipe';
  return 'is a device';
}
