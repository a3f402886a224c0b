/**
 * The first snapshot of a worktree. Reading and storing all its files again would take long, so agt copies what git has of
 * them into the store, as one pack, and takes their stat data from the index. It writes nothing into the user's repository:
 * git works in the store and only reads the user's objects and a copy of the index.
 */
import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MOST_FILES, TooManyFiles } from '../autocommit/scan/scan-options.ts';
import { seedStatCache } from '../autocommit/stat-cache/seed.ts';
import type { IndexBytes } from '../autocommit/stat-cache/settle-index.ts';
import { requireSpace } from '../disk/free-space.ts';
import { readRegularFile } from '../disk/read-file.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { parseIndex } from '../git/files/index-file.ts';
import { type Git, gitAnswer, gitText, inDirectory } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';

export interface Baseline {
  readonly user: Repository;
  /** The top of the worktree. */
  readonly folder: string;
  readonly hash: 'sha1' | 'sha256';
  readonly index: IndexBytes;
}

/** Undefined if git has no plain index of the worktree: the first capture then reads every file. */
export async function readBaseline(user: Repository, folder: string): Promise<Baseline | undefined> {
  const gitDir = gitDirOf(folder);
  if (gitDir === undefined) return undefined;
  const hash = await gitAnswer(inDirectory(user.git, folder), ['rev-parse', '--show-object-format']);
  if (hash !== 'sha1' && hash !== 'sha256') return undefined;
  try {
    const path = join(gitDir, 'index');
    const { mtimeMs, ctimeMs } = lstatSync(path);
    const bytes = readRegularFile(path);
    const { entries, split } = parseIndex(bytes, hash === 'sha256' ? 32 : 20);
    if (entries.length > MOST_FILES) throw new TooManyFiles();
    return split ? undefined : { user, folder, hash, index: { bytes, mtimeMs, ctimeMs } };
  } catch (error) {
    if (error instanceof TooManyFiles) throw error;
    return undefined; // no index, or a damaged one
  }
}

/**
 * Copies the objects of the index into the store that `git` runs in. Returns the tree of the index; undefined if git
 * cannot make one of it, as in a conflict, or does not have all objects, as in a partial clone.
 */
export async function copyObjects({ user, index, hash }: Baseline, git: Git): Promise<string | undefined> {
  const copy = join(git.cwd, 'index-of-baseline');
  const env = {
    GIT_DIR: git.cwd,
    GIT_INDEX_FILE: copy,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(user.commonDir, 'objects')),
    GIT_NO_LAZY_FETCH: '1',
  };
  if (!hasRoom(git.cwd, index.bytes, hash === 'sha256' ? 32 : 20)) return undefined;
  writeFileSync(copy, index.bytes);
  try {
    const tree = await gitAnswer(git, ['write-tree'], { env });
    if (tree === undefined) return undefined;
    const pack = ['pack-objects', '--quiet', '--revs', '--window=0', join('objects', 'pack', 'pack')];
    const packed = await gitAnswer(git, pack, { env, input: `${tree}\n` });
    return packed === undefined ? undefined : tree;
  } finally {
    rmSync(copy, { force: true });
  }
}

/** Whether the disk has room for all files, as large as they are. Otherwise the capture looks at each file before it writes. */
function hasRoom(store: string, index: Buffer, oidLength: number): boolean {
  const { entries } = parseIndex(index, oidLength);
  try {
    requireSpace(
      store,
      entries.reduce((sum, { offset }) => sum + index.readUInt32BE(offset + SIZE_OFFSET), 0),
    );
    return true;
  } catch {
    return false;
  }
}

/** In an entry of the index: where the size of the file is. */
const SIZE_OFFSET = 36;

/** A path in a list that colons separate: git reads a quoted one as in C. */
function quoted(path: string): string {
  return /["\\:\n]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"` : path;
}

/** `folder`: the session folder in the store. */
export async function seedBaseline(
  { user, folder: sandbox, index }: Baseline,
  {
    folder,
    statCache,
    commit,
  }: { readonly folder: string; readonly statCache: string; readonly commit: string },
): Promise<void> {
  const { commonDir, git } = user;
  await seedStatCache(git, { folder, sandbox, commonDir, statCache, commit, index });
}

/** The empty tree, which git knows in every repository, as an object. */
export function emptyTree(git: Git): Promise<string> {
  return gitText(git, ['hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' });
}
