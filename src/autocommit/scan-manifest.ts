/**
 * What the last scan of a session folder saw: for each file the stat data and the object name of its content. A cache
 * that belongs to one shadow commit: missing, damaged or of another commit, it costs one full scan and nothing else.
 *
 * On disk: a JSON line, then the columns (little-endian), the object names, the paths with NUL after each, and a SHA-1
 * of all that.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { errorCode } from '../errors.ts';
import { writeFileAtomic } from '../state/atomic-file.ts';

export interface ScannedFile {
  /** Milliseconds with fractions, as lstat gives them. */
  readonly mtime: number;
  readonly ctime: number;
  readonly size: number;
  readonly ino: number;
  /** st_mode, type included. */
  readonly mode: number;
  /** Hex. */
  readonly oid: string;
}

export interface ScanManifest {
  /** The shadow commit that it describes. */
  readonly commit: string;
  /** The file system's clock when that scan began: what changed since may look unchanged. */
  readonly clock: number;
  /** Digest of the sandbox's index (index-state.ts). */
  readonly index: string;
  /** By path relative to the session folder, one byte per character. */
  readonly files: ReadonlyMap<string, ScannedFile>;
}

const FORMAT = 'agt-scan-1';
const DIGEST_LENGTH = 20;
const COLUMNS = ['mtime', 'ctime', 'size', 'ino', 'mode'] as const;

export function writeScanManifest(path: string, manifest: ScanManifest): void {
  const entries = [...manifest.files];
  const oidLength = manifest.commit.length / 2;
  const { commit, clock, index } = manifest;
  const head = JSON.stringify({
    format: `${FORMAT}-${endianness()}`,
    count: entries.length,
    commit,
    clock,
    index,
  });
  const columns = COLUMNS.map(
    (column) => new Uint8Array(Float64Array.from(entries, ([, file]) => file[column]).buffer),
  );
  const oids = Buffer.alloc(entries.length * oidLength);
  for (const [i, [, file]] of entries.entries()) oids.write(file.oid, i * oidLength, 'hex');
  const names = Buffer.from(entries.map(([name]) => `${name}\0`).join(''), 'latin1');
  const body = Buffer.concat([Buffer.from(`${head}\n`), ...columns, oids, names]);
  writeFileAtomic(path, Buffer.concat([body, createHash('sha1').update(body).digest()]));
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
  if (!createHash('sha1').update(body).digest().equals(bytes.subarray(body.length)))
    throw new Error('it is damaged');
  const lineEnd = body.indexOf('\n');
  const head = JSON.parse(body.toString('utf8', 0, lineEnd)) as Record<
    'commit' | 'index' | 'format',
    string
  > &
    Record<'count' | 'clock', number>;
  if (head.format !== `${FORMAT}-${endianness()}`) throw new Error('it is of another format');
  return {
    commit: head.commit,
    clock: head.clock,
    index: head.index,
    files: readFiles(body, lineEnd + 1, head),
  };
}

function readFiles(
  body: Buffer,
  start: number,
  head: { count: number; commit: string },
): Map<string, ScannedFile> {
  const { count } = head;
  const oidLength = head.commit.length / 2;
  let at = start;
  const take = (length: number) => {
    at += length;
    return body.subarray(at - length, at);
  };
  const column = () => new Float64Array(Uint8Array.from(take(count * 8)).buffer);
  const [mtime, ctime, size, ino, mode] = COLUMNS.map(column) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const oids = take(count * oidLength).toString('hex');
  const names = body.toString('latin1', at).split('\0');
  const files = new Map<string, ScannedFile>();
  for (let i = 0; i < count; i++) {
    files.set(names[i] as string, {
      mtime: mtime[i] as number,
      ctime: ctime[i] as number,
      size: size[i] as number,
      ino: ino[i] as number,
      mode: mode[i] as number,
      oid: oids.slice(i * oidLength * 2, (i + 1) * oidLength * 2),
    });
  }
  return files;
}
