/** Restores the files that git keeps for the sandbox alone (snapshot/git-dir-files.ts). */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { OpenDirectories } from '../disk/open-directories.ts';
import { AgtError, systemFailure } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import { findObject, readObject } from '../git/objects/object-reader.ts';
import type { Git } from '../git/run/git.ts';
import { OWN } from '../snapshot/format.ts';
import { GIT_DIR_FILES, type GitDirFiles, gitDirDigest, readGitDirFiles } from '../snapshot/git-dir-files.ts';
import type { SnapshotMetadata } from '../snapshot/manifest.ts';
import { parentDirectories } from '../snapshot/tree.ts';
import { decodePath } from '../snapshot/tree-names.ts';

/** Full names of branches. */
export interface WorkBranches {
  /** The session's own work branch. */
  readonly workBranch: string;
  /** The work branch of the session that made the snapshot: another one if this session is a fork. */
  readonly snapshotWorkBranch: string;
}

type Files = ReadonlyMap<string, Buffer>;

/** Restores them. Returns what could not be restored, for people. */
export async function restoreGitDirFiles(
  git: Git,
  gitDir: string,
  content: SnapshotMetadata,
  branches: WorkBranches,
): Promise<string[]> {
  const current = readGitDirFiles(gitDir);
  const isSession = branches.workBranch === branches.snapshotWorkBranch;
  const isThere = isSession && gitDirDigest(current) === content.manifest.git_dir_digest;
  const wanted = isThere ? current.files : await readCapturedFiles(git, content, branches);
  const disk = new OpenDirectories(Buffer.from(gitDir).toString('latin1'));
  const warnings: string[] = [];
  try {
    for (const root of GIT_DIR_FILES) {
      try {
        warnings.push(...replaceRoot(disk, root, filesIn(wanted, root), current));
      } catch (error) {
        warnings.push(`${root} in the git directory was not restored: ${reasonOf(error)}`);
      }
    }
  } finally {
    disk.close();
  }
  return warnings;
}

/** The names of recorded files or directories that differ between two snapshots. */
export async function differingGitDirFiles(
  git: Git,
  after: SnapshotMetadata,
  wanted: SnapshotMetadata,
  branches: WorkBranches,
): Promise<string[]> {
  const trees = await Promise.all([after, wanted].map((one) => findObject(git, treeOf(one))));
  if (trees[0] === trees[1] && branches.workBranch === branches.snapshotWorkBranch) return [];
  const own = { ...branches, snapshotWorkBranch: branches.workBranch };
  const [found, expected] = [
    await readCapturedFiles(git, after, own),
    await readCapturedFiles(git, wanted, branches),
  ];
  return GIT_DIR_FILES.filter((root) => !isSame(filesIn(found, root), filesIn(expected, root)));
}

function treeOf({ commit }: SnapshotMetadata): string {
  return `${commit}:${OWN.gitDir}`;
}

async function readCapturedFiles(
  git: Git,
  snapshot: SnapshotMetadata,
  branches: WorkBranches,
): Promise<Files> {
  const tree = treeOf(snapshot);
  const files = new Map<string, Buffer>();
  if ((await findObject(git, tree)) === undefined) return files;
  for (const { path: inTree, oid } of await listTree(git, tree, 'files')) {
    const path = decodePath(inTree);
    const found = await readObject(git, oid);
    if (found === undefined) throw new AgtError(`cannot read object ${oid}: it is missing`);
    files.set(path, withOwnBranch(path, found.content, branches));
  }
  return files;
}

/** At its end a rebase or a bisect goes back to the branch that is named here: it must be the one of this session. */
function withOwnBranch(path: string, bytes: Buffer, branches: WorkBranches): Buffer {
  const { workBranch, snapshotWorkBranch } = branches;
  const named = bytes.toString().trim();
  if (/^rebase-\w+\/head-name$/.test(path) && named === snapshotWorkBranch)
    return Buffer.from(`${workBranch}\n`);
  if (path === 'BISECT_START' && named === shortBranch(snapshotWorkBranch))
    return Buffer.from(`${shortBranch(workBranch)}\n`);
  return bytes;
}

function filesIn(files: Files, root: string): Files {
  return new Map([...files].filter(([path]) => path === root || path.startsWith(`${root}/`)));
}

function isSame(a: Files, b: Files): boolean {
  return a.size === b.size && [...a].every(([path, bytes]) => b.get(path)?.equals(bytes) === true);
}

/** Returns warnings. */
function replaceRoot(disk: OpenDirectories, root: string, wanted: Files, current: GitDirFiles): string[] {
  const lost = current.unreadable.filter(({ path }) => path === root || path.startsWith(`${root}/`));
  const isEmptyDirectory = wanted.size === 0 && disk.lstat(root) !== undefined;
  if (lost.length === 0 && !isEmptyDirectory && isSame(filesIn(current.files, root), wanted)) return [];
  if (disk.lstat(root) !== undefined) rmSync(disk.entry(root), { recursive: true, force: true });
  disk.forget(root);
  for (const [path, bytes] of wanted) {
    for (const directory of parentDirectories(path).reverse())
      if (disk.lstat(directory) === undefined) mkdirSync(disk.entry(directory));
    writeFileSync(disk.entry(path), bytes, { flag: 'wx' });
  }
  return lost.map(({ path, reason }) => `${path} in the git directory ${reason}; agt removed it uncaptured`);
}

function reasonOf(error: unknown): string {
  const reason = systemFailure(error);
  if (reason === undefined) throw error;
  return reason;
}
