/** Reads what a snapshot records beside its files. Paths hold one byte per character, as on disk. */

import { pathFromJson } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import { readObject } from '../git/objects/object-reader.ts';
import type { Git } from '../git/run/git.ts';
import { readModes, readOwners, type SnapshotManifest } from './manifest.ts';

export interface SnapshotMetadata {
  readonly commit: string;
  readonly manifest: SnapshotManifest;
  readonly modes: ReturnType<typeof readModes>;
  readonly owners: ReturnType<typeof readOwners>;
  readonly emptyDirectories: readonly string[];
  /** Paths that were on disk but are not in the snapshot, by a rule or because of a failure. */
  readonly skipped: readonly string[];
}

export async function readSnapshotMetadata(git: Git, commit: string): Promise<SnapshotMetadata> {
  const found = await readObject(git, `${commit}:_/manifest.json`);
  if (found === undefined) throw new AgtError(`${commit} is no snapshot: it has no manifest`);
  const manifest = JSON.parse(found.content.toString()) as SnapshotManifest;
  return {
    commit,
    manifest,
    modes: readModes(manifest),
    owners: readOwners(manifest),
    emptyDirectories: manifest.empty_directories.map(pathFromJson),
    skipped: manifest.skipped.map(({ path }) => pathFromJson(path)),
  };
}
