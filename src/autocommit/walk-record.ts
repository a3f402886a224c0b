/**
 * What a walk found in one directory and below, in columns that can be handed from one thread to another, and told to a
 * visitor afterwards as if the walk took place there.
 */
import { COLUMNS } from './scan-table.ts';
import type { Visitor } from './walk.ts';

export interface WalkRecord {
  /** One of KINDS for each event, in the order of the walk. */
  readonly kinds: Uint8Array;
  /** The path of each event, NUL after each. */
  readonly paths: string;
  /** Of each file all columns, of each directory its mode. */
  readonly numbers: Float64Array;
  /** Of each event that has one. */
  readonly reasons: readonly string[];
}

const KINDS = { file: 0, directory: 1, empty: 2, skipped: 3, failed: 4 } as const;

/** Takes down what a walk tells its visitor. */
export function recorder(): { visitor: Visitor; finish: () => WalkRecord } {
  const kinds: number[] = [];
  const paths: string[] = [];
  const numbers: number[] = [];
  const reasons: string[] = [];
  const note = (kind: number, path: string) => {
    kinds.push(kind);
    paths.push(`${path}\0`);
  };
  const visitor: Visitor = {
    file: (path, stat) => {
      note(KINDS.file, path);
      for (const column of COLUMNS) numbers.push(stat[column]);
    },
    directory: (path, mode, empty) => {
      note(empty ? KINDS.empty : KINDS.directory, path);
      numbers.push(mode);
    },
    skipped: (path, reason) => {
      note(KINDS.skipped, path);
      reasons.push(reason);
    },
    failed: (path, reason) => {
      note(KINDS.failed, path);
      reasons.push(reason);
    },
    ignores: undefined,
  };
  const finish = () => ({
    kinds: Uint8Array.from(kinds),
    paths: paths.join(''),
    numbers: Float64Array.from(numbers),
    reasons,
  });
  return { visitor, finish };
}

export function replay({ kinds, paths, numbers, reasons }: WalkRecord, visitor: Visitor): void {
  const names = paths.split('\0');
  let at = 0;
  let told = 0;
  for (let n = 0; n < kinds.length; n++) {
    const path = names[n] as string;
    const kind = kinds[n];
    if (kind === KINDS.file) {
      const [mtimeMs, ctimeMs, size, ino, mode] = numbers.subarray(
        at,
        at + COLUMNS.length,
      ) as unknown as FileNumbers;
      at += COLUMNS.length;
      visitor.file(path, { mtimeMs, ctimeMs, size, ino, mode });
    } else if (kind === KINDS.skipped) visitor.skipped(path, reasons[told++] as string);
    else if (kind === KINDS.failed) visitor.failed(path, reasons[told++] as string);
    else visitor.directory(path, numbers[at++] as number, kind === KINDS.empty);
  }
}

/** In the order of COLUMNS. */
type FileNumbers = [number, number, number, number, number];
