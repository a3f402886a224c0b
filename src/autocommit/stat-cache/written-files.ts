/**
 * Examines the files that agt has just written into a new folder, before anybody works there. From what it finds come the
 * stat cache, so that the first autocommit reads no file, and the stat data of git's index, so that `git status` opens none.
 */
import { type BigIntStats, lstatSync } from 'node:fs';
import { clockAfter, readFileClock } from '../../disk/file-clock.ts';
import { isAscii, systemPath } from '../../disk/long-path.ts';
import type { IndexEntry } from '../../git/files/index-file.ts';
import { type StatOf, secondsOf, setBack } from '../../git/files/index-stat.ts';
import { treeMode } from '../../git/modes.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { examineDirectories } from './cached-directories.ts';
import type { StatData } from './cached-files.ts';
import { CachedFilesBuilder } from './cached-files-builder.ts';
import { writeStatCache } from './stat-cache.ts';

export interface WrittenFile {
  /** Relative to the session folder, one byte per character. */
  readonly path: string;
  readonly oid: string;
  readonly kind: 'file' | 'link';
}

interface Examined {
  readonly oid: string;
  /** Undefined if it is not there any more, or something else. */
  readonly stat: BigIntStats | undefined;
}

export class WrittenFiles {
  private readonly folder: string;
  private readonly examined = new Map<string, Examined>();

  /** `folder` is absolute. `hasTime`: whether agt has given a file the time of another one, which is to stay. */
  constructor(folder: string, files: readonly WrittenFile[], hasTime: (path: string) => boolean) {
    this.folder = folder;
    const root = Buffer.from(folder).toString('latin1');
    const rootIsAscii = isAscii(root);
    const now = Math.floor(readFileClock(folder) / 1000);
    for (const { path, oid, kind } of files) {
      const absolute = systemPath(`${root}/${path}`, rootIsAscii && isAscii(path));
      const stat = examine(absolute, kind, hasTime(path) ? undefined : now);
      this.examined.set(path, { oid, stat });
    }
  }

  /**
   * The stat data of an index entry whose file has the content that the entry names. `converted`: paths of the sandbox
   * whose bytes on disk are not those of their blob.
   */
  statOf(converted: ReadonlySet<string> | 'all'): StatOf {
    return ({ path, oid, mode }: IndexEntry) => {
      const file =
        converted === 'all' || converted.has(path) ? undefined : this.examined.get(`sandbox/${path}`);
      return file?.oid === oid &&
        file.stat !== undefined &&
        Number.parseInt(treeMode(Number(file.stat.mode)), 8) === mode
        ? file.stat
        : undefined;
    };
  }

  /** `digest`: of the index. `ignore`: as `rulesText` gives it. Nothing else may be in the folder. */
  async writeStatCache(
    file: string,
    commit: string,
    written: { readonly directories: Iterable<string>; readonly digest: string; readonly ignore: string },
  ): Promise<void> {
    const files = new CachedFilesBuilder(commit.length / 2, this.examined.size);
    let last = 0;
    for (const [path, { oid, stat }] of this.examined) {
      if (stat === undefined) return;
      const data = statData(stat);
      last = Math.max(last, data.ctimeMs);
      files.add(path, data, oid);
    }
    const clock = await clockAfter(last, this.folder);
    const directories = this.directories(written.directories, written.ignore);
    const index = { digest: written.digest, stat: '' };
    writeStatCache(file, { commit, clock, index, files: files.build(), directories });
  }

  private directories(paths: Iterable<string>, ignore: string) {
    const all = new Set([...TOP_FOLDERS, ...paths]);
    const { builder, excluded } = examineDirectories(this.folder, all, (path) => this.examined.has(path));
    const encoded = [...this.examined.keys()].filter((path) => encodePath(path) !== path);
    return builder.build(excluded, encoded, ignore);
  }
}

/**
 * git reads a file that was changed in the second in which the index was written, or later: its stat data may not show
 * another change. So a file of this second gets the one before.
 */
function examine(
  path: string | Buffer,
  kind: WrittenFile['kind'],
  now: number | undefined,
): BigIntStats | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || !(kind === 'link' ? stat.isSymbolicLink() : stat.isFile())) return undefined;
  if (now === undefined || secondsOf(stat.mtimeNs) < now) return stat;
  return setBack(path, stat, now);
}

/** As `lstat` gives it without big integers. */
function statData({ mtimeNs, ctimeNs, size, ino, mode }: BigIntStats): StatData {
  const time = (ns: bigint) => Number(secondsOf(ns)) * 1000 + Number(ns % 1_000_000_000n) / 1e6;
  return {
    mtimeMs: time(mtimeNs),
    ctimeMs: time(ctimeNs),
    size: Number(size),
    ino: Number(ino),
    mode: Number(mode),
  };
}
