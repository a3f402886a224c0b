/**
 * Reads names of refs from the files of a repository: `packed-refs` and the loose refs. It reads names only; git decides
 * whether a ref is broken and what it points to. If there are no such files, the caller must ask git.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile, readSmallFile, statOrUndefined } from '../../disk/read-file.ts';
import { attempt } from '../../errors.ts';

export const HEADS = 'refs/heads/';
export const TAGS = 'refs/tags/';
export const REMOTES = 'refs/remotes/';

/** False for a reftable, and for refs in another directory (git 2.54). */
export function hasRefFiles(commonDir: string, env: NodeJS.ProcessEnv): boolean {
  if (env['GIT_REFERENCE_BACKEND']) return false;
  return !/refstorage\s*=\s*"?(reftable|\w+:)/i.test(readSmallFile(join(commonDir, 'config')) ?? '');
}

/** The bytes of packed-refs; empty if there is no such file. */
export function readPackedRefs(commonDir: string): Buffer {
  return attempt(() => readRegularFile(join(commonDir, 'packed-refs'))) ?? Buffer.alloc(0);
}

const LINE_BREAK = 10;

/** Full names of the packed refs that start with `prefix`. */
export function packedRefNames(packedRefs: Buffer, prefix: string): string[] {
  const names: string[] = [];
  const wanted = Buffer.from(` ${prefix}`);
  let offset = packedRefs.indexOf(wanted);
  while (offset !== -1) {
    const end = packedRefs.indexOf(LINE_BREAK, offset);
    names.push(packedRefs.toString('utf8', offset + 1, end === -1 ? packedRefs.length : end));
    offset = packedRefs.indexOf(wanted, offset + 1);
  }
  return names;
}

/** Whether there is a loose or a packed ref of this full name. */
export function hasRef(commonDir: string, name: string): boolean {
  return (
    statOrUndefined(join(commonDir, name))?.isFile() === true ||
    packedRefNames(readPackedRefs(commonDir), name).includes(name)
  );
}

/** Full names of the loose refs below a directory of refs such as `refs/heads/agt/`. */
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

/** Names of the directories in `dir`; none if it cannot be read. */
export function subdirectories(dir: string): string[] {
  return entriesOf(dir)
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

function entriesOf(dir: string) {
  return attempt(() => readdirSync(dir, { withFileTypes: true })) ?? [];
}

/** `main` for `refs/heads/main`. */
export function shortBranch(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}
