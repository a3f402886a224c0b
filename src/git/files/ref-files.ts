/**
 * Names of refs read straight from the files of a repository: `packed-refs` and the loose ones. Names only: whether a
 * ref is broken or what it points to is git's business. A reftable repository has no such files; ask git there.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from './read-small-file.ts';

export const HEADS = 'refs/heads/';
export const TAGS = 'refs/tags/';
export const REMOTES = 'refs/remotes/';

export function usesReftable(commonDir: string): boolean {
  return /refstorage\s*=\s*"?reftable/i.test(readSmallFile(join(commonDir, 'config')) ?? '');
}

/** The text of packed-refs, '' where there is none. Names are latin1: bytes survive, ASCII compares. */
export function readPackedRefs(commonDir: string): Buffer {
  try {
    return readFileSync(join(commonDir, 'packed-refs'));
  } catch {
    return Buffer.alloc(0);
  }
}

/** Full names of packed refs that start with `prefix`. */
export function packedRefNames(packed: Buffer, prefix: string): string[] {
  const names: string[] = [];
  const wanted = Buffer.from(` ${prefix}`);
  for (let at = packed.indexOf(wanted); at !== -1; at = packed.indexOf(wanted, at + 1)) {
    const end = packed.indexOf(10, at);
    names.push(packed.toString('utf8', at + 1, end === -1 ? packed.length : end));
  }
  return names;
}

/** Full names of loose refs below a directory of refs such as `refs/heads/agt/`. */
export function looseRefNames(commonDir: string, directory: string): string[] {
  const names: string[] = [];
  const walk = (dir: string) => {
    for (const entry of entriesOf(join(commonDir, dir))) {
      const path = `${dir}${entry.name}`;
      if (entry.isDirectory()) walk(`${path}/`);
      else if (!entry.name.endsWith('.lock')) names.push(path);
    }
  };
  walk(directory.endsWith('/') ? directory : `${directory}/`);
  return names;
}

/** Names of the directories in `dir`; none where it cannot be read. */
export function subdirectories(dir: string): string[] {
  return entriesOf(dir)
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

function entriesOf(dir: string) {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** As people write it: without refs/heads/. */
export function shortBranch(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}
