/** As `rm -rf`, and also through directories that are read-only, as some package caches make theirs. No link is followed. */
import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../errors.ts';

export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!['EACCES', 'EPERM', 'ENOTEMPTY'].includes(errorCode(error))) throw error;
    makeWritable(path);
    rmSync(path, { recursive: true, force: true });
  }
}

function makeWritable(directory: string): void {
  chmodSync(directory, 0o700);
  for (const name of readdirSync(directory)) {
    const child = join(directory, name);
    if (lstatSync(child).isDirectory()) makeWritable(child);
  }
}
