/**
 * As `rm -rf`, and also through directories that are read-only, as some package caches make theirs, or deeper than a path
 * can say. No link is followed.
 */
import { chmodSync, lstatSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { entriesOf } from './folder-entries.ts';
import { systemPath } from './long-path.ts';

export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Node knows neither the way nor, sometimes, the reason.
    const place = Buffer.from(path).toString('latin1');
    const stat = lstatSync(systemPath(place), { throwIfNoEntry: false });
    if (stat?.isDirectory()) removeByHand(place);
    else if (stat !== undefined) unlinkSync(systemPath(place));
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
