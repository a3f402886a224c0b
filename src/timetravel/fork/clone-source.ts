/**
 * A fork of a session as it is now, by a clone of its folder. An agent may write there while agt clones. So agt looks at
 * the source once more: if it still equals the snapshot that agt made before, so does the clone. Otherwise agt compares
 * the clone itself, whose inodes the kernel has not read yet, and writes the files of the snapshot if they differ.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadStatCache } from '../../autocommit/last-snapshot.ts';
import { type Observation, observeFolder } from '../../autocommit/observe.ts';
import { removeAt, removeOnly } from '../../disk/remove-tree.ts';
import { summarizeIndex } from '../../git/files/index-file.ts';
import { worktreeGitDir } from '../../git/files/worktree-git-dir.ts';
import { statCacheFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureTarget } from '../../session/capture-session.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { type ClonedIndex, type CloneSource, copyStatCache } from '../../session/workspace/clone.ts';
import type { WorkspaceFields } from '../../session/workspace/provider.ts';
import { isTemporaryEntry } from '../../snapshot/folders.ts';
import type { SnapshotMetadata } from '../../snapshot/metadata.ts';
import type { ForkOrigin } from './fork-origin.ts';

/** Undefined if the source is no folder of that provider, or if its stat cache is not that of the snapshot. */
export function sourceToClone(
  repository: Repository,
  source: SessionRecord,
  { provider }: WorkspaceFields,
  { content, workCommit }: ForkOrigin,
): CloneSource | undefined {
  const { cache } = loadStatCache(captureTarget(repository, source));
  if (source.token === undefined || source.provider !== provider || cache?.commit !== content.commit)
    return undefined;
  return {
    folder: sessionFolder(source),
    index: capturedIndex(source.sandbox, cache.index.digest, content.commit.length / 2),
    statCache: statCacheFile(repository.agtDir, source.session_id),
    commit: workCommit,
  };
}

/** The index of a sandbox, if the snapshot has it. */
function capturedIndex(sandbox: string, digest: string, oidLength: number): ClonedIndex | undefined {
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) return undefined;
  try {
    const file = join(gitDir, 'index');
    // The older time: git may replace the index in between.
    const { mtimeMs } = statSync(file);
    const bytes = readFileSync(file);
    const summary = summarizeIndex(bytes, oidLength);
    return summary.digest === digest && !summary.split ? { bytes, mtimeMs } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the clone has the files of the snapshot. Content that no snapshot holds goes. */
export async function isExactClone(
  repository: Repository,
  { source, fork }: { readonly source: SessionRecord; readonly fork: SessionRecord },
  content: SnapshotMetadata,
  clone: CloneSource,
): Promise<boolean> {
  try {
    copyStatCache(repository, fork, clone);
    for (const record of [source, fork]) {
      const found = await observe(repository, record);
      if (!isSame(found, content) || (record === source && hasBorders(found))) continue;
      const folder = Buffer.from(sessionFolder(fork)).toString('latin1');
      for (const { path } of found.scanned.skipped) removeAt(`${folder}/${path}`);
      return true;
    }
    return false;
  } catch {
    return false;
  }
}

/** Whether a directory is of another device: a clone has nothing of a subvolume or of a mount inside. */
function hasBorders({ last }: Observation): boolean {
  const directories = last.cache?.directories;
  return directories === undefined || directories.paths.some((_, row) => directories.mustList(row));
}

function observe(repository: Repository, record: SessionRecord): Promise<Observation> {
  const { agentEmail, maxFileSize } = repository.settings;
  const options = { agentEmail, maxFileSize, now: new Date(), dryRun: true };
  return observeFolder(repository.git, captureTarget(repository, record), options);
}

function isSame({ last, scanned, manifest }: Observation, content: SnapshotMetadata): boolean {
  const { modes, empty_directories } = content.manifest;
  return (
    last.cache?.commit === content.commit &&
    scanned.writes.size + scanned.deletions.length + scanned.failed.length === 0 &&
    JSON.stringify([manifest.modes, manifest.empty_directories]) ===
      JSON.stringify([modes, empty_directories])
  );
}

/** Leaves what makes the folder a sandbox. */
export function emptyClone(folder: string): void {
  const isOwn = (path: string) => path === 'sandbox/.git' || (!path.includes('/') && isTemporaryEntry(path));
  removeOnly(folder, (path) => !isOwn(path));
}
