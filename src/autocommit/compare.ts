/** From the last state and a scan to what has changed: for people, and for the tree. */
import { type CapturedManifest, readModes } from './captured-manifest.ts';
import { displayPath, pathFromJson } from './display.ts';
import { type Previous, treeMode } from './previous.ts';
import type { Scanned } from './scan.ts';
import { isUnder } from './tops.ts';
import type { TreeEntry } from './tree-state.ts';

export interface Change {
  /** Readable form; a directory ends in a slash. */
  readonly path: string;
  readonly kind: 'added' | 'changed' | 'deleted' | 'mode';
}

export interface Comparison {
  readonly changes: Change[];
  readonly deletions: string[];
  readonly writes: Map<string, TreeEntry>;
}

/** `tops` were scanned; what lies elsewhere is as it was. */
export function compare(previous: Previous, scanned: Scanned, tops: readonly string[]): Comparison {
  const changes: Change[] = [];
  const writes = new Map<string, TreeEntry>();
  for (const [path, { mode, oid }] of scanned.files) {
    const before = previous.files.get(path);
    const now = { mode: treeMode(mode), oid };
    if (before?.mode === now.mode && before.oid === now.oid) continue;
    writes.set(path, now);
    const kind = before === undefined ? 'added' : before.oid === oid ? 'mode' : 'changed';
    changes.push({ path: displayPath(path), kind });
  }
  const deletions = [...previous.files.keys()].filter(
    (path) => isUnder(path, tops) && !scanned.files.has(path),
  );
  for (const path of deletions) changes.push({ path: displayPath(path), kind: 'deleted' });
  changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { changes, deletions, writes };
}

/** What a tree does not show: permission bits, and directories that came to be empty or are gone. */
export function compareManifests(
  before: CapturedManifest | undefined,
  now: CapturedManifest,
  { walked }: Scanned,
  known: readonly Change[],
): Change[] {
  if (before === undefined) return [];
  const told = new Set(known.map(({ path }) => path));
  const [old, current] = [readModes(before), readModes(now)];
  const paths = new Set([...old.others.keys(), ...current.others.keys()]);
  const modes = [...paths].filter((path) => old.others.get(path) !== current.others.get(path));
  const emptied = now.empty_directories.filter((path) => !before.empty_directories.includes(path));
  const vanished = before.empty_directories.filter(
    (path) => !now.empty_directories.includes(path) && !walked.directories.has(pathFromJson(path)),
  );
  const directory = (path: string) => `${displayPath(pathFromJson(path))}/`;
  return [
    ...emptied.map((path) => ({ path: directory(path), kind: 'added' as const })),
    ...vanished.map((path) => ({ path: directory(path), kind: 'deleted' as const })),
    ...modes
      .filter((path) => walked.files.has(path) || walked.directories.has(path))
      .map((path) => ({ path: displayPath(path), kind: 'mode' as const })),
  ].filter(({ path }) => !told.has(path) && !told.has(path.replace(/\/$/, '')));
}
