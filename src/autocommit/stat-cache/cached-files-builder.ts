/** Builds the files of a stat cache, row by row or from ranges of rows of another cache. */
import { CachedFiles, type StatData, setRow, WIDTH } from './cached-files.ts';

/** Rows to allocate if nobody says how many there will be. */
const FIRST_CAPACITY = 64;

export class CachedFilesBuilder {
  private data: Float64Array;
  private oids: Buffer;
  private directoryOf: Uint32Array;
  private nameEnds: Uint32Array;
  private readonly names: Buffer[] = [];
  private namesLength = 0;
  private rows = 0;
  private readonly oidLength: number;
  private readonly directories: string[] = [];
  private readonly directoryNumbers = new Map<string, number>();

  /** `oidLength` in bytes; `expected` is the number of rows, if known. */
  constructor(oidLength: number, expected = 0) {
    const capacity = Math.max(FIRST_CAPACITY, expected);
    this.oidLength = oidLength;
    this.data = new Float64Array(WIDTH * capacity);
    this.oids = Buffer.alloc(capacity * oidLength);
    this.directoryOf = new Uint32Array(capacity);
    this.nameEnds = new Uint32Array(capacity);
  }

  add(path: string, stat: StatData, oid: string): void {
    this.reserve(1);
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
    this.reserve(end - start);
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

  private reserve(more: number): void {
    if (this.rows + more <= this.directoryOf.length) return;
    const capacity = Math.max(this.directoryOf.length * 2, this.rows + more);
    const [data, oids] = [new Float64Array(capacity * WIDTH), Buffer.alloc(capacity * this.oidLength)];
    const [directoryOf, nameEnds] = [new Uint32Array(capacity), new Uint32Array(capacity)];
    data.set(this.data);
    this.oids.copy(oids);
    directoryOf.set(this.directoryOf);
    nameEnds.set(this.nameEnds);
    [this.data, this.oids, this.directoryOf, this.nameEnds] = [data, oids, directoryOf, nameEnds];
  }
}
