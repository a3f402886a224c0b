/** Where the columns of a scan manifest lie in memory that threads share. */
import { type Columns, WIDTH } from './scan-table.ts';

export interface SharedColumns {
  readonly bytes: SharedArrayBuffer;
  readonly start: number;
  readonly count: number;
  readonly placeCount: number;
  readonly oidLength: number;
  readonly end: number;
}

export function columnsIn(
  { bytes, start, count, placeCount, oidLength, end }: SharedColumns,
  folders: readonly string[],
): Columns {
  const foldersAt = start + (count + placeCount) * WIDTH * 8;
  const oidsAt = foldersAt + count * 8;
  const namesAt = oidsAt + count * oidLength;
  return {
    data: new Float64Array(bytes, start, count * WIDTH),
    folderOf: new Uint32Array(bytes, foldersAt, count),
    nameEnds: new Uint32Array(bytes, foldersAt + count * 4, count),
    oids: Buffer.from(bytes, oidsAt, count * oidLength),
    names: Buffer.from(bytes, namesAt, end - namesAt),
    folders,
  };
}

/** The numbers of the places; as many to each as a file has. */
export function placesIn({ bytes, start, count, placeCount }: SharedColumns): Float64Array {
  return new Float64Array(bytes, start + count * WIDTH * 8, placeCount * WIDTH);
}
