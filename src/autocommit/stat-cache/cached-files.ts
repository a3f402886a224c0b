/**
 * The files of a stat cache: stat data and object names, in columns, because an object for each of 100,000 files would
 * take longer to make than the lstat. Paths are relative to the session folder, one byte per character. A row holds the
 * number of its directory and its name in it; it becomes a string only on demand.
 */
import type { Stats } from 'node:fs';

/** Times in milliseconds with fractions, the size in bytes, and st_mode with the file type. */
export const COLUMNS = ['mtimeMs', 'ctimeMs', 'size', 'ino', 'mode'] as const;
export const WIDTH = COLUMNS.length;
const MODE = COLUMNS.indexOf('mode');

export type StatData = Pick<Stats, (typeof COLUMNS)[number]>;

export interface Columns {
  /** The stat data, row after row. */
  readonly data: Float64Array;
  /** The binary object names, row after row. */
  readonly oids: Buffer;
  /** For each row the index of its directory in `directories`. */
  readonly directoryOf: Uint32Array;
  /** The names in their directories, each followed by NUL. */
  readonly names: Buffer;
  /** For each row the offset after its name's NUL. */
  readonly nameEnds: Uint32Array;
  readonly directories: readonly string[];
}

export class CachedFiles {
  readonly columns: Columns;
  readonly length: number;
  private readonly oidLength: number;
  private directoryNumbers: ReadonlyMap<string, number> | undefined;
  private rowsByDirectory: { ends: Uint32Array; rows: Uint32Array } | undefined;
  private readonly rowsByName = new Map<string, ReadonlyMap<string, number>>();

  constructor(columns: Columns) {
    this.columns = columns;
    this.length = columns.directoryOf.length;
    this.oidLength = this.length === 0 ? 0 : columns.oids.length / this.length;
  }

  path(row: number): string {
    const { directories, directoryOf } = this.columns;
    return joinPath(directories[directoryOf[row] as number] as string, nameOf(this.columns, row));
  }

  *paths(): Generator<string> {
    for (let row = 0; row < this.length; row++) yield this.path(row);
  }

  /** The row of a path, or -1. */
  find(path: string): number {
    const slash = path.lastIndexOf('/');
    return this.namesIn(path.slice(0, Math.max(slash, 0))).get(path.slice(slash + 1)) ?? -1;
  }

  /** The rows of the files in a directory, by name. */
  namesIn(directory: string): ReadonlyMap<string, number> {
    let rows = this.rowsByName.get(directory);
    if (rows === undefined) {
      rows = new Map(Array.from(this.rowsIn(directory), (row) => [nameOf(this.columns, row), row]));
      this.rowsByName.set(directory, rows);
    }
    return rows;
  }

  /** The rows of the files in a directory. */
  rowsIn(directory: string): Uint32Array {
    this.directoryNumbers ??= new Map(this.columns.directories.map((path, number) => [path, number]));
    const number = this.directoryNumbers.get(directory);
    if (number === undefined) return NO_ROWS;
    this.rowsByDirectory ??= groupRows(this.columns);
    const { ends, rows } = this.rowsByDirectory;
    return rows.subarray(ends[number - 1] ?? 0, ends[number]);
  }

  oid(row: number): string {
    return this.columns.oids.toString('hex', row * this.oidLength, (row + 1) * this.oidLength);
  }

  mode(row: number): number {
    return this.columns.data[row * WIDTH + MODE] as number;
  }

  mtimeMs(row: number): number {
    return this.columns.data[row * WIDTH] as number;
  }

  hasUnread(): boolean {
    return this.columns.data.includes(Number.NaN);
  }

  /** A copy in which some rows have new stat data and object names. */
  replacing(rows: ReadonlyMap<number, { readonly stat: StatData; readonly oid: string }>): CachedFiles {
    const [data, oids] = [this.columns.data.slice(), Buffer.from(this.columns.oids)];
    for (const [row, { stat, oid }] of rows) setRow({ data, oids }, row, stat, oid);
    return new CachedFiles({ ...this.columns, data, oids });
  }

  /** Undefined for a file that is not cached; NaN if nobody has asked the disk. */
  sizeOf(path: string): number | undefined {
    return this.columns.data[this.find(path) * WIDTH + 2];
  }

  /** Whether both times are before `clock`. Any change after `clock` then shows in the stat data. */
  isOlder(row: number, clock: number): boolean {
    const { data } = this.columns;
    return (data[row * WIDTH] as number) < clock && (data[row * WIDTH + 1] as number) < clock;
  }

  /** Whether the file has the same stat data as when it was cached, and both times are before `clock`. */
  isSame(row: number, stat: StatData, clock: number): boolean {
    const offset = row * WIDTH;
    const { data } = this.columns;
    return (
      data[offset] === stat.mtimeMs &&
      data[offset + 1] === stat.ctimeMs &&
      data[offset + 2] === stat.size &&
      data[offset + 3] === stat.ino &&
      data[offset + 4] === stat.mode &&
      stat.ctimeMs < clock &&
      stat.mtimeMs < clock
    );
  }
}

const NO_ROWS = new Uint32Array();

/** The name of a row in its directory. */
function nameOf({ names, nameEnds }: Pick<Columns, 'names' | 'nameEnds'>, row: number): string {
  return names.toString('latin1', nameEnds[row - 1] ?? 0, (nameEnds[row] as number) - 1);
}

