/** What has changed since the last state, for people. */

import { displayPath, pathFromJson } from '../disk/path-bytes.ts';
import { type CapturedManifest, readModes } from '../snapshot/manifest.ts';
import type { Previous } from './last-snapshot.ts';
import type { Scanned } from './scan/scan.ts';

export interface Change {
  /** Readable form; a directory ends in a slash. */
  readonly path: string;
  readonly kind: 'added' | 'changed' | 'deleted' | 'mode';
}

export function describeChanges(previous: Previous, scanned: Scanned, manifest: CapturedManifest): Change[] {
  const changes: Change[] = scanned.deletions.map((path) => ({ path: displayPath(path), kind: 'deleted' }));
  for (const [path, { oid }] of scanned.writes) {
    const before = previous.find(path);
    const kind = before === undefined ? 'added' : before.oid === oid ? 'mode' : 'changed';
    changes.push({ path: displayPath(path), kind });
  }
  changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  return [...changes, ...manifestChanges(previous.manifest, manifest, scanned, changes)];
}

/** What a tree does not show: permission bits, and directories that came to be empty or are gone. */
function manifestChanges(
  before: CapturedManifest | undefined,
  now: CapturedManifest,
  { directories, deletions }: Scanned,
  known: readonly Change[],
): Change[] {
  if (before === undefined) return [];
  const told = new Set(known.map(({ path }) => path));
  const gone = new Set(deletions);
  const [old, current] = [readModes(before), readModes(now)];
  const paths = new Set([...old.others.keys(), ...current.others.keys()]);
  const modes = [...paths].filter(
    (path) => old.others.get(path) !== current.others.get(path) && !gone.has(path),
  );
  const emptied = now.empty_directories.filter((path) => !before.empty_directories.includes(path));
  const vanished = before.empty_directories.filter(
    (path) => !now.empty_directories.includes(path) && !directories.has(pathFromJson(path)),
  );
  const directory = (path: string) => `${displayPath(pathFromJson(path))}/`;
  const changes: Change[] = [
    ...emptied.map((path): Change => ({ path: directory(path), kind: 'added' })),
    ...vanished.map((path): Change => ({ path: directory(path), kind: 'deleted' })),
    ...modes.map((path): Change => ({ path: displayPath(path), kind: 'mode' })),
  ];
  const vanishedPaths = new Set(vanished.map(pathFromJson));
  return changes.filter(
    ({ path, kind }) =>
      !told.has(path) && !told.has(path.replace(/\/$/, '')) && !(kind === 'mode' && vanishedPaths.has(path)),
  );
}
