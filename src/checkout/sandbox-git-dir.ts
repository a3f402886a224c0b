/** Finds the git directory of a sandbox, and restores the index in it. */
import { lstatSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { readNoFollow } from '../disk/read-file.ts';
import { AgtError } from '../errors.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { summarizeIndex } from '../git/files/index-file.ts';
import { newestEntry, type StatOf, withStatData } from '../git/files/index-stat.ts';
import type { Git } from '../git/run/git.ts';
import { readCapturedIndex } from '../snapshot/format.ts';
import type { SnapshotMetadata } from '../snapshot/manifest.ts';

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
  try {
    const bytes = readIndex(gitDir);
    const summary = bytes === undefined || bytes.length === 0 ? undefined : summarizeIndex(bytes, oidLength);
    return summary?.split === false ? summary.digest : undefined;
  } catch {
    return undefined;
  }
}

export function requireGitDir(sandbox: string): string {
  const gitDir = gitDirOf(sandbox);
  if (gitDir === undefined) throw new AgtError(`"${sandbox}" is not a worktree`);
  return gitDir;
}