/** All rows, sorted by directory, and for each directory the index after its last row. */
function groupRows({ directories, directoryOf }: Columns): { ends: Uint32Array; rows: Uint32Array } {
  const ends = new Uint32Array(directories.length);
  for (let row = 0; row < directoryOf.length; row++) {
    const directory = directoryOf[row] as number;
    ends[directory] = (ends[directory] as number) + 1;
  }
  for (let directory = 1; directory < ends.length; directory++)
    ends[directory] = (ends[directory] as number) + (ends[directory - 1] as number);
  // Fills each directory's stretch from its end, beginning with the last row, so that rows stay in order.
  const rows = new Uint32Array(directoryOf.length);
  const next = ends.slice();
  for (let row = directoryOf.length - 1; row >= 0; row--) {
    const directory = directoryOf[row] as number;
    next[directory] = (next[directory] as number) - 1;
    rows[next[directory] as number] = row;
  }
  return { ends, rows };
}

/** Writes one row. */
function setRow({ data, oids }: Pick<Columns, 'data' | 'oids'>, row: number, stat: StatData, oid: string) {
  const offset = row * WIDTH;
  data[offset] = stat.mtimeMs;
  data[offset + 1] = stat.ctimeMs;
  data[offset + 2] = stat.size;
  data[offset + 3] = stat.ino;
  data[offset + 4] = stat.mode;
  oids.write(oid, (row * oid.length) / 2, 'hex');
}

/** The session folder itself is the directory ''. */
export function joinPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

export class CachedFilesBuilder {
  private readonly data: Float64Array;
  private readonly oids: Buffer;
  private readonly directoryOf: Uint32Array;
  private readonly nameEnds: Uint32Array;
  private readonly names: Buffer[] = [];
  private namesLength = 0;
  private rows = 0;
  private readonly oidLength: number;
  private readonly directories: string[] = [];
  private readonly directoryNumbers = new Map<string, number>();

  /** `oidLength` is in bytes, `capacity` the largest number of rows. */
  constructor(oidLength: number, capacity: number) {
    this.oidLength = oidLength;
    this.data = new Float64Array(WIDTH * capacity);
    this.oids = Buffer.alloc(capacity * oidLength);
    this.directoryOf = new Uint32Array(capacity);
    this.nameEnds = new Uint32Array(capacity);
  }

  add(path: string, stat: StatData, oid: string): void {
    this.requireRoom(1);
    const slash = path.lastIndexOf('/');
    const name = Buffer.from(`${path.slice(slash + 1)}\0`, 'latin1');
    const row = this.rows++;
    setRow({ data: this.data, oids: this.oids }, row, stat, oid);
    this.directoryOf[row] = this.directoryNumber(path.slice(0, Math.max(slash, 0)));
    this.names.push(name);
    this.namesLength += name.length;
    this.nameEnds[row] = this.namesLength;
  }

  /** A file without stat data. It never looks unchanged, so the next scan reads it. */
  addUnread(path: string, mode: number, oid: string): void {
    const unknown = Number.NaN;
    this.add(path, { mtimeMs: unknown, ctimeMs: unknown, size: unknown, ino: unknown, mode }, oid);
  }

  /** Copies the rows from `start` up to, but not including, `end`. */
  copy({ columns }: CachedFiles, start: number, end: number): void {
    if (end <= start) return;
    this.requireRoom(end - start);
    const { data, oids, directoryOf, names, nameEnds, directories } = columns;
    const [nameStart, nameEnd] = [nameEnds[start - 1] ?? 0, nameEnds[end - 1] as number];
    this.data.set(data.subarray(start * WIDTH, end * WIDTH), this.rows * WIDTH);
    oids.copy(this.oids, this.rows * this.oidLength, start * this.oidLength, end * this.oidLength);
    const shift = this.namesLength - nameStart;
    let [known, number] = [-1, 0];
    for (let row = start; row < end; row++, this.rows++) {
      const directory = directoryOf[row] as number;
      if (directory !== known)
        [known, number] = [directory, this.directoryNumber(directories[directory] as string)];
      this.directoryOf[this.rows] = number;
      this.nameEnds[this.rows] = (nameEnds[row] as number) + shift;
    }
    this.names.push(names.subarray(nameStart, nameEnd));
    this.namesLength += nameEnd - nameStart;
  }

  build(): CachedFiles {
    return new CachedFiles({
      data: this.data.subarray(0, this.rows * WIDTH),
      oids: this.oids.subarray(0, this.rows * this.oidLength),
      directoryOf: this.directoryOf.subarray(0, this.rows),
      nameEnds: this.nameEnds.subarray(0, this.rows),
      names: Buffer.concat(this.names),
      directories: this.directories,
    });
  }

  private directoryNumber(path: string): number {
    let number = this.directoryNumbers.get(path);
    if (number === undefined) {
      number = this.directories.push(path) - 1;
      this.directoryNumbers.set(path, number);
    }
    return number;
  }

  /** Beyond their ends the columns would swallow a row without a word. */
  private requireRoom(more: number): void {
    if (this.rows + more > this.directoryOf.length) throw new RangeError('more files than expected');
  }
}
