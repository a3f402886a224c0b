/**
 * A session folder that agt has just written whole, in a fork or in the restore of a removed session. Nobody works there
 * yet, so agt knows what is in every file: git's index and the stat cache need not read any.
 */
import { type BigIntStats, lstatSync, rmSync } from 'node:fs';
import { rulesText } from '../autocommit/scan/scan-options.ts';
import { examineDirectories } from '../autocommit/stat-cache/cached-directories.ts';
import { CachedFilesBuilder, type StatData } from '../autocommit/stat-cache/cached-files.ts';
import { listConverted } from '../autocommit/stat-cache/converted.ts';
import { writeStatCache } from '../autocommit/stat-cache/stat-cache.ts';
import type { CheckoutPlan, FileToWrite } from '../checkout/plan.ts';
import { readIndex, requireGitDir } from '../checkout/sandbox-git-dir.ts';
import { clockAfter, readFileClock } from '../disk/file-clock.ts';
import { isAscii, systemPath } from '../disk/long-path.ts';
import { type IndexEntry, summarizeIndex } from '../git/files/index-file.ts';
import { type StatOf, secondsOf, setBack } from '../git/files/index-stat.ts';
import { treeMode } from '../git/modes.ts';
import type { GitConfig } from '../git/run/config.ts';
import { statCacheFile } from '../layout.ts';
import type { Session } from '../session/session.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { readIgnoreFile } from '../snapshot/ignore-file.ts';
import { encodePath } from '../snapshot/tree-names.ts';

export interface WrittenFolder {
  /** For the index of the snapshot. */
  readonly statOf: StatOf;
  /** Makes the stat cache of the session, once the index is there. `commit`: the snapshot. */
  readonly seed: (commit: string) => Promise<void>;
}

interface WrittenOptions {
  /** Whether agt has given a file the mtime of another one, which is to stay. */
  readonly hasTime?: (path: string) => boolean;
  /** git's configuration in the sandbox, if the caller has read it. */
  readonly config?: GitConfig | undefined;
}

/** If anything is unexpected, git and the next capture read the files. */
export async function examineWritten(
  session: Session,
  plan: CheckoutPlan,
  { hasTime = () => false, config }: WrittenOptions = {},
): Promise<WrittenFolder> {
  try {
    const examined = examineFiles(session.folder, plan.writes, hasTime);
    const inSandbox = plan.writes.flatMap(({ path }) =>
      path.startsWith('sandbox/') ? [path.slice('sandbox/'.length)] : [],
    );
    const { sandboxGit, repository } = session;
    const converted = await listConverted(sandboxGit, repository.commonDir, inSandbox, config);
    return {
      statOf: statOfExamined(examined, converted),
      seed: (commit) => seed(session, plan, examined, commit),
    };
  } catch {
    return { statOf: () => undefined, seed: async () => undefined };
  }
}

async function seed(
  { repository, record, folder }: Session,
  plan: CheckoutPlan,
  examined: Examined,
  commit: string,
): Promise<void> {
  if (plan.blocked.length > 0) return; // the snapshot has files that are not on disk
  const file = statCacheFile(repository.agtDir, record.session_id);
  try {
    const ignore = rulesText({ ignore: readIgnoreFile(folder), ignored: undefined });
    const bytes = readIndex(requireGitDir(record.sandbox));
    const digest = bytes === undefined ? '' : summarizeIndex(bytes, commit.length / 2).digest;
    const files = new CachedFilesBuilder(commit.length / 2, examined.size);
    let last = 0;
    for (const [path, { oid, stat }] of examined) {
      if (stat === undefined) return;
      const data = statData(stat);
      last = Math.max(last, data.ctimeMs);
      files.add(path, data, oid);
    }
    const clock = await clockAfter(last, folder);
    const all = new Set([...TOP_FOLDERS, ...plan.directories.keys()]);
    const { builder, excluded } = examineDirectories(folder, all, (path) => examined.has(path));
    const encoded = [...examined.keys()].filter((path) => encodePath(path) !== path);
    const directories = builder.build(excluded, encoded, ignore);
    const index = { digest, stat: '' };
    writeStatCache(file, { commit, clock, index, files: files.build(), directories });
  } catch {
    rmSync(file, { force: true });
  }
}

/** By path. `stat` is undefined if the file is not there any more, or something else. */
type Examined = ReadonlyMap<string, { readonly oid: string; readonly stat: BigIntStats | undefined }>;

/** `folder` is absolute. */
export function examineFiles(
  folder: string,
  files: readonly Pick<FileToWrite, 'path' | 'oid' | 'kind'>[],
  hasTime: (path: string) => boolean,
): Examined {
  const root = Buffer.from(folder).toString('latin1');
  const rootIsAscii = isAscii(root);
  const now = Math.floor(readFileClock(folder) / 1000);
  return new Map(
    files.map(({ path, oid, kind }) => {
      const absolute = systemPath(`${root}/${path}`, rootIsAscii && isAscii(path));
      return [path, { oid, stat: examine(absolute, kind, hasTime(path) ? undefined : now) }];
    }),
  );
}

/** For entries whose file has their content. `converted`: paths with other bytes on disk than in the blob. */
export function statOfExamined(examined: Examined, converted: ReadonlySet<string> | 'all'): StatOf {
  return ({ path, oid, mode }: IndexEntry) => {
    if (converted === 'all' || converted.has(path)) return undefined;
    const file = examined.get(`sandbox/${path}`);
    if (file?.stat === undefined || file.oid !== oid) return undefined;
    return Number.parseInt(treeMode(Number(file.stat.mode)), 8) === mode ? file.stat : undefined;
  };
}

/**
 * git reads a file that was changed in the second in which the index was written, or later: its stat data may not show
 * another change. So a file of this second gets the one before.
 */
function examine(
  path: string | Buffer,
  kind: FileToWrite['kind'],
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
