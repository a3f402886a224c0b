/**
 * Files with their stat data and content names, in columns: at a hundred thousand files an object for each would cost
 * more than looking at the disk. Paths are relative to the session folder, one byte per character; a row has the number
 * of its folder and its name in that, and becomes a string only where it is asked for.
 */
import type { Stats } from 'node:fs';

/** Milliseconds with fractions, bytes, and st_mode with its type. */
export const COLUMNS = ['mtimeMs', 'ctimeMs', 'size', 'ino', 'mode'] as const;
export const WIDTH = COLUMNS.length;
const MODE = COLUMNS.indexOf('mode');

export type StatData = Pick<Stats, (typeof COLUMNS)[number]>;

export interface Columns {
  /** Row after row. */
  readonly data: Float64Array;
  /** Binary, one after another. */
  readonly oids: Buffer;
  /** Of each row, which of `folders` it lies in. */
  readonly folderOf: Uint32Array;
  /** The names in the folders, NUL after each. */
  readonly names: Buffer;
  /** Of each row, where its name and the NUL end. */
  readonly nameEnds: Uint32Array;
  readonly folders: readonly string[];
}

export class ScanTable {
  readonly columns: Columns;
  readonly length: number;
  private readonly oidLength: number;
  private folderNumbers: ReadonlyMap<string, number> | undefined;
  private folderRows: { ends: Uint32Array; rows: Uint32Array } | undefined;
  private readonly found = new Map<number, ReadonlyMap<string, number>>();
  private readonly expected = new Map<string, number>();

  constructor(columns: Columns) {
    this.columns = columns;
    this.length = columns.folderOf.length;
    this.oidLength = this.length === 0 ? 0 : columns.oids.length / this.length;
  }

  /** Name of a row in its folder. */
  name(row: number): string {
    const { names, nameEnds } = this.columns;
    return names.toString('latin1', nameEnds[row - 1] ?? 0, (nameEnds[row] as number) - 1);
  }

  path(row: number): string {
    const folder = this.columns.folders[this.columns.folderOf[row] as number] as string;
    return inFolder(folder, this.name(row));
  }

  *paths(): Generator<string> {
    for (let row = 0; row < this.length; row++) yield this.path(row);
  }

  /** The paths of these rows will be asked for, which makes it unnecessary to go through all in their folders. */
  expect(rows: Iterable<number>): void {
    for (const row of rows) this.expected.set(this.path(row), row);
  }

  /** Row of a path, or -1. */
  find(path: string): number {
    const expected = this.expected.get(path);
    if (expected !== undefined) return expected;
    const slash = path.lastIndexOf('/');
    const folder = this.folderNumber(path.slice(0, Math.max(slash, 0)));
    if (folder === undefined) return -1;
    let rows = this.found.get(folder);
    if (rows === undefined) {
      rows = new Map(Array.from(this.rowsIn(folder), (row) => [this.name(row), row]));
      this.found.set(folder, rows);
    }
    return rows.get(path.slice(slash + 1)) ?? -1;
  }

  /** Names of the files in a folder. */
  namesIn(folder: string): string[] {
    const number = this.folderNumber(folder);
    return number === undefined ? [] : Array.from(this.rowsIn(number), (row) => this.name(row));
  }

  private folderNumber(folder: string): number | undefined {
    this.folderNumbers ??= new Map(this.columns.folders.map((path, number) => [path, number]));
    return this.folderNumbers.get(folder);
  }

  private rowsIn(folder: number): Uint32Array {
    this.folderRows ??= groupRows(this.columns);
    const { ends, rows } = this.folderRows;
    return rows.subarray(ends[folder - 1] ?? 0, ends[folder]);
  }

  oid(row: number): string {
    return this.columns.oids.toString('hex', row * this.oidLength, (row + 1) * this.oidLength);
  }

  mode(row: number): number {
    return this.columns.data[row * WIDTH + MODE] as number;
  }

  /** The same files, some of which are something else now. */
  replacing(rows: ReadonlyMap<number, { readonly stat: StatData; readonly oid: string }>): ScanTable {
    const [data, oids] = [this.columns.data.slice(), Buffer.from(this.columns.oids)];
    for (const [row, { stat, oid }] of rows) setRow({ data, oids }, row, stat, oid);
    return new ScanTable({ ...this.columns, data, oids });
  }

  /** Whether both times lie before `clock`: whatever changes after it looks different. */
  isOlder(row: number, clock: number): boolean {
    const { data } = this.columns;
    return (data[row * WIDTH] as number) < clock && (data[row * WIDTH + 1] as number) < clock;
  }

  /** Whether the stat data are the same, and both times lie before `clock`. */
  isSame(row: number, stat: StatData, clock: number): boolean {
    const at = row * WIDTH;
    const { data } = this.columns;
    return (
      data[at] === stat.mtimeMs &&
      data[at + 1] === stat.ctimeMs &&
      data[at + 2] === stat.size &&
      data[at + 3] === stat.ino &&
      data[at + 4] === stat.mode &&
      stat.ctimeMs < clock &&
      stat.mtimeMs < clock
    );
  }
}

/** The rows of each folder one after another, and where each folder's end. */
function groupRows({ folders, folderOf }: Columns): { ends: Uint32Array; rows: Uint32Array } {
  const ends = new Uint32Array(folders.length);
  for (const folder of folderOf) ends[folder] = (ends[folder] as number) + 1;
  for (let folder = 1; folder < ends.length; folder++)
    ends[folder] = (ends[folder] as number) + (ends[folder - 1] as number);
  // From the last row on, and each folder from its end.
  const rows = new Uint32Array(folderOf.length);
  const next = ends.slice();
  for (let row = folderOf.length - 1; row >= 0; row--) {
    const folder = folderOf[row] as number;
    next[folder] = (next[folder] as number) - 1;
    rows[next[folder] as number] = row;
  }
  return { ends, rows };
}

/** One row of the columns. */
export function setRow(
  { data, oids }: Pick<Columns, 'data' | 'oids'>,
  row: number,
  stat: StatData,
  oid: string,
): void {
  const at = row * WIDTH;
  data[at] = stat.mtimeMs;
  data[at + 1] = stat.ctimeMs;
  data[at + 2] = stat.size;
  data[at + 3] = stat.ino;
  data[at + 4] = stat.mode;
  oids.write(oid, (row * oid.length) / 2, 'hex');
}

/** The session folder itself, which a folder is replaced in as a whole, is the folder without a name. */
export function inFolder(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
