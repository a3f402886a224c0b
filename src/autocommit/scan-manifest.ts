/**
 * What the last scan of a session folder saw: for each file the stat data and the object name of its content. A cache
 * that belongs to one shadow commit: missing, damaged or of another commit, it costs one full scan and nothing else.
 *
 * On disk: a JSON line, then the rows of numbers (in the machine's byte order), the object names, the paths with NUL
 * after each, and a SHA-1 of all that.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { errorCode } from '../errors.ts';
import { writeFileAtomic } from '../state/atomic-file.ts';
import { COLUMNS, ScanTable } from './scan-table.ts';

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
  /** Of a start commit: paths of its tree, under `sandbox/`, that have no place in a shadow commit. */
  readonly foreign?: readonly string[];
}

const FORMAT = `agt-scan-3-${endianness()}`;
const DIGEST_LENGTH = 20;

export function writeScanManifest(
  path: string,
  { commit, clock, index, files, foreign }: ScanManifest,
): void {
  const head = JSON.stringify({ format: FORMAT, count: files.names.length, commit, clock, index, foreign });
  const { buffer, byteOffset, byteLength } = files.data;
  const rows = new Uint8Array(buffer, byteOffset, byteLength);
  const names = Buffer.from(files.names.map((name) => `${name}\0`).join(''), 'latin1');
  const body = Buffer.concat([Buffer.from(`${head}\n`), rows, files.oids, names]);
  writeFileAtomic(path, Buffer.concat([body, digest(body)]), { cache: true });
}

/** @throws Error for a file that cannot be used, with the reason; undefined where there is none. */
export function readScanManifest(path: string): ScanManifest | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const body = bytes.subarray(0, Math.max(0, bytes.length - DIGEST_LENGTH));
  if (!digest(body).equals(bytes.subarray(body.length))) throw new Error('it is damaged');
  const lineEnd = body.indexOf('\n');
  const head = JSON.parse(body.toString('utf8', 0, lineEnd)) as Record<'commit' | 'format', string> &
    Record<'count' | 'clock', number> & { index: KnownIndex; foreign?: string[] };
  if (head.format !== FORMAT) throw new Error('it is of another format');
  return {
    commit: head.commit,
    clock: head.clock,
    index: head.index,
    files: readTable(body, lineEnd + 1, head),
    ...(head.foreign === undefined ? {} : { foreign: head.foreign }),
  };
}

function readTable(
  body: Buffer,
  start: number,
  { count, commit }: { count: number; commit: string },
): ScanTable {
  const rowsEnd = start + count * COLUMNS.length * 8;
  const oidsEnd = rowsEnd + (count * commit.length) / 2;
  // A copy: the rows need not lie on a multiple of eight in the file.
  const data = new Float64Array(Uint8Array.from(body.subarray(start, rowsEnd)).buffer);
  const names = body.toString('latin1', oidsEnd).split('\0');
  names.pop();
  return new ScanTable(names, data, body.subarray(rowsEnd, oidsEnd));
}

function digest(bytes: Buffer): Buffer {
  return createHash('sha1').update(bytes).digest();
}
