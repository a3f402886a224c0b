/**
 * Looks whether every file and directory of the last scan is what it was. Several threads do it together: each takes a
 * stretch after the other until none is left. What comes out is what the scan proper has to look at.
 */
import { lstatSync, type Stats } from 'node:fs';
import { errorCode } from '../errors.ts';
import { isSamePlace } from './known-places.ts';
import { type Columns, inFolder, ScanTable } from './scan-table.ts';
import { systemPath } from './system-path.ts';

export interface ToConfirm {
  /** The session folder; absolute, one byte per character like all paths. */
  readonly folder: string;
  readonly columns: Columns;
  readonly places: { readonly paths: readonly string[]; readonly data: Float64Array };
  /** When the last scan began. */
  readonly clock: number;
  /** How many stretches have been taken, by all threads. */
  readonly taken: Int32Array;
}

export interface Differences {
  /** Of files that are not what they were, or gone. */
  readonly rows: readonly number[];
  /** Of directories, likewise. */
  readonly places: readonly number[];
  /** Something could not be looked at: the scan proper has to say what. */
  readonly failed: boolean;
}

/** Rows or places that are taken at once. */
const STRETCH = 256;
const QUIET = { throwIfNoEntry: false } as const;

export function confirm({ folder, columns, places, clock, taken }: ToConfirm): Differences {
  const table = new ScanTable(columns);
  const { names, nameEnds, folderOf, folders } = columns;
  const prefixes: string[] = [];
  const different = { rows: [] as number[], places: [] as number[] };
  let failed = false;
  const look = (path: string): Stats | undefined => {
    try {
      return lstatSync(systemPath(path), QUIET);
    } catch (error) {
      if (errorCode(error) !== 'ENOTDIR') failed = true;
      return undefined;
    }
  };
  const inPlaces = Math.ceil(places.paths.length / STRETCH);
  const stretches = inPlaces + Math.ceil(table.length / STRETCH);
  for (;;) {
    const stretch = Atomics.add(taken, 0, 1);
    if (stretch >= stretches) break;
    if (stretch < inPlaces) {
      const end = Math.min(places.paths.length, (stretch + 1) * STRETCH);
      for (let place = stretch * STRETCH; place < end; place++) {
        const stat = look(`${folder}/${places.paths[place]}`);
        if (stat === undefined || !isSamePlace(places.data, place, stat, clock)) different.places.push(place);
      }
      continue;
    }
    const start = (stretch - inPlaces) * STRETCH;
    const end = Math.min(table.length, start + STRETCH);
    const named = names
      .toString('latin1', nameEnds[start - 1] ?? 0, (nameEnds[end - 1] as number) - 1)
      .split('\0');
    for (let row = start; row < end; row++) {
      const within = folderOf[row] as number;
      prefixes[within] ??= `${folder}/${inFolder(folders[within] as string, '')}`;
      const stat = look(prefixes[within] + named[row - start]);
      if (stat === undefined || !table.isSame(row, stat, clock)) different.rows.push(row);
    }
  }
  return { ...different, failed };
}
