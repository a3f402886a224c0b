/** Builds `_/manifest.json` of a new snapshot: what a scan found that a git tree cannot hold. */
import { jsonPath, pathFromJson } from '../disk/path-bytes.ts';
import { isUnder } from '../snapshot/folders.ts';
import { type Operation, operationDigest } from '../snapshot/git-operation.ts';
import type { SnapshotManifest } from '../snapshot/manifest.ts';
import type { ScanResult } from './scan/scan.ts';

export interface ManifestInputs {
  readonly session: string;
  readonly head: SnapshotManifest['head'];
  readonly operation: Operation | undefined;
  readonly label: string | undefined;
  readonly tool: string | undefined;
  /** Lines of `.agtignore`. */
  readonly ignore: readonly string[] | undefined;
  /** The scanned top-level folders. Entries elsewhere, and of unreadable paths, are taken from the last manifest. */
  readonly topFolders: readonly string[];
}

export function buildManifest(
  scanned: ScanResult,
  last: SnapshotManifest | undefined,
  inputs: ManifestInputs,
): SnapshotManifest {
  const isRetained = (path: string) =>
    !isUnder(path, inputs.topFolders) || scanned.isUnreadable(pathFromJson(path));
  const retained = (paths: readonly string[] = []) => paths.filter(isRetained);
  const { head, session, operation, label, tool, ignore } = inputs;
  return {
    version: 1,
    session,
    head,
    operation: operation?.name ?? null,
    ...(operation === undefined ? {} : { operation_digest: operationDigest(operation) }),
    label: label ?? null,
    tool: tool ?? null,
    modes: scanned.permissions.describe(
      Object.entries(last?.modes.others ?? {}).filter(([path]) => isRetained(path)),
    ),
    empty_directories: [
      ...retained(last?.empty_directories),
      ...scanned.emptyDirectories.map(jsonPath),
    ].sort(),
    encoded: [...retained(last?.encoded), ...scanned.encoded.map(jsonPath)].sort(),
    skipped: listSkipped(scanned, last, isRetained),
    ...(ignore === undefined ? {} : { agtignore: ignore }),
  };
}

function listSkipped(
  { skipped, failed }: ScanResult,
  last: SnapshotManifest | undefined,
  isRetained: (path: string) => boolean,
): SnapshotManifest['skipped'] {
  const found = [...skipped, ...failed].map(({ path, reason }) => ({ path: jsonPath(path), reason }));
  const paths = new Set(found.map(({ path }) => path));
  const retained = last?.skipped.filter(({ path }) => isRetained(path) && !paths.has(path)) ?? [];
  return [...retained, ...found].sort((a, b) => (a.path < b.path ? -1 : 1));
}
