/**
 * Collects permission bits and lists them as the snapshot manifest does: the usual bits of files, programs and
 * directories, then every path that has others. Bits that were usual in the last snapshot stay so: otherwise one more
 * file could turn the whole list around.
 */
import { jsonPath } from '../../disk/path-bytes.ts';
import { readModes, type SnapshotManifest } from '../../snapshot/manifest.ts';
import type { CachedFiles } from '../stat-cache/cached-files.ts';

type Kind = 'file' | 'program' | 'directory';

export class PermissionBits {
  private readonly usual: Record<Kind, number> | undefined;
  /** Entries with unusual bits. Without a last snapshot all entries: what is usual is not known yet. */
  private readonly noted: [path: string, kind: Kind, bits: number][] = [];
  private readonly files: CachedFiles | undefined;
  private readonly kept: Uint8Array;

  /** Of the cached files those count that have a 1 in `kept`. Most of their paths never become a string. */
  constructor(last: SnapshotManifest | undefined, files: CachedFiles | undefined, kept: Uint8Array) {
    this.usual = last === undefined ? undefined : readModes(last).usual;
    this.files = files;
    this.kept = kept;
  }

  file(path: string, { mode }: { readonly mode: number }): void {
    const kind = kindOf(mode);
    if (kind !== undefined) this.note(path, kind, mode & BITS);
  }

  directory(path: string, mode: number): void {
    this.note(path, 'directory', mode & BITS);
  }

  /** `retained` are entries of the last manifest for paths that were not scanned. */
  describe(retained: readonly [path: string, octal: string][]): SnapshotManifest['modes'] {
    const usual = this.usual ?? {
      file: this.mostFrequent('file', 0o644),
      program: this.mostFrequent('program', 0o755),
      directory: this.mostFrequent('directory', 0o755),
    };
    const unusual = [...this.noted, ...this.cachedEntries((kind, bits) => bits !== usual[kind])]
      .filter(([, kind, bits]) => bits !== usual[kind])
      .map(([path, , bits]): [string, string] => [jsonPath(path), octal(bits)]);
    return {
      file: octal(usual.file),
      program: octal(usual.program),
      directory: octal(usual.directory),
      others: Object.fromEntries([...retained, ...unusual].sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  }

  private note(path: string, kind: Kind, bits: number): void {
    if (this.usual?.[kind] !== bits) this.noted.push([path, kind, bits]);
  }

  private *cachedEntries(
    isWanted: (kind: Kind, bits: number) => boolean,
  ): Generator<[path: string, kind: Kind, bits: number]> {
    const { files, kept } = this;
    for (let row = 0; files !== undefined && row < files.length; row++) {
      const mode = files.mode(row);
      const kind = kept[row] === 1 ? kindOf(mode) : undefined;
      if (kind !== undefined && isWanted(kind, mode & BITS)) yield [files.path(row), kind, mode & BITS];
    }
  }

  private mostFrequent(kind: Kind, fallback: number): number {
    const counts = new Map<number, number>();
    const count = (of: Kind | undefined, bits: number) => {
      // A file that gives its owner's rights to others is listed with its owner.
      const isListed = of !== 'directory' && (bits & SET_ID) !== 0;
      if (of === kind && !isListed) counts.set(bits, (counts.get(bits) ?? 0) + 1);
    };
    for (const [, of, bits] of this.noted) count(of, bits);
    const { files, kept } = this;
    for (let row = 0; files !== undefined && row < files.length; row++)
      if (kept[row] === 1) count(kindOf(files.mode(row)), files.mode(row) & BITS);
    // In a tie the smaller number, so that the order of the walk does not matter.
    return [...counts].sort(([a, n], [b, m]) => m - n || a - b)[0]?.[0] ?? fallback;
  }
}

/** The permission bits of st_mode, with set-user-ID, set-group-ID and sticky. */
const BITS = 0o7777;
export const SET_ID = 0o6000;

/** As git tells them apart. Undefined for a link, whose bits mean nothing. */
function kindOf(mode: number): 'file' | 'program' | undefined {
  if ((mode & 0o170000) === 0o120000) return undefined;
  return (mode & 0o100) === 0 ? 'file' : 'program';
}

function octal(bits: number): string {
  return bits.toString(8).padStart(4, '0');
}
