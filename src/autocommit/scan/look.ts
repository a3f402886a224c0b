/**
 * Looks at a session folder: at all of it, or, where the last scan was a whole one, only at what is not as that left it.
 * Both come to the same.
 */
import { lstatSync, type Stats } from 'node:fs';
import { systemPath } from '../../disk/long-path.ts';
import { underAny } from '../../snapshot/failure.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import type { Previous } from '../last-snapshot.ts';
import { isEmptyPlace, isUntold, type KnownPlaces, placeMode } from '../stat-cache/known-places.ts';
import type { Differences } from '../stat-cache/refresh.ts';
import type { ScanTable, StatData } from '../stat-cache/scan-table.ts';
import { LookNotes } from './look-notes.ts';
import { PermissionBits } from './permission-bits.ts';
import type { ScanOptions, Skipped } from './scan-options.ts';
import { isRegular, listDirectory, type Visitor, visitEntry, walk } from './walk.ts';

export interface Looked {
  readonly notes: LookNotes;
  /** For each row of the last scan's table 1 where the file is as it was. */
  readonly kept: Uint8Array;
  /** Files to be read. */
  readonly pending: string[];
  readonly failed: Skipped[];
  readonly modes: PermissionBits;
  /** Whether there is something that the last scan did not leave, be it only another time of a directory. */
  readonly news: boolean;
}

/** `folder` is absolute, one byte per character. */
export function lookAtAll(folder: string, previous: Previous, options: ScanOptions): Looked {
  const { cache } = previous;
  const table = cache?.files;
  const kept = new Uint8Array(table?.length ?? 0);
  const looked = begin(folder, previous, kept);
  const visitor = visitorFor(looked, options, (path, stat) => {
    const row = table?.find(path) ?? -1;
    if (row < 0 || !table?.isSame(row, stat, cache?.clock ?? 0) || isLate(stat, options)) return false;
    kept[row] = 1;
    looked.notes.file(path);
    looked.modes.file(path, stat);
    return true;
  });
  walk(folder, options.tops, visitor);
  return { ...looked, news: true };
}

/** Undefined where something could not be looked at. */
export function lookAgain(
  folder: string,
  previous: Previous,
  differences: Differences,
  options: ScanOptions,
): Looked | undefined {
  const { files: table, places } = previous.cache as { files: ScanTable; places: KnownPlaces };
  const sorted = sortPlaces(folder, places, differences.places);
  if (sorted === undefined) return undefined;
  const { changed, gone } = sorted;
  const isGone = underAny(gone);
  const { kept, moved } = standingRows(table, differences.rows, isGone);
  const looked = begin(folder, previous, kept);
  const visitor = visitorFor(looked, options, () => false);

  const children =
    changed.size > 0 ? byParent([...places.paths, ...places.others]) : new Map<string, string[]>();
  let news = gone.length > 0;
  for (const [place, path] of places.paths.entries()) {
    if (isGone(path)) continue;
    const stat = changed.get(place);
    if (stat === undefined) {
      looked.notes.keepDirectory(places, place);
      looked.modes.directory(path, placeMode(places, place));
      continue;
    }
    const names = listDirectory(folder, path, visitor);
    if (names === undefined) return undefined;
    visitor.directory(path, stat, names.length === 0);
    const known = new Set([...table.namesIn(path), ...(children.get(path) ?? [])]);
    const added = names.filter((name) => !known.has(name));
    for (const name of added) visitEntry(folder, `${path}/${name}`, visitor);
    news ||=
      !isUntold(places, place) ||
      added.length > 0 ||
      stat.mode !== placeMode(places, place) ||
      (names.length === 0) !== isEmptyPlace(places, place);
  }
  for (const path of gone) if (!isGone(parentOf(path))) visitEntry(folder, path, visitor);
  for (const path of moved) visitEntry(folder, path, visitor);
  for (const path of places.others) if (!isGone(path)) visitEntry(folder, path, visitor);
  // The session folder itself is no place: which of the top folders there are is asked every time.
  const known = new Set([...places.paths, ...places.others, ...table.namesIn('')]);
  for (const top of TOP_FOLDERS) if (!known.has(top)) visitEntry(folder, top, visitor);
  for (const path of places.encoded) if (kept[table.find(path)] === 1) looked.notes.file(path);
  looked.modes.files(table, kept.slice());
  return looked.failed.length > 0 ? undefined : { ...looked, news };
}

/** Of the places that are not as they were, which are directories still, by number, and which are none. */
function sortPlaces(folder: string, { paths }: KnownPlaces, different: readonly number[]) {
  const changed = new Map<number, Stats>();
  const gone: string[] = [];
  for (const place of different) {
    const path = paths[place] as string;
    const stat = lookAt(folder, path);
    if (stat === 'failed') return undefined;
    if (stat?.isDirectory()) changed.set(place, stat);
    else gone.push(path);
  }
  return { changed, gone };
}

/**
 * Which files are as they were, and the paths of the others that may still be something. What lay in a directory that is
 * none any more is gone, whatever a link in its place may lead to.
 */
function standingRows(table: ScanTable, different: readonly number[], isGone: (path: string) => boolean) {
  const { folderOf, folders } = table.columns;
  const under = folders.map(isGone);
  const kept = new Uint8Array(table.length).fill(1);
  for (const row of different) kept[row] = 0;
  table.expect(different);
  if (under.includes(true)) {
    for (let row = 0; row < kept.length; row++) if (under[folderOf[row] as number]) kept[row] = 0;
  }
  const moved = different.filter((row) => !under[folderOf[row] as number]).map((row) => table.path(row));
  return { kept, moved };
}

function begin(folder: string, previous: Previous, kept: Uint8Array): Omit<Looked, 'news'> {
  const modes = new PermissionBits(previous.manifest);
  return { notes: new LookNotes(folder), kept, pending: [], failed: [], modes };
}

/** `isKnown` says of a file that it is as it was, and has taken note of it then. */
function visitorFor(
  { notes, modes, pending, failed }: Omit<Looked, 'news'>,
  { maxFileSize, ignore }: ScanOptions,
  isKnown: (path: string, stat: StatData) => boolean,
): Visitor {
  return {
    file: (path, stat) => {
      if (isKnown(path, stat)) return;
      if (isRegular(stat) && stat.size > maxFileSize)
        notes.skip(path, `is larger than agt.maxFileSize (${stat.size} bytes)`);
      else pending.push(path);
    },
    directory: (path, stat, empty) => {
      notes.directory(path, stat, empty);
      modes.directory(path, stat.mode);
    },
    skipped: (path, reason) => notes.skip(path, reason),
    failed: (path, reason) => void failed.push({ path, reason }),
    ignores: ignore?.ignores,
  };
}

function lookAt(folder: string, path: string): Stats | undefined | 'failed' {
  try {
    return lstatSync(systemPath(`${folder}/${path}`), { throwIfNoEntry: false });
  } catch {
    return 'failed';
  }
}

/** The names in each directory. */
function byParent(paths: readonly string[]): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const path of paths) {
    const parent = parentOf(path);
    const list = names.get(parent);
    const name = path.slice(parent.length + 1);
    if (list === undefined) names.set(parent, [name]);
    else list.push(name);
  }
  return names;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

function isLate(stat: StatData, { rereadSince }: ScanOptions): boolean {
  return rereadSince !== undefined && stat.mtimeMs >= rereadSince * 1000;
}
