/**
 * The stat cache of a session: what the last scan found. For each file its stat data and the object name of its content,
 * and the directories. It belongs to one shadow commit. If it is missing, damaged or of another commit, the next scan
 * reads every file; nothing else depends on it.
 *
 * On disk: one line of JSON, padded with blanks to a multiple of eight bytes, then the columns in the machine's byte
 * order, then a CRC-32 of all that. The CRC is there to detect damage quickly.
 */
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { type PreparedFile, prepareFile } from '../../disk/atomic-file.ts';
import { readRegularFile } from '../../disk/read-file.ts';
import { unlessMissing } from '../../errors.ts';
import { CachedDirectories, type CachedDirectoriesData, DIRECTORY_WIDTH } from './cached-directories.ts';
import { CachedFiles, WIDTH } from './cached-files.ts';

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
  const bytes = readAligned(path);
  if (bytes === undefined) return undefined;
  if (bytes.length < CRC_LENGTH) throw new Error('it is damaged');
  const body = bytes.subarray(0, bytes.length - CRC_LENGTH);
  if (crc32(body) !== bytes.readUInt32BE(body.length)) throw new Error('it is damaged');
  const lineEnd = body.indexOf(NEWLINE);
  const head = JSON.parse(body.toString('utf8', 0, lineEnd)) as Head;
  if (head.format !== FORMAT) throw new Error('it is of another format');
  const { commit, clock, index, directories: listed, unstorable, count, folders } = head;
  let end = lineEnd + 1;
  const column = (length: number) => {
    end += length;
    return body.subarray(end - length, end);
  };
  const floats = (length: number) => {
    const { buffer, byteOffset } = column(8 * length);
    return new Float64Array(buffer, byteOffset, length);
  };
  const integers = (length: number) => {
    const { buffer, byteOffset } = column(4 * length);
    return new Uint32Array(buffer, byteOffset, length);
  };
  const data = floats(count * WIDTH);
  const ofDirectories = floats((listed?.paths.length ?? 0) * DIRECTORY_WIDTH);
  const [directoryOf, nameEnds] = [integers(count), integers(count)];
  const oids = column((count * commit.length) / 2);
  const names = body.subarray(end);
  const files = new CachedFiles({ data, directoryOf, nameEnds, oids, names, directories: folders });
  const directories = listed && new CachedDirectories({ ...listed, data: ofDirectories });
  return { commit, clock, index, files, directories, unstorable };
}

/** In memory whose address is a multiple of eight, as the columns need it. */
function readAligned(path: string): Buffer | undefined {
  const bytes = unlessMissing(() => readRegularFile(path));
  if (bytes === undefined) return undefined;
  return bytes.byteOffset % 8 === 0 ? bytes : Buffer.from(Uint8Array.from(bytes).buffer);
}
