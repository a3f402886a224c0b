/** Compares the files of a session with its last snapshot while its sandbox is no worktree. It reads every file. */
import { buildManifest } from '../../autocommit/build-manifest.ts';
import { type LastSnapshot, readLastSnapshot } from '../../autocommit/last-snapshot.ts';
import { type ScanResult, scan } from '../../autocommit/scan/scan.ts';
import { Source } from '../../autocommit/source.ts';
import { AgtError } from '../../errors.ts';
import { gitAnswer, resolveObject } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionRecord } from '../../session/record.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { readIgnoreFile } from '../../snapshot/ignore-file.ts';
import type { SnapshotManifest } from '../../snapshot/manifest.ts';
import { captureTarget } from '../../workspace/capture-session.ts';

export interface ObservedFiles {
  /** The last snapshot. */
  readonly tip: string;
  readonly last: LastSnapshot;
  readonly scanned: ScanResult;
  /** As the next snapshot would have it, but for HEAD and what git keeps for the worktree. */
  readonly manifest: SnapshotManifest;
}

export async function observeFiles(repository: Repository, record: SessionRecord): Promise<ObservedFiles> {
  const { git, settings } = repository;
  const target = captureTarget(repository, record);
  const tip = await resolveObject(git, target.tipRef);
  if (tip === undefined) throw new AgtError(`agt's own ref is missing: ${target.tipRef}`);
  const last = await readLastSnapshot(git, target, {
    tip,
    tipTree: (await resolveObject(git, `${tip}^{tree}`)) ?? '',
    tipManifest: await gitAnswer(git, ['cat-file', 'blob', `${tip}:_/manifest.json`]),
  });
  const ignore = readIgnoreFile(target.folder);
  const scanned = await scan(new Source(target.folder), last, {
    hash: tip.length === 64 ? 'sha256' : 'sha1',
    maxFileSize: settings.maxFileSize,
    topFolders: TOP_FOLDERS,
    ignore,
    refreshed: undefined,
    rereadSince: undefined,
    store: async () => true,
  });
  const manifest = buildManifest(scanned, last.manifest, {
    session: target.sessionId,
    head: { ref: null, commit: null },
    gitDirFiles: { operation: null, files: new Map(), unreadable: [] },
    label: undefined,
    tool: undefined,
    ignore: ignore?.lines,
    topFolders: TOP_FOLDERS,
    ownerOf: () => undefined,
  });
  return { tip, last, scanned, manifest };
}
