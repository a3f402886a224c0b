/** A folder that agt has snapshots of, and that an agent has deleted while it worked there. */
import { existsSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeDirectories } from '../../disk/make-directories.ts';
import { hasStore, realPath } from '../../session/attached/store.ts';
import type { Context } from '../context.ts';

/** The folder at `cwd`, which is gone, or the nearest one above it that is gone as well. */
export async function deletedFolder(context: Context, cwd: string): Promise<string | undefined> {
  if ((await context.repositoryIfAny())?.worktree !== undefined) return undefined; // its snapshots count there
  const access = context.folderAccess();
  return gonePlaces(cwd).find((place) => hasStore(access, place));
}

/** The innermost first. No part above them is a link. */
function gonePlaces(path: string): string[] {
  if (existsSync(path)) return [];
  const above = gonePlaces(dirname(path));
  return [join(above[0] ?? realPath(dirname(path)), basename(path)), ...above];
}

/** Runs `action` in the folder. If that brings no file back, the folder goes again. */
export async function inFolderMadeAgain<T>(folder: string, action: () => Promise<T>): Promise<T> {
  const made = gonePlaces(folder);
  makeDirectories(folder);
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await action();
  } finally {
    process.chdir(before);
    removeEmpty(made);
  }
}

function removeEmpty(directories: readonly string[]): void {
  try {
    for (const directory of directories) rmdirSync(directory);
  } catch {
    // it has files
  }
}
