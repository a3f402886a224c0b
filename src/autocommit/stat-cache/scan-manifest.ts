/**
 * What the last scan of a session folder saw: for each file the stat data and the object name of its content, and the
 * directories. A cache that belongs to one shadow commit: missing, damaged or of another commit, it costs one full scan
 * and nothing else.
 *
 * On disk: a JSON line, filled up with blanks to a multiple of eight bytes, then the columns (in the machine's byte
 * order), and a CRC-32 of all that: it is to tell damage, and to take little time. In memory the columns are where
 * threads can share them.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { type PreparedFile, prepareFile } from '../../disk/atomic-file.ts';
import { errorCode } from '../../errors.ts';
import type { KnownPlaces } from './known-places.ts';
import { ScanTable } from './scan-table.ts';
import { columnsIn, placesIn, type SharedColumns } from './shared-columns.ts';

/** What the sandbox's index file was (index-state.ts). */
export interface KnownIndex {
  /** Digest of what it means. */
  readonly digest: string;
  /** Its stat data, as far as they tell that it is the same file. */
  readonly stat: string;
}

export interface ScanManifest {
  /** The shadow commit that it describes. */
  readonly commit: string;
  /** The file system's clock when that scan began: what changed since may look unchanged. */
  readonly clock: number;
  readonly index: KnownIndex;
  readonly files: ScanTable;
  /** Undefined where that scan was not a whole one. */
  readonly places?: KnownPlaces | undefined;
  /** Of a start commit: paths of its tree, under `sandbox/`, that have no place in a shadow commit. */
  readonly foreign?: readonly string[] | undefined;
  /** Where the columns lie, of one that was read. */
  readonly shared?: SharedColumns;
}

interface Head {
  format: string;
  count: number;
  commit: string;
  clock: number;
  index: KnownIndex;
  folders: string[];
  places?: Omit<KnownPlaces, 'data'>;
  foreign?: string[];
}

const FORMAT = `agt-scan-6-${endianness()}`;
const SUM_LENGTH = 4;

export function writeScanManifest(path: string, manifest: ScanManifest): void {
  prepareScanManifest(path, manifest).replace();
}

/** For one that may come to stand there, once its commit does. */
export function prepareScanManifest(
  path: string,
  { commit, clock, index, files, places, foreign }: ScanManifest,
): PreparedFile {
  const { data, folderOf, nameEnds, oids, names, folders } = files.columns;
  const listed = places && { ...places, data: undefined };
  const head: Head = {
    ...{ format: FORMAT, count: files.length, commit, clock, index, folders: [...folders] },
    ...(listed === undefined ? {} : { places: listed }),
    ...(foreign === undefined ? {} : { foreign: [...foreign] }),
  };
  const line = Buffer.from(JSON.stringify(head));
  const blanks = Buffer.alloc(7 - (line.length % 8) + 1, ' ');
  blanks[blanks.length - 1] = NEWLINE;
  const columns = [data, places?.data ?? new Float64Array(), folderOf, nameEnds, oids, names];
  const parts = [
    line,
    blanks,
    ...columns.map((column) => Buffer.from(column.buffer, column.byteOffset, column.byteLength)),
  ];
  const sum = Buffer.alloc(SUM_LENGTH);
  sum.writeUInt32BE(parts.reduce((before, part) => crc32(part, before), 0));
  return prepareFile(path, [...parts, sum], { cache: true });
}

const NEWLINE = 0x0a;

/** @throws Error for a file that cannot be used, with the reason; undefined where there is none. */
export function readScanManifest(path: string): ScanManifest | undefined {
  const bytes = readShared(path);
  if (bytes === undefined) return undefined;
  const all = Buffer.from(bytes);
  if (all.length < SUM_LENGTH) throw new Error('it is damaged');
  const body = all.subarray(0, all.length - SUM_LENGTH);
  if (crc32(body) !== all.readUInt32BE(body.length)) throw new Error('it is damaged');
  const lineEnd = body.indexOf(NEWLINE);
  const head = JSON.parse(body.toString('utf8', 0, lineEnd)) as Head;
  if (head.format !== FORMAT) throw new Error('it is of another format');
  const shared: SharedColumns = {
    bytes,
    start: lineEnd + 1,
    count: head.count,
    placeCount: head.places?.paths.length ?? 0,
    oidLength: head.commit.length / 2,
    end: body.length,
  };
  return {
    commit: head.commit,
    clock: head.clock,
    index: head.index,
    files: new ScanTable(columnsIn(shared, head.folders)),
    places: head.places && { ...head.places, data: placesIn(shared) },
    foreign: head.foreign,
    shared,
  };
}

function readShared(path: string): SharedArrayBuffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const bytes = new SharedArrayBuffer(fstatSync(fd).size);
    const view = new Uint8Array(bytes);
    for (let at = 0; at < view.length; ) {
      const read = readSync(fd, view, at, view.length - at, at);
      if (read === 0) throw new Error('it is damaged');
      at += read;
    }
    return bytes;
  } finally {
    closeSync(fd);
  }
}
