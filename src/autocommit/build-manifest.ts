/** Builds `_/manifest.json` of a new snapshot: what a scan found that a git tree cannot hold. */
import { jsonPath, pathFromJson } from '../disk/path-bytes.ts';
import { isUnder } from '../snapshot/folders.ts';
import { type GitDirFiles, gitDirDigest } from '../snapshot/git-dir-files.ts';
import type { SnapshotManifest } from '../snapshot/manifest.ts';
import { SET_ID } from './scan/permission-bits.ts';
import type { ScanResult } from './scan/scan.ts';

export interface ManifestInputs {
  readonly session: string;
  readonly head: SnapshotManifest['head'];
  readonly gitDirFiles: GitDirFiles;
  readonly label: string | undefined;
  readonly tool: string | undefined;
  /** Lines of `.agtignore`. */
  readonly ignore: readonly string[] | undefined;
  /** The paths that git ignores in an attached folder. */
  readonly ignored?: ReadonlySet<string> | undefined;
  /** The scanned top-level folders. Entries elsewhere, and of unreadable paths, are taken from the last manifest. */
  readonly topFolders: readonly string[];
  /** `uid:gid` of a file on disk. */
  readonly ownerOf: (path: string) => string | undefined;
}

export function buildManifest(
  scanned: ScanResult,
  last: SnapshotManifest | undefined,
  inputs: ManifestInputs,
): SnapshotManifest {
  const isRetained = (path: string) =>
    !isUnder(path, inputs.topFolders) || scanned.isUnreadable(pathFromJson(path));
  const retained = (paths: readonly string[] = []) => paths.filter(isRetained);
  const { head, session, gitDirFiles, label, tool, ignore, ignored } = inputs;
  const modes = scanned.permissions.describe(
    Object.entries(last?.modes.others ?? {}).filter(([path]) => isRetained(path)),
  );
  const owners = listOwners(modes, scanned, (path) =>
    isRetained(path) ? last?.owners?.[path] : inputs.ownerOf(pathFromJson(path)),
  );
  return {
    version: 1,
    session,
    head,
    operation: gitDirFiles.operation,
    git_dir_digest: gitDirDigest(gitDirFiles),
    label: label ?? null,
    tool: tool ?? null,
    modes,
    ...(Object.keys(owners).length === 0 ? {} : { owners }),
    empty_directories: [
      ...retained(last?.empty_directories),
      ...scanned.emptyDirectories.map(jsonPath),
    ].sort(),
    encoded: [...retained(last?.encoded), ...scanned.encoded.map(jsonPath)].sort(),
    skipped: listSkipped(scanned, last, isRetained),
    ...(ignore === undefined ? {} : { agtignore: ignore }),
    ...(ignored === undefined || ignored.size === 0 ? {} : { ignored: [...ignored].map(jsonPath).sort() }),
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

/** Owners of files whose bits give the owner's rights to others. */
function listOwners(
  modes: SnapshotManifest['modes'],
  { directories }: ScanResult,
  ownerOf: (path: string) => string | undefined,
): Record<string, string> {
  const owners: Record<string, string> = {};
  for (const [path, bits] of Object.entries(modes.others)) {
    if ((Number.parseInt(bits, 8) & SET_ID) === 0 || directories.has(pathFromJson(path))) continue;
    const owner = ownerOf(path);
    if (owner !== undefined) owners[path] = owner;
  }
  return owners;
}
