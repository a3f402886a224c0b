/**
 * Permission bits, as the captured manifest lists them: what most files, programs and directories have, then the others
 * by path. What was usual in the last state stays so: one more or less of them does not turn the list inside out.
 */

import { jsonPath } from '../../disk/path-bytes.ts';
import { type CapturedManifest, readModes } from '../../snapshot/manifest.ts';
import type { ScanTable } from '../stat-cache/scan-table.ts';

type Kind = 'file' | 'program' | 'directory';

export class PermissionBits {
  private readonly usual: Record<Kind, number> | undefined;
  /** Without a last state everything is kept until it is clear what is usual. */
  private readonly noticed: [path: string, kind: Kind, mode: number][] = [];
  private readonly known: { table: ScanTable; kept: Uint8Array }[] = [];

  constructor(before: CapturedManifest | undefined) {
    this.usual = before === undefined ? undefined : readModes(before).usual;
  }

  file(path: string, { mode }: { mode: number }): void {
    const kind = kindOf(mode);
    if (kind !== undefined) this.add(path, kind, mode & BITS);
  }

  directory(path: string, mode: number): void {
    this.add(path, 'directory', mode & BITS);
  }

  /** All the files of a table with a 1 in `kept`: most of them never become a string. */
  files(table: ScanTable, kept: Uint8Array): void {
    this.known.push({ table, kept });
  }

  private add(path: string, kind: Kind, mode: number): void {
    if (this.usual?.[kind] !== mode) this.noticed.push([path, kind, mode]);
  }

  private addUnusual(usual: Record<Kind, number>): void {
    for (const { table, kept } of this.known.splice(0)) {
      for (let row = 0; row < table.length; row++) {
        const kind = kept[row] === 1 ? kindOf(table.mode(row)) : undefined;
        const mode = table.mode(row) & BITS;
        if (kind !== undefined && mode !== usual[kind]) this.noticed.push([table.path(row), kind, mode]);
      }
    }
  }

  /** `kept` are entries of the last state that were not looked at this time. */
  describe(kept: readonly [string, string][]): CapturedManifest['modes'] {
    const usual = this.usual ?? {
      file: this.mostFrequent('file', 0o644),
      program: this.mostFrequent('program', 0o755),
      directory: this.mostFrequent('directory', 0o755),
    };
    this.addUnusual(usual);
    const others = this.noticed
      .filter(([, kind, mode]) => mode !== usual[kind])
      .map(([path, , mode]): [string, string] => [jsonPath(path), octal(mode)]);
    return {
      file: octal(usual.file),
      program: octal(usual.program),
      directory: octal(usual.directory),
      others: Object.fromEntries([...kept, ...others].sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  }

  private mostFrequent(kind: Kind, fallback: number): number {
    const counts = new Map<number, number>();
    const count = (of: Kind | undefined, mode: number) => {
      if (of === kind) counts.set(mode, (counts.get(mode) ?? 0) + 1);
    };
    for (const [, of, mode] of this.noticed) count(of, mode);
    for (const { table, kept } of this.known) {
      for (let row = 0; row < table.length; row++) {
        if (kept[row] === 1) count(kindOf(table.mode(row)), table.mode(row) & BITS);
      }
    }
    // In a tie the smaller one, so that the order of the walk does not matter.
    return [...counts].sort(([a, n], [b, m]) => m - n || a - b)[0]?.[0] ?? fallback;
  }
}

const BITS = 0o7777;

/** As git tells them apart; undefined of a link, of which the bits mean nothing. */
function kindOf(mode: number): 'file' | 'program' | undefined {
  if ((mode & 0o170000) === 0o120000) return undefined;
  return (mode & 0o100) === 0 ? 'file' : 'program';
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
