/**
 * Removes a directory with everything in it, like `rm -rf`, but also read-only directories, as some package caches make
 * them, and paths longer than PATH_MAX. It follows no link.
 */
import { chmodSync, lstatSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { entriesOf } from './folder-entries.ts';
import { systemPath } from './long-path.ts';

export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Node can do neither of them, and its error does not always tell which one it was.
    const bytes = Buffer.from(path).toString('latin1');
    const stat = lstatSync(systemPath(bytes), { throwIfNoEntry: false });
    if (stat?.isDirectory()) removeDirectory(bytes);
    else if (stat !== undefined) unlinkSync(systemPath(bytes));
  }
}

function removeDirectory(directory: string): void {
  chmodSync(systemPath(directory), 0o700);
  for (const entry of entriesOf(directory)) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) removeDirectory(path);
    else unlinkSync(systemPath(path));
  }
  rmdirSync(systemPath(directory));
}
