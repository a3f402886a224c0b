/**
 * lstat(2) of very many files: the C library's own, through `node:ffi`, which takes no longer than from C, where
 * fs.lstatSync takes a half more for the path and the answer. Where that cannot be had (a Node without it, another
 * kind of machine, a C library that does not name the function), fs.lstatSync does it.
 *
 * A pointer to the wrong memory would crash the process. So there are two, to memory that never moves and is long enough
 * for any path and any answer, and where the fields lie in that is compared with what Node says before it is relied on.
 */
import { lstatSync } from 'node:fs';
import { systemPath } from '../../disk/long-path.ts';
import { COLUMNS, type StatData } from './scan-table.ts';

export interface Lstat {
  /** `prefix` stands before the names of all that is looked at next, one byte per character. */
  readonly enter: (prefix: string) => void;
  /**
   * The file whose name stands in `names` from `start` to `end`; undefined where there is none. The answer is good until
   * the next one. @throws the system's error, such as EACCES.
   */
  readonly look: (names: Uint8Array, start: number, end: number) => StatData | undefined;
}

/** One for all scans of this thread: what it takes is never given back. */
export function lstatOfMany(): Lstat {
  found ??= quickLstat() ?? plainLstat();
  return found;
}

let found: Lstat | undefined;

export function plainLstat(): Lstat {
  let before = '';
  return {
    enter: (prefix) => {
      before = prefix;
    },
    look: (names, start, end) => {
      const name = Buffer.from(names.buffer, names.byteOffset + start, end - start).toString('latin1');
      return lstatSync(systemPath(before + name), QUIET);
    },
  };
}

const QUIET = { throwIfNoEntry: false } as const;

/** With the NUL. */
const PATH_MAX = 4096;
/** Longer than any `struct stat`. */
const ANSWER = 512;
const HERE = Buffer.from('.');

/** Where `st_mode` lies in Linux's `struct stat`; in these two the others that matter lie in the same places. */
const MODE_AT: Partial<Record<NodeJS.Architecture, number>> = { x64: 24, arm64: 16 };
const [INO_AT, SIZE_AT, MTIME_AT, CTIME_AT] = [8, 48, 88, 104] as const;

/** Undefined where it cannot be had. */
export function quickLstat(): Lstat | undefined {
  const modeAt = process.platform === 'linux' ? MODE_AT[process.arch] : undefined;
  if (modeAt === undefined) return undefined;
  try {
    const lstat = callsOf(modeAt);
    lstat.enter('');
    return isRight(lstat) ? lstat : undefined;
  } catch {
    return undefined;
  }
}

function isRight(lstat: Lstat): boolean {
  const [told, known] = [lstat.look(HERE, 0, HERE.length), lstatSync('.')];
  return COLUMNS.every((column) => told?.[column] === known[column]);
}

function callsOf(modeAt: number): Lstat {
  const ffi = loadFfi();
  const { lstat } = ffi.dlopen(null, {
    lstat: { arguments: ['pointer', 'pointer'], return: 'i32' },
  }).functions;
  const path = new Uint8Array(new ArrayBuffer(PATH_MAX));
  const answer = new ArrayBuffer(ANSWER);
  const [atPath, atAnswer] = [ffi.getRawPointer(path), ffi.getRawPointer(answer)];
  const [words, signed] = [new Uint32Array(answer), new Int32Array(answer)];
  const unsignedAt = (byte: number) => wordAt(words, byte + 4) * 2 ** 32 + wordAt(words, byte);
  const signedAt = (byte: number) => wordAt(signed, byte + 4) * 2 ** 32 + wordAt(words, byte);
  const timeAt = (byte: number) => signedAt(byte) * 1000 + wordAt(words, byte + 8) / 1e6;
  const stat = { mtimeMs: 0, ctimeMs: 0, size: 0, ino: 0, mode: 0 };
  const plain = plainLstat();
  let length = 0;
  return {
    enter: (prefix) => {
      plain.enter(prefix);
      length = prefix.length;
      for (let i = 0; i < length && i < PATH_MAX; i++) path[i] = prefix.charCodeAt(i);
    },
    look: (names, start, end) => {
      const whole = length + end - start;
      if (whole >= PATH_MAX) return plain.look(names, start, end);
      for (let from = start, to = length; from < end; from++, to++) path[to] = names[from] as number;
      path[whole] = 0;
      // Why it could not be looked at, only the other one says.
      if (lstat(atPath, atAnswer) !== 0) return plain.look(names, start, end);
      stat.mtimeMs = timeAt(MTIME_AT);
      stat.ctimeMs = timeAt(CTIME_AT);
      stat.size = signedAt(SIZE_AT);
      stat.ino = unsignedAt(INO_AT);
      stat.mode = wordAt(words, modeAt);
      return stat;
    },
  };
}

function wordAt(words: Uint32Array | Int32Array, byte: number): number {
  return words[byte / 4] as number;
}

/** Without the warning that it is experimental, which is none of the user's business. @throws where there is none. */
function loadFfi(): typeof import('node:ffi') {
  const warn = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:ffi');
  } finally {
    process.emitWarning = warn;
  }
}
