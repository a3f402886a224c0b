/** Files of the user in a snapshot, and how agt writes them into the checkout again: the exact bytes and permissions. */
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { failurePoint } from '../../disk/failure-point.ts';
import { isAlive } from '../../disk/lock-owner.ts';
import { withOpenDirectories } from '../../disk/open-directories.ts';
import { parentPath } from '../../disk/parent-path.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import { type Git, gitBytes } from '../../git/run/git.ts';
import { parentDirectories } from '../../snapshot/directories.ts';
import { readSnapshotMetadata } from '../../snapshot/metadata.ts';
import { decodePath } from '../../snapshot/tree-names.ts';
import { lstatIn, pathIn, removeFile } from './checkout.ts';

export interface Wanted {
  /** Undefined: there was no such file. */
  readonly file: { readonly isLink: boolean; readonly content: Buffer; readonly mode: number } | undefined;
  readonly path: string;
}

/** As the snapshot has them. */
export async function readVersions(git: Git, snapshot: string, paths: readonly string[]): Promise<Wanted[]> {
  const { modes } = await readSnapshotMetadata(git, snapshot);
  const files = new Map(
    (await listTree(git, `${snapshot}:sandbox`, { recurse: 'files' })).map((entry) => [
      decodePath(entry.path),
      entry,
    ]),
  );
  const wanted: Wanted[] = [];
  for (const path of paths) {
    const entry = files.get(path);
    if (entry === undefined) {
      wanted.push({ path, file: undefined });
      continue;
    }
    const usual = entry.mode === '100755' ? modes.usual.program : modes.usual.file;
    const content = await gitBytes(git, ['cat-file', 'blob', entry.oid]);
    const mode = modes.others.get(`sandbox/${path}`) ?? usual;
    wanted.push({ path, file: { isLink: entry.mode === '120000', content, mode } });
  }
  return wanted;
}

/** `filter`: as of `git diff --diff-filter`. */
export async function changedPaths(git: Git, from: string, to: string, filter = ''): Promise<string[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-only', `--diff-filter=${filter}`];
  const output = await gitBytes(git, [...args, from, to, '--']);
  return output
    .toString('latin1')
    .split('\0')
    .filter((path) => path !== '');
}

/** The path in the way: a link where a directory has to be, for example, or a directory in the place of the file. */
export function blockerOf(checkout: string, path: string): string | undefined {
  for (let parent = parentPath(path); parent !== ''; parent = parentPath(parent)) {
    const stat = lstatIn(checkout, parent);
    if (stat !== undefined && !stat.isDirectory()) return parent;
  }
  return lstatIn(checkout, path)?.isDirectory() === true ? path : undefined;
}

const TEMPORARY = /^\.agt-(\d+)\.tmp$/;

/** Deletes what a killed agt has left beside these files while it wrote them; never one of the files themselves. */
export function sweepTemporary(checkout: string, paths: readonly string[]): void {
  const own = new Set(paths);
  for (const parent of new Set(paths.map(parentPath))) {
    for (const name of namesIn(checkout, parent)) {
      const pid = TEMPORARY.exec(name)?.[1];
      const path = parent === '' ? name : `${parent}/${name}`;
      if (pid !== undefined && !own.has(path) && !isAlive(Number(pid)))
        rmSync(pathIn(checkout, path), { force: true });
    }
  }
}

function namesIn(checkout: string, directory: string): string[] {
  try {
    return readdirSync(pathIn(checkout, directory === '' ? '.' : directory), 'latin1');
  } catch {
    return []; // it is not there, or no directory any more
  }
}

/** Follows no link on the way. @throws ENOTDIR if there is one. */
export function write(checkout: string, { path, file }: Wanted): void {
  if (file === undefined) {
    removeFile(checkout, path);
    return;
  }
  withOpenDirectories(checkout, (disk) => {
    for (const directory of parentDirectories(path).reverse())
      if (disk.lstat(directory) === undefined) mkdirSync(disk.entry(directory));
    const parent = parentPath(path);
    const temporary = disk.entry(`${parent === '' ? '' : `${parent}/`}.agt-${process.pid}.tmp`);
    rmSync(temporary, { force: true });
    if (file.isLink) symlinkSync(file.content, temporary);
    else writeContent(temporary, file);
    failurePoint('in place: file written');
    renameSync(temporary, disk.entry(path));
  });
}

function writeContent(path: string | Buffer, { content, mode }: NonNullable<Wanted['file']>): void {
  const fd = openSync(path, 'wx', mode | 0o600);
  try {
    for (let offset = 0; offset < content.length; ) offset += writeSync(fd, content, offset);
    fsyncSync(fd);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}
