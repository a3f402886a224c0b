/** Lists for people what has changed since the last snapshot. */
import { displayPath, pathFromJson } from '../disk/path-bytes.ts';
import { readModes, type SnapshotManifest } from '../snapshot/manifest.ts';
import type { LastSnapshot } from './last-snapshot.ts';
import type { ScanResult } from './scan/scan.ts';

export interface Change {
  /** In readable form; a directory ends in a slash. */
  readonly path: string;
  readonly kind: 'added' | 'changed' | 'deleted' | 'mode';
}

export function listChanges(last: LastSnapshot, scanned: ScanResult, manifest: SnapshotManifest): Change[] {
  const changes: Change[] = scanned.deletions.map((path) => ({ path: displayPath(path), kind: 'deleted' }));
  for (const [path, { oid }] of scanned.writes) {
    const before = last.find(path);
    const kind = before === undefined ? 'added' : before.oid === oid ? 'mode' : 'changed';
    changes.push({ path: displayPath(path), kind });
  }
  changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  if (last.manifest === undefined) return changes;
  const listed = new Set(changes.map(({ path }) => path));
  const others = [
    ...listDirectoryChanges(last.manifest, manifest, scanned),
    ...listModeChanges(last.manifest, manifest, scanned),
  ];
  return [
    ...changes,
    ...others.filter(({ path }) => !listed.has(path) && !listed.has(path.replace(/\/$/, ''))),
  ];
}

/** Directories that have become empty, and empty ones that are gone. */
function listDirectoryChanges(
  before: SnapshotManifest,
  now: SnapshotManifest,
  { directories }: ScanResult,
): Change[] {
  const added = now.empty_directories.filter((path) => !before.empty_directories.includes(path));
  const deleted = listGone(before, now, directories);
  const toChange = (kind: Change['kind']) => (path: string) => ({
    path: `${displayPath(pathFromJson(path))}/`,
    kind,
  });
  return [...added.map(toChange('added')), ...deleted.map(toChange('deleted'))];
}

/** Directories that were empty before and do not exist any more. */
function listGone(
  before: SnapshotManifest,
  now: SnapshotManifest,
  directories: ScanResult['directories'],
): string[] {
  return before.empty_directories.filter(
    (path) => !now.empty_directories.includes(path) && !directories.has(pathFromJson(path)),
  );
}

/** Permission bits that a git tree does not hold. */
function listModeChanges(
  before: SnapshotManifest,
  now: SnapshotManifest,
  { directories, deletions }: ScanResult,
): Change[] {
  const [old, current] = [readModes(before).others, readModes(now).others];
  const gone = new Set([...deletions, ...listGone(before, now, directories).map(pathFromJson)]);
  return [...new Set([...old.keys(), ...current.keys()])]
    .filter((path) => old.get(path) !== current.get(path) && !gone.has(path))
    .map((path) => ({ path: displayPath(path), kind: 'mode' }));
}
