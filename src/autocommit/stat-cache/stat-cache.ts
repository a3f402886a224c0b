/**
 * The stat cache of a session: what the last scan found. For each file its stat data and the object name of its content,
 * and the directories. It belongs to one shadow commit. If it is missing, damaged or of another commit, the next scan
 * reads every file; nothing else depends on it.
 *
 * On disk: one line of JSON, padded with blanks to a multiple of eight bytes, then the columns in the machine's byte
 * order, then a CRC-32 of all that. The CRC is there to detect damage quickly.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { type PreparedFile, prepareFile } from '../../disk/atomic-file.ts';
import { errorCode } from '../../errors.ts';
import { CachedDirectories, type CachedDirectoriesData } from './cached-directories.ts';
import { CachedFiles, directoryNumbers, fileColumns, type SharedColumns } from './cached-files.ts';

/** The sandbox's index file at that scan (staged-index.ts). */
interface CachedIndex {
  /** Digest of its entries and flags. */
  readonly digest: string;
  /** Its stat data, in one string. Empty if they cannot tell whether the file has changed. */
  readonly stat: string;
}

export interface StatCache {
  /** The shadow commit that it describes. */
  readonly commit: string;
  /** The file system's clock before that scan, in milliseconds. A later change may leave the stat data as they are. */
  readonly clock: number;
  readonly index: CachedIndex;
  readonly files: CachedFiles;
  /** Undefined if that scan did not cover the whole session folder. */
  readonly directories?: CachedDirectories | undefined;
  /** In the cache of a start commit: paths of its tree, under `sandbox/`, that a shadow commit cannot hold. */
  readonly unstorable?: readonly string[] | undefined;
  /** Only in a cache that was read from disk. */
  readonly shared?: SharedColumns;
}

/** The line of JSON. */
interface Head extends Pick<StatCache, 'commit' | 'clock' | 'index' | 'unstorable'> {
  readonly format: string;
  readonly count: number;
  readonly folders: readonly string[];
  readonly directories?: Omit<CachedDirectoriesData, 'data'> | undefined;
}

const FORMAT = `agt-scan-8-${endianness()}`;
const CRC_LENGTH = 4;
const NEWLINE = 0x0a;

export function writeStatCache(path: string, cache: StatCache): void {
  prepareStatCache(path, cache).replace();
}

/** Writes it under a temporary name, to be renamed when its commit exists. */
export function prepareStatCache(path: string, cache: StatCache): PreparedFile {
  const { data, directoryOf, nameEnds, oids, names } = cache.files.columns;
  const columns = [data, cache.directories?.data ?? new Float64Array(), directoryOf, nameEnds, oids, names];
  const parts = [
    headLine(cache),
    ...columns.map((column) => Buffer.from(column.buffer, column.byteOffset, column.byteLength)),
  ];
  const crc = Buffer.alloc(CRC_LENGTH);
  crc.writeUInt32BE(parts.reduce((before, part) => crc32(part, before), 0));
  return prepareFile(path, [...parts, crc], { cache: true });
}

/** Padded, so that the columns after it are aligned. */
function headLine({ commit, clock, index, files, directories, unstorable }: StatCache): Buffer {
  const { paths, excluded, encoded, ignore } = directories ?? {};
  const head = {
    ...{ format: FORMAT, count: files.length, commit, clock, index, folders: files.columns.directories },
    ...{ unstorable, directories: directories && { paths, excluded, encoded, ignore } },
  };
  const line = Buffer.from(JSON.stringify(head));
  const padding = Buffer.alloc(8 - (line.length % 8), ' ');
  padding[padding.length - 1] = NEWLINE;
  return Buffer.concat([line, padding]);
}

/** Undefined if there is none. @throws Error with the reason if it cannot be used. */
export function readStatCache(path: string): StatCache | undefined {
  const bytes = readShared(path);
  if (bytes === undefined) return undefined;
  const all = Buffer.from(bytes);
  if (all.length < CRC_LENGTH) throw new Error('it is damaged');
  const body = all.subarray(0, all.length - CRC_LENGTH);
  if (crc32(body) !== all.readUInt32BE(body.length)) throw new Error('it is damaged');
  const lineEnd = body.indexOf(NEWLINE);
  const head = JSON.parse(body.toString('utf8', 0, lineEnd)) as Head;
  if (head.format !== FORMAT) throw new Error('it is of another format');
  const { commit, clock, index, directories: listed, unstorable } = head;
  const shared: SharedColumns = {
    bytes,
    start: lineEnd + 1,
    fileCount: head.count,
    directoryCount: listed?.paths.length ?? 0,
    oidLength: commit.length / 2,
    end: body.length,
  };
  const files = new CachedFiles(fileColumns(shared, head.folders));
  const data = directoryNumbers(shared);
  const directories = listed && new CachedDirectories({ ...listed, data });
  return { commit, clock, index, files, directories, unstorable, shared };
}

function readShared(path: string): SharedArrayBuffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const bytes = new SharedArrayBuffer(fstatSync(fd).size);
    const view = new Uint8Array(bytes);
    for (let offset = 0; offset < view.length; ) {
      const read = readSync(fd, view, offset, view.length - offset, offset);
      if (read === 0) throw new Error('it is damaged');
      offset += read;
    }
    return bytes;
  } finally {
    closeSync(fd);
  }
}
