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
  const [before, now] = [last.manifest.empty_directories, manifest.empty_directories];
  const added = now.filter((path) => !before.includes(path)).map(pathFromJson);
  const isGone = (path: string) => !now.includes(path) && !scanned.directories.has(pathFromJson(path));
  const gone = before.filter(isGone).map(pathFromJson);
  // Directories that have become empty, and empty ones that are gone.
  const others = [
    ...added.map((path): Change => ({ path: `${displayPath(path)}/`, kind: 'added' })),
    ...gone.map((path): Change => ({ path: `${displayPath(path)}/`, kind: 'deleted' })),
    ...listModeChanges(last.manifest, manifest, new Set([...scanned.deletions, ...gone])),
  ];
  return [
    ...changes,
    ...others.filter(({ path }) => !listed.has(path) && !listed.has(path.replace(/\/$/, ''))),
  ];
}

/** Permission bits that a git tree does not hold. */
function listModeChanges(
  before: SnapshotManifest,
  now: SnapshotManifest,
  gone: ReadonlySet<string>,
): Change[] {
  const [old, current] = [readModes(before).others, readModes(now).others];
  return [...new Set([...old.keys(), ...current.keys()])]
    .filter((path) => old.get(path) !== current.get(path) && !gone.has(path))
    .map((path) => ({ path: displayPath(path), kind: 'mode' }));
}
