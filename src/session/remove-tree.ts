/**
 * As `rm -rf`, and also through directories that are read-only, as some package caches make theirs, or deeper than a path
 * can say. No link is followed.
 */
import { chmodSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { systemPath } from '../autocommit/system-path.ts';
import { errorCode } from '../errors.ts';
import { entriesOf } from './folder-entries.ts';

export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!['EACCES', 'EPERM', 'ENOTEMPTY', 'ENAMETOOLONG'].includes(errorCode(error))) throw error;
    removeByHand(Buffer.from(path).toString('latin1'));
  }
}

function removeByHand(directory: string): void {
  chmodSync(systemPath(directory), 0o700);
  for (const entry of entriesOf(directory)) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) removeByHand(path);
    else unlinkSync(systemPath(path));
  }
  rmdirSync(systemPath(directory));
}
