/** Makes a scan table, row by row or from whole stretches of another one. */
import { ScanTable, type StatData, setRow, WIDTH } from './scan-table.ts';

export class ScanTableBuilder {
  private data: Float64Array;
  private oids: Buffer;
  private folderOf: Uint32Array;
  private nameEnds: Uint32Array;
  private readonly names: Buffer[] = [];
  private namesLength = 0;
  private rows = 0;
  private readonly oidLength: number;
  private readonly folders: string[] = [];
  private readonly numbers = new Map<string, number>();

  /** `oidLength` in bytes; `expected` rows, if that is known. */
  constructor(oidLength: number, expected = 64) {
    const room = Math.max(64, expected);
    this.oidLength = oidLength;
    this.data = new Float64Array(WIDTH * room);
    this.oids = Buffer.alloc(room * oidLength);
    this.folderOf = new Uint32Array(room);
    this.nameEnds = new Uint32Array(room);
  }

  add(path: string, stat: StatData, oid: string): void {
    this.reserve(1);
    const slash = path.lastIndexOf('/');
    const name = Buffer.from(`${path.slice(slash + 1)}\0`, 'latin1');
    const row = this.rows++;
    setRow({ data: this.data, oids: this.oids }, row, stat, oid);
    this.folderOf[row] = this.folder(path.slice(0, Math.max(slash, 0)));
    this.names.push(name);
    this.namesLength += name.length;
    this.nameEnds[row] = this.namesLength;
  }

  /** A file that was not looked at: whatever it will look like, it is to be read. */
  addUnseen(path: string, mode: number, oid: string): void {
    const unknown = Number.NaN;
    this.add(path, { mtimeMs: unknown, ctimeMs: unknown, size: unknown, ino: unknown, mode }, oid);
  }

  /** The rows of `table` from `from` to just before `to`. */
  copy(table: ScanTable, from: number, to: number): void {
    if (to <= from) return;
    this.reserve(to - from);
    const { data, oids, folderOf, names, nameEnds, folders } = table.columns;
    const [start, end] = [nameEnds[from - 1] ?? 0, nameEnds[to - 1] as number];
    this.data.set(data.subarray(from * WIDTH, to * WIDTH), this.rows * WIDTH);
    oids.copy(this.oids, this.rows * this.oidLength, from * this.oidLength, to * this.oidLength);
    const shift = this.namesLength - start;
    let [known, number] = [-1, 0];
    for (let row = from; row < to; row++, this.rows++) {
      const folder = folderOf[row] as number;
      if (folder !== known) [known, number] = [folder, this.folder(folders[folder] as string)];
      this.folderOf[this.rows] = number;
      this.nameEnds[this.rows] = (nameEnds[row] as number) + shift;
    }
    this.names.push(names.subarray(start, end));
    this.namesLength += end - start;
  }

  build(): ScanTable {
    return new ScanTable({
      data: this.data.subarray(0, this.rows * WIDTH),
      oids: this.oids.subarray(0, this.rows * this.oidLength),
      folderOf: this.folderOf.subarray(0, this.rows),
      nameEnds: this.nameEnds.subarray(0, this.rows),
      names: Buffer.concat(this.names),
      folders: this.folders,
    });
  }

  private folder(path: string): number {
    let number = this.numbers.get(path);
    if (number === undefined) {
      number = this.folders.push(path) - 1;
      this.numbers.set(path, number);
    }
    return number;
  }

  private reserve(more: number): void {
    const room = this.folderOf.length;
    if (this.rows + more <= room) return;
    const wider = Math.max(room * 2, this.rows + more);
    const [data, oids] = [new Float64Array(wider * WIDTH), Buffer.alloc(wider * this.oidLength)];
    const [folderOf, nameEnds] = [new Uint32Array(wider), new Uint32Array(wider)];
    data.set(this.data);
    this.oids.copy(oids);
    folderOf.set(this.folderOf);
    nameEnds.set(this.nameEnds);
    [this.data, this.oids, this.folderOf, this.nameEnds] = [data, oids, folderOf, nameEnds];
  }
}
