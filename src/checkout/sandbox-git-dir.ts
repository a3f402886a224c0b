/** Finds the git directory of a sandbox, and restores the index in it. */
import { lstatSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { readNoFollow } from '../disk/read-file.ts';
import { AgtError, attempt } from '../errors.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { parseIndex, summarizeIndex } from '../git/files/index-file.ts';
import { newestEntry, type StatOf, withStatData } from '../git/files/index-stat.ts';
import { IN_INDEX } from '../git/modes.ts';
import { diffTrees } from '../git/objects/raw-diff.ts';
import { editIndex, readIndex as readEntries } from '../git/objects/scratch-index.ts';
import type { Git } from '../git/run/git.ts';
import { readCapturedIndex } from '../snapshot/format.ts';
import type { SnapshotMetadata } from '../snapshot/manifest.ts';
import { emptyTree } from '../snapshot/tree.ts';

/**
 * Restores the index of a snapshot. If the sandbox has an equal one, that one is kept: the snapshot's has the stat data of
 * files that have been replaced, so git would read all of these again. `statOf` knows the stat data of the files as they
 * are now, if agt has just written all of them.
 */
export async function restoreIndex(git: Git, content: SnapshotMetadata, sandbox: string, statOf?: StatOf) {
  const gitDir = requireGitDir(sandbox);
  const index = await readCapturedIndex(git, content.commit);
  const oidLength = content.commit.length / 2;
  if (index === undefined) {
    rmSync(join(gitDir, 'index'), { recursive: true, force: true });
    return;
  }
  const digest = () => summarizeIndex(index.content, oidLength).digest;
  if (statOf === undefined && digestOnDisk(gitDir, oidLength) === digest()) return;
  const bytes = statOf && withStatData(index.content, oidLength, statOf);
  if (bytes === undefined) replaceIndex(gitDir, index.content, newestEntry(index.content, oidLength));
  else replaceIndex(gitDir, bytes);
}

/**
 * Where HEAD has gone on from `before`, and stays: the index is as in the snapshot, but for what the commits have changed. One
 * in conflict, or of a sparse checkout, stays. `user` runs in the worktree.
 */
export async function restoreStaged(
  git: Git,
  user: Git,
  { commit }: SnapshotMetadata,
  before: string | undefined,
): Promise<void> {
  const [captured, oidLength] = [await readCapturedIndex(git, commit), commit.length / 2];
  const entries = captured === undefined ? [] : parseIndex(captured.content, oidLength).entries;
  const now = await readEntries(user);
  const isUsual = entries.every(({ stage, mode }) => stage === 0 && mode !== IN_INDEX.directory);
  if (!isUsual || [...now.values()].includes('conflict')) return;
  const wanted = new Map(entries.map(({ path, mode, oid }) => [path, `${mode.toString(8)} ${oid}`]));
  const start = before ?? (await emptyTree(user));
  const committed = await diffTrees(user, start, 'HEAD', { countLines: false });
  const staying = new Set(committed.map(({ path }) => path));
  const differing = [...new Set([...now.keys(), ...wanted.keys()])].filter(
    (path) => now.get(path) !== wanted.get(path) && !staying.has(path),
  );
  const edits = differing.map((path) => [path, wanted.get(path)] as const);
  await editIndex(user, edits, 2 * oidLength);
}

/** Gives the entries of the sandbox's index other stat data, if it is whole. */
export function refreshIndex(sandbox: string, oidLength: number, statOf: StatOf): void {
  const gitDir = requireGitDir(sandbox);
  const bytes = readIndex(gitDir);
  const refreshed = bytes && withStatData(bytes, oidLength, statOf);
  if (refreshed !== undefined) replaceIndex(gitDir, refreshed);
}

/** `seconds`: of a snapshot's newest entry. Under a newer time git would trust files that are racy there. */
function replaceIndex(gitDir: string, bytes: Buffer, seconds?: number): void {
  const temporary = join(gitDir, `index.agt-${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  writeFileSync(temporary, bytes, { flag: 'wx' });
  if (seconds !== undefined) utimesSync(temporary, seconds, seconds);
  failurePoint('sandbox: index written');
  const index = join(gitDir, 'index');
  if (lstatSync(index, { throwIfNoEntry: false })?.isDirectory()) rmSync(index, { recursive: true });
  renameSync(temporary, index);
}

/** Undefined if there is none. @throws AgtError if it is no regular file */
export function readIndex(gitDir: string): Buffer | undefined {
  return readNoFollow(join(Buffer.from(gitDir).toString('latin1'), 'index'));
}

/** Undefined if there is no index that git could read as it is. */
function digestOnDisk(gitDir: string, oidLength: number): string | undefined {
  return attempt(() => {
    const bytes = readIndex(gitDir);
    const summary = bytes === undefined || bytes.length === 0 ? undefined : summarizeIndex(bytes, oidLength);
    return summary?.split === false ? summary.digest : undefined;
  });
}

export function requireGitDir(sandbox: string): string {
  const gitDir = gitDirOf(sandbox);
  if (gitDir === undefined) throw new AgtError(`"${sandbox}" is not a worktree`);
  return gitDir;
}
