/** What a restore would change, found without changing or storing anything. */
import { observeFolder } from '../../autocommit/observe.ts';
import { isOtherwiseUsual, planCheckout } from '../../checkout/plan.ts';
import { displayPath, pathFromJson } from '../../disk/path-bytes.ts';
import type { Repository } from '../../repository/repository.ts';
import { captureTarget } from '../../session/capture-session.ts';
import type { SessionRecord } from '../../session/record.ts';
import { sandboxExists } from '../../session/sandbox.ts';
import { type ChangedFile, diffSnapshots } from '../../snapshot/diff.ts';
import { listDirectories } from '../../snapshot/directories.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { readModes } from '../../snapshot/manifest.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/metadata.ts';
import { readSnapshotTree } from '../../snapshot/tree.ts';
import type { RestoreRequest } from './restore.ts';

export interface Preview {
  readonly record: SessionRecord;
  readonly snapshot: Snapshot;
  /** `A` added, `M` changed, `D` deleted, `!` cannot be given back because something uncaptured stands there. */
  readonly paths: readonly { kind: 'A' | 'M' | 'D' | '!'; path: string }[];
}

/** What the folder holds, beside the last snapshot that was captured of it. */
interface Now {
  readonly content: SnapshotMetadata | undefined;
  readonly directories: ReadonlySet<string>;
  /** Paths that are not as in `snapshot.commit`, with what they are now. */
  readonly differences: readonly ChangedFile[];
}

export async function previewRestore(
  repository: Repository,
  record: SessionRecord,
  request: RestoreRequest,
): Promise<Preview> {
  const { git } = repository;
  const now = await readNow(repository, record, request.now);
  const snapshot = await request.choose(now.differences.length > 0);
  const to = await readSnapshotMetadata(git, snapshot.commit);
  const plan = planCheckout({
    from: now.content,
    to,
    differences: overlay(await diffSnapshots(git, now.content?.commit, to.commit), now.differences),
    directories: await listDirectories(git, to),
    directoriesBefore: now.directories,
    files: isOtherwiseUsual(now.content, to) ? (await readSnapshotTree(git, to.commit)).files : undefined,
    scope: request.scope,
  });
  const paths = [
    ...plan.deletions.map((path) => ({ kind: 'D' as const, path })),
    ...plan.writes.map(({ path, isNew }) => ({ kind: isNew ? ('A' as const) : ('M' as const), path })),
    ...[...plan.modes.keys()].map((path) => ({ kind: 'M' as const, path })),
    ...plan.kept.map((path) => ({ kind: '!' as const, path })),
  ];
  return {
    record,
    snapshot,
    paths: paths
      .map(({ kind, path }) => ({ kind, path: displayPath(path) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

async function readNow(repository: Repository, record: SessionRecord, now: Date): Promise<Now> {
  if (!sandboxExists(record)) return { content: undefined, directories: new Set(), differences: [] };
  const { agentEmail, maxFileSize } = repository.settings;
  const { refs, last, scanned, manifest } = await observeFolder(
    repository.git,
    captureTarget(repository, record),
    { agentEmail, maxFileSize, now },
  );
  const differences = [
    ...[...scanned.writes].map(([path, after]) => ({ path, before: last.find(path), after })),
    ...scanned.deletions.map((path) => ({ path, before: last.find(path), after: undefined })),
  ];
  const content = {
    commit: refs.tip,
    manifest,
    modes: readModes(manifest),
    emptyDirectories: scanned.emptyDirectories,
    skipped: manifest.skipped.map(({ path }) => pathFromJson(path)),
  };
  return { content, directories: scanned.directories, differences };
}

/** From what is there to the snapshot, by way of the last capture. */
function overlay(toSnapshot: readonly ChangedFile[], uncaptured: readonly ChangedFile[]): ChangedFile[] {
  const all = new Map(toSnapshot.map((difference) => [difference.path, difference]));
  for (const { path, before, after: now } of uncaptured) {
    const wanted = all.has(path) ? all.get(path)?.after : before;
    if (wanted?.oid === now?.oid && wanted?.mode === now?.mode) all.delete(path);
    else all.set(path, { path, before: now, after: wanted });
  }
  return [...all.values()];
}
