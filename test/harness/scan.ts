/** Scans of a folder without git. The result of the last scan is kept in memory, as a snapshot and a stat cache keep it. */
import { chmodSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { LastSnapshot } from '../../src/autocommit/last-snapshot.ts';
import { type ScanResult, scan } from '../../src/autocommit/scan/scan.ts';
import type { ScanOptions } from '../../src/autocommit/scan/scan-options.ts';
import { Source } from '../../src/autocommit/source.ts';
import { refresh } from '../../src/autocommit/stat-cache/refresh.ts';
import type { StatCache } from '../../src/autocommit/stat-cache/stat-cache.ts';
import { readFileClock } from '../../src/disk/file-clock.ts';
import { TOP_FOLDERS } from '../../src/snapshot/folders.ts';
import { readIgnoreFile } from '../../src/snapshot/ignore-file.ts';
import type { TreeEntry } from '../../src/snapshot/tree.ts';
import { makeTempDir, write } from './world.ts';

export class ScannedFolder {
  readonly folder = makeTempDir('scan');
  readonly sandbox = join(this.folder, 'sandbox');
  /** The files of the last snapshot. */
  files: ReadonlyMap<string, TreeEntry> = new Map();
  cache: StatCache | undefined;

  constructor() {
    for (const top of TOP_FOLDERS) mkdirSync(join(this.folder, top));
  }

  /** A scan with the stat cache. `take` makes its result the last snapshot. */
  async incremental(options: Partial<ScanOptions> = {}, { take = true } = {}): Promise<ScanResult> {
    const { cache, folder } = this;
    const clock = readFileClock(folder);
    const topFolders = options.topFolders ?? TOP_FOLDERS;
    const upToDate = cache && refresh(folder, cache, topFolders);
    const result = await this.run({ refreshed: cache && upToDate && { cache, upToDate }, ...options });
    if (take) this.take(result, clock);
    return result;
  }

  /** A scan without the stat cache. */
  full(options: Partial<ScanOptions> = {}): Promise<ScanResult> {
    return this.run({ refreshed: undefined, ...options });
  }

  /** Runs both scans, and expects that they find the same. The full one is first: it must not profit from the other. */
  async both(): Promise<ScanResult> {
    const full = await this.full();
    const incremental = await this.incremental();
    expect(found(incremental)).toEqual(found(full));
    if (incremental.cache !== undefined) expect(contents(incremental.cache)).toEqual(contents(full.cache));
    return incremental;
  }

  /** Waits until the file system's clock has ticked: changes before and after it have different times. */
  async tick(): Promise<void> {
    const start = readFileClock(this.folder);
    while (readFileClock(this.folder) <= start) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  private run(options: Partial<ScanOptions> & Pick<ScanOptions, 'refreshed'>): Promise<ScanResult> {
    const { folder, files } = this;
    const last: LastSnapshot = {
      ...{ isFirst: false, paths: files.keys(), isEmpty: files.size === 0, unstorable: [], warnings: [] },
      ...{ cache: undefined, indexDigest: undefined, manifest: undefined },
      find: (path) => files.get(path),
    };
    return scan(new Source(folder), last, {
      ...{ hash: 'sha1', maxFileSize: 1000, topFolders: TOP_FOLDERS, rereadSince: undefined },
      ...{ ignore: readIgnoreFile(folder), store: async () => true },
      ...options,
    });
  }

  private take({ writes, deletions, cache }: ScanResult, clock: number): void {
    const files = new Map([...this.files, ...writes]);
    for (const path of deletions) files.delete(path);
    this.files = files;
    if (cache !== undefined)
      this.cache = { commit: '0'.repeat(40), clock, index: { digest: '', stat: '' }, ...cache };
  }
}

/** A folder with some files, scanned twice, so that the cache trusts all of them. */
export async function filledFolder(): Promise<ScannedFolder> {
  const session = new ScannedFolder();
  for (const path of ['a', 'b', 'd/x', 'd/y', 'd/sub/z', 'e/x', 'run.sh'])
    write(join(session.sandbox, path), `${path}\n`);
  chmodSync(join(session.sandbox, 'run.sh'), 0o755);
  mkdirSync(join(session.sandbox, 'empty/inner'), { recursive: true });
  for (const path of ['a', 'd/sub', 'd']) utimesSync(join(session.sandbox, path), 1000, 1000);
  for (let scans = 0; scans < 2; scans++) {
    await session.incremental();
    await session.tick();
  }
  return session;
}

/** `+` new or changed, `-` deleted; paths in the sandbox without `sandbox/`. */
export function changedNames({ writes, deletions }: ScanResult): string[] {
  return [
    ...[...writes.keys()].map((path) => `+${path.replace('sandbox/', '')}`).sort(),
    ...deletions.map((path) => `-${path.replace('sandbox/', '')}`).sort(),
  ];
}

/** The result of a scan, in an order that does not depend on the way. */
export function found(result: ScanResult) {
  const { writes, deletions, directories, emptyDirectories, encoded, skipped, failed, permissions } = result;
  const sorted = (entries: Iterable<unknown>) => [...entries].map((entry) => JSON.stringify(entry)).sort();
  return {
    writes: sorted(writes),
    deletions: sorted(deletions),
    directories: sorted(directories),
    emptyDirectories: sorted(emptyDirectories),
    encoded: sorted(encoded),
    skipped: sorted(skipped),
    failed: sorted(failed),
    permissions: permissions.describe([]),
  };
}

/** The content of a stat cache, in an order that does not depend on the way. */
export function contents(cache: Pick<StatCache, 'files' | 'directories'> | undefined) {
  const { files, directories } = cache ?? {};
  const rows = Array.from({ length: files?.length ?? 0 }, (_, row) => row);
  return {
    files: rows.map((row) => `${files?.path(row)} ${files?.mode(row)} ${files?.oid(row)}`).sort(),
    directories: directories?.paths
      .map((path, row) => `${path} ${directories.mode(row)} ${directories.isEmpty(row)}`)
      .sort(),
    excluded: directories?.excluded,
    encoded: directories?.encoded.toSorted(),
    ignore: directories?.ignore,
  };
}
