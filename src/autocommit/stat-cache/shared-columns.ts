/** The columns of a stat cache in memory that threads can share, as they lie in its file (stat-cache.ts). */
import { type Columns, WIDTH } from './cached-files.ts';

export interface SharedColumns {
  readonly bytes: SharedArrayBuffer;
  /** Offset of the first column; a multiple of 8. */
  readonly start: number;
  readonly fileCount: number;
  readonly directoryCount: number;
  readonly oidLength: number;
  /** Offset after the last column. */
  readonly end: number;
}

export function fileColumns(
  { bytes, start, fileCount, directoryCount, oidLength, end }: SharedColumns,
  directories: readonly string[],
): Columns {
  const directoriesAt = start + (fileCount + directoryCount) * WIDTH * 8;
  const oidsAt = directoriesAt + fileCount * 8;
  const namesAt = oidsAt + fileCount * oidLength;
  return {
    data: new Float64Array(bytes, start, fileCount * WIDTH),
    directoryOf: new Uint32Array(bytes, directoriesAt, fileCount),
    nameEnds: new Uint32Array(bytes, directoriesAt + fileCount * 4, fileCount),
    oids: Buffer.from(bytes, oidsAt, fileCount * oidLength),
    names: Buffer.from(bytes, namesAt, end - namesAt),
    directories,
  };
}

/** The numbers of the cached directories. Each has as many as a file. */
export function directoryNumbers({ bytes, start, fileCount, directoryCount }: SharedColumns): Float64Array {
  return new Float64Array(bytes, start + fileCount * WIDTH * 8, directoryCount * WIDTH);
}
