/**
 * Files with their stat data and content names, in columns: at a hundred thousand files an object for each would cost
 * more than looking at the disk. Paths are relative to the session folder, one byte per character.
 */
import type { Stats } from 'node:fs';

/** Milliseconds with fractions, bytes, and st_mode with its type. */
export const COLUMNS = ['mtimeMs', 'ctimeMs', 'size', 'ino', 'mode'] as const;
const WIDTH = COLUMNS.length;
const MODE = COLUMNS.indexOf('mode');

export type StatData = Pick<Stats, (typeof COLUMNS)[number]>;

export class ScanTable {
  readonly names: readonly string[];
  /** Row after row. */
  readonly data: Float64Array;
  /** Binary, one after another. */
  readonly oids: Buffer;
  private readonly oidLength: number;
  private readonly rows = new Map<string, number>();
  private next = 0;

  constructor(names: readonly string[], data: Float64Array, oids: Buffer) {
    this.names = names;
    this.data = data;
    this.oids = oids;
    this.oidLength = names.length === 0 ? 0 : oids.length / names.length;
  }

  /** Row of a path, or -1. Fastest where paths are asked for in the order of the table. */
  find(path: string): number {
    if (this.names[this.next] === path) return this.next++;
    if (this.rows.size === 0) for (const [row, name] of this.names.entries()) this.rows.set(name, row);
    const row = this.rows.get(path) ?? -1;
    if (row >= 0) this.next = row + 1;
    return row;
  }

  oid(row: number): string {
    return this.oids.toString('hex', row * this.oidLength, (row + 1) * this.oidLength);
  }

  mode(row: number): number {
    return this.data[row * WIDTH + MODE] as number;
  }

  /** Whether both times lie before `clock`: whatever changes after it looks different. */
  isOlder(row: number, clock: number): boolean {
    const at = row * WIDTH;
    return (this.data[at] as number) < clock && (this.data[at + 1] as number) < clock;
  }

  /** Whether the stat data are the same, and both times lie before `clock`. */
  isSame(row: number, stat: StatData, clock: number): boolean {
    const at = row * WIDTH;
    const { data } = this;
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

export class ScanTableBuilder {
  private readonly names: string[] = [];
  private data: Float64Array;
  private oids: Buffer;
  private readonly oidLength: number;

  /** `oidLength` in bytes; `expected` rows, if that is known. */
  constructor(oidLength: number, expected = 64) {
    this.oidLength = oidLength;
    this.data = new Float64Array(WIDTH * Math.max(64, expected));
    this.oids = Buffer.alloc((this.data.length / WIDTH) * oidLength);
  }

  add(path: string, stat: StatData, oid: string): void {
    const row = this.push(path);
    const at = row * WIDTH;
    this.data[at] = stat.mtimeMs;
    this.data[at + 1] = stat.ctimeMs;
    this.data[at + 2] = stat.size;
    this.data[at + 3] = stat.ino;
    this.data[at + 4] = stat.mode;
    this.oids.write(oid, row * this.oidLength, 'hex');
  }

  /** A file that was not looked at: whatever it will look like, it is to be read. */
  addUnseen(path: string, mode: number, oid: string): void {
    const unknown = Number.NaN;
    this.add(path, { mtimeMs: unknown, ctimeMs: unknown, size: unknown, ino: unknown, mode }, oid);
  }

  copy(table: ScanTable, from: number): void {
    const row = this.push(table.names[from] as string);
    this.data.set(table.data.subarray(from * WIDTH, (from + 1) * WIDTH), row * WIDTH);
    table.oids.copy(this.oids, row * this.oidLength, from * this.oidLength, (from + 1) * this.oidLength);
  }

  build(): ScanTable {
    const rows = this.names.length;
    return new ScanTable(
      this.names,
      this.data.subarray(0, rows * WIDTH),
      this.oids.subarray(0, rows * this.oidLength),
    );
  }

  /** A row for `path`, which has room. */
  private push(path: string): number {
    const row = this.names.push(path) - 1;
    if (row * WIDTH === this.data.length) {
      const [data, oids] = [new Float64Array(this.data.length * 2), Buffer.alloc(this.oids.length * 2)];
      data.set(this.data);
      this.oids.copy(oids);
      [this.data, this.oids] = [data, oids];
    }
    return row;
  }
}
