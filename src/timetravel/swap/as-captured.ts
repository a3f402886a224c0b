/** Whether a session folder, which is out of the way, is still as the last capture has it. No git starts in it. */
import { buildManifest } from '../../autocommit/build-manifest.ts';
import { readLastSnapshot, statCacheSize } from '../../autocommit/last-snapshot.ts';
import { scan } from '../../autocommit/scan/scan.ts';
import { Source } from '../../autocommit/source.ts';
import { RefreshThreads } from '../../autocommit/stat-cache/refresh-in-threads.ts';
import { readStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { statCacheFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureTarget } from '../../session/capture-session.ts';
import type { SessionRecord } from '../../session/record.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { ignoreText, readIgnoreFile } from '../../snapshot/ignore-file.ts';
import { type SnapshotManifest, serializeManifest } from '../../snapshot/manifest.ts';
import { readSnapshotMetadata } from '../../snapshot/metadata.ts';

/** `commit`: the last snapshot, which has everything that was in the folder. */
export async function isAsCaptured(
  repository: Repository,
  record: SessionRecord,
  folder: string,
  commit: string,
): Promise<boolean> {
  const target = { ...captureTarget(repository, record), folder, lostGitDir: undefined };
  const threads = new RefreshThreads(statCacheSize(target));
  const { manifest: before } = await readSnapshotMetadata(repository.git, commit);
  const cache = readStatCache(statCacheFile(repository.agtDir, record.session_id));
  if (cache?.commit !== commit) return false;
  const refs = { tip: commit, tipTree: '', tipManifest: serializeManifest(before) };
  const last = await readLastSnapshot(repository.git, target, refs, { cache });
  const upToDate = threads.refresh(folder, cache, TOP_FOLDERS);
  const ignore = readIgnoreFile(folder);
  const scanned = await scan(new Source(folder), last, {
    hash: commit.length === 64 ? 'sha256' : 'sha1',
    maxFileSize: repository.settings.maxFileSize,
    topFolders: TOP_FOLDERS,
    ignore,
    refreshed: { cache, upToDate },
    rereadSince: undefined,
    store: async () => true,
  });
  const { writes, deletions, skipped, failed } = scanned;
  if (writes.size + deletions.length + skipped.length + failed.length > 0) return false;
  const manifest = buildManifest(scanned, before, {
    session: record.session_id,
    head: before.head,
    gitDirFiles: { operation: null, files: new Map(), unreadable: [] },
    label: undefined,
    tool: undefined,
    ignore: ignore?.lines,
    topFolders: TOP_FOLDERS,
    ownerOf: () => undefined,
  });
  return ignoreText(ignore) === (before.agtignore ?? []).join('\n') && facts(manifest) === facts(before);
}

function facts({ modes, empty_directories: empty }: SnapshotManifest): string {
  return JSON.stringify([modes, empty]);
}
