/**
 * Where a folder's store keeps the folder's repository. After `rm -rf .git; git init` another one is at the same place: each
 * has a directory of its own, whose file tells which repository it was made of.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../../disk/read-file.ts';
import { discoverRepository, type GitDirectories, gitDirOf } from '../../git/files/discover-repository.ts';
import { KEPT_OF } from '../../git/files/mirror-git-directory.ts';
import { keptGitDirectory, keptNestedDirectory } from '../../layout.ts';
import { birthOf } from '../moved.ts';

/** In bytes. Where no link can be made, a larger object file is not kept. */
export const LARGEST_COPY = 1 << 30;

export interface Kept {
  readonly name: string;
  readonly directory: string;
}

export function keptNamed(agtDir: string, name: string): Kept {
  return { name, directory: join(keptGitDirectory(agtDir), name) };
}

/** False if the disk was full when it was to be kept for the first time. */
export function isWhole({ directory }: Kept): boolean {
  return existsSync(join(directory, KEPT_OF));
}

/** Undefined without a repository that git could open: also where a `.git` file leads nowhere. */
export function repositoryOf(folder: string): GitDirectories | undefined {
  const gitDir = gitDirOf(folder);
  if (gitDir === undefined || !existsSync(join(gitDir, 'HEAD'))) return undefined;
  const commonDir = discoverRepository(folder, {})?.commonDir;
  return commonDir === undefined || !existsSync(join(commonDir, 'objects'))
    ? undefined
    : { gitDir, commonDir };
}

/** The copy of the repository that is there now. A new one has a new name, and its directory is not there yet. */
export function keptOf(agtDir: string, commonDir: string): Kept {
  const id = identityOf(commonDir);
  const names = keptNames(agtDir);
  const known = names.find((name) => madeOf(agtDir, name)[0] === id);
  const fresh = () => createHash('sha1').update(`${id} ${names.length}`).digest('hex').slice(0, 12);
  return keptNamed(agtDir, known ?? fresh());
}

/** The one that was kept last; undefined if there is none. */
export function newestKept(agtDir: string): (Kept & GitDirectories) | undefined {
  const time = (name: string) =>
    statSync(join(keptNamed(agtDir, name).directory, KEPT_OF), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const [name] = keptNames(agtDir).toSorted((a, b) => time(b) - time(a));
  if (name === undefined) return undefined;
  const [, gitDir = '', commonDir = ''] = madeOf(agtDir, name);
  return commonDir === '' ? undefined : { ...keptNamed(agtDir, name), gitDir, commonDir };
}

export function keptNames(agtDir: string): string[] {
  const directory = keptGitDirectory(agtDir);
  return existsSync(directory) ? readdirSync(directory) : [];
}

/** From now on it is that of the repository at `commonDir`, which belongs to the folder that is there now. */
export function claim({ directory }: Kept, { gitDir, commonDir }: GitDirectories, folder: string): void {
  const lines = [identityOf(commonDir), gitDir, commonDir, birthOf(folder)];
  writeFileSync(join(directory, KEPT_OF), `${lines.join('\n')}\n`);
}

/** Whether the folder was the same one when the repository was kept. */
export function isOfFolder(agtDir: string, name: string, folder: string): boolean {
  return madeOf(agtDir, name)[3] === birthOf(folder);
}

/** Bytes on disk that only the store has. */
export function keptSize(agtDir: string): number {
  return ownBytes(keptGitDirectory(agtDir)) + ownBytes(keptNestedDirectory(agtDir));
}

/** Those of a directory: other files are links to those of the user. */
export function ownBytes(directory: string): number {
  if (!existsSync(directory)) return 0;
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => {
    const stat = statSync(join(parentPath, name), { throwIfNoEntry: false });
    return sum + (stat?.nlink === 1 ? stat.blocks * BLOCK : 0);
  }, 0);
}

/** The unit of stat(2). */
const BLOCK = 512;

function madeOf(agtDir: string, name: string): string[] {
  return readIfThere(join(keptNamed(agtDir, name).directory, KEPT_OF)).split('\n');
}

function identityOf(commonDir: string): string {
  const { dev, ino, birthtimeMs } = statSync(commonDir);
  return `${dev}:${ino}:${birthtimeMs}`;
}
