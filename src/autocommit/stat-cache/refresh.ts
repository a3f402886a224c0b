/**
 * Looks whether every file and directory of the last scan is what it was. Several threads do it together: each takes a
 * stretch after the other until none is left. What comes out is what the scan proper has to look at.
 */
import { lstatSync } from 'node:fs';
import { systemPath } from '../../disk/long-path.ts';
import { errorCode } from '../../errors.ts';
import { isSamePlace } from './known-places.ts';
import { type Columns, inFolder, ScanTable, type StatData } from './scan-table.ts';

export interface ToConfirm {
  /** The session folder, one byte per character like all paths; empty: the process is in it. */
  readonly folder: string;
  readonly columns: Columns;
  readonly places: { readonly paths: readonly string[]; readonly data: Float64Array };
  /** When the last scan began. */
  readonly clock: number;
  /** The number of the next stretch that no thread has taken. */
  readonly take: () => number;
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

export function confirm({ folder, columns, places, clock, take }: ToConfirm): Differences {
  const table = new ScanTable(columns);
  const { names, nameEnds, folderOf, folders } = columns;
  const base = folder === '' ? '' : `${folder}/`;
  const different = { rows: [] as number[], places: [] as number[] };
  let failed = false;
  const look = (path: string): StatData | undefined => {
    try {
      return lstatSync(systemPath(path), QUIET);
    } catch (error) {
      if (errorCode(error) !== 'ENOTDIR') failed = true;
      return undefined;
    }
  };
  const lookAtPlaces = (start: number) => {
    const end = Math.min(places.paths.length, start + STRETCH);
    for (let place = start; place < end; place++) {
      const stat = look(base + places.paths[place]);
      if (stat === undefined || !isSamePlace(places.data, place, stat, clock)) different.places.push(place);
    }
  };
  const lookAtRows = (start: number) => {
    const end = Math.min(table.length, start + STRETCH);
    let [within, prefix] = [-1, ''];
    for (let row = start; row < end; row++) {
      // Files of one folder mostly stand together.
      if (folderOf[row] !== within) {
        within = folderOf[row] as number;
        prefix = base + inFolder(folders[within] as string, '');
      }
      const name = names.toString('latin1', nameEnds[row - 1] ?? 0, (nameEnds[row] as number) - 1);
      const stat = look(prefix + name);
      if (stat === undefined || !table.isSame(row, stat, clock)) different.rows.push(row);
    }
  };
  const inPlaces = Math.ceil(places.paths.length / STRETCH);
  const stretches = inPlaces + Math.ceil(table.length / STRETCH);
  for (let stretch = take(); stretch < stretches; stretch = take()) {
    if (stretch < inPlaces) lookAtPlaces(stretch * STRETCH);
    else lookAtRows((stretch - inPlaces) * STRETCH);
  }
  return { ...different, failed };
}
