/** The last snapshot: its files, its manifest, and the stat cache if it can be used. */
import { summarizeIndex } from '../git/files/index-file.ts';
import { treeMode } from '../git/modes.ts';
import type { Git } from '../git/run/git.ts';
import { statCacheFile } from '../layout.ts';
import { readCapturedIndex } from '../snapshot/format.ts';
import type { SnapshotManifest } from '../snapshot/manifest.ts';
import { readSnapshotTree, readStartTree, type TreeEntry } from '../snapshot/tree.ts';
import type { CaptureTarget } from './request.ts';
import type { RefsAtStart } from './starting-refs.ts';
import type { CachedFiles } from './stat-cache/cached-files.ts';
import { readStatCache, type StatCache } from './stat-cache/stat-cache.ts';

export interface LastSnapshot {
  /** Whether there is no snapshot yet: the tip is the start commit, whose tree is that of the sandbox alone. */
  readonly isFirst: boolean;
  /** Every file once. Paths are relative to the session folder, one byte per character. */
  readonly paths: Iterable<string>;
  readonly isEmpty: boolean;
  readonly find: (path: string) => TreeEntry | undefined;
  /** Paths of the start tree, under `sandbox/`, that a shadow commit cannot hold as they are. */
  readonly unstorable: readonly string[];
  /** Undefined: every file must be read. */
  readonly cache: StatCache | undefined;
  /** Digest of the captured index; undefined before the first snapshot. */
  readonly indexDigest: string | undefined;
  readonly manifest: SnapshotManifest | undefined;
  readonly warnings: readonly string[];
}

export async function readLastSnapshot(
  git: Git,
  target: CaptureTarget,
  refs: Pick<RefsAtStart, 'tip' | 'tipTree' | 'tipManifest'>,
  loaded: LoadedCache = loadStatCache(target),
): Promise<LastSnapshot> {
  const cache = loaded.cache?.commit === refs.tip ? loaded.cache : undefined;
  const warnings =
    loaded.problem === undefined
      ? []
      : [`the stat cache could not be used (${loaded.problem}); every file was read`];
  if (refs.tipManifest === undefined) {
    const first = { isFirst: true, cache, indexDigest: undefined, manifest: undefined, warnings };
    if (cache !== undefined)
      return { ...first, ...filesOfCache(cache.files), unstorable: cache.unstorable ?? [] };
    const { files, unstorable } = await readStartTree(git, refs.tipTree);
    return { ...first, ...filesOfTree(files), unstorable };
  }
  const manifest = JSON.parse(refs.tipManifest) as SnapshotManifest;
  const common = { isFirst: false, unstorable: [], cache, manifest, warnings };
  if (cache !== undefined)
    return { ...common, ...filesOfCache(cache.files), indexDigest: cache.index.digest };
  const files = await readSnapshotTree(git, refs.tipTree);
  return { ...common, ...filesOfTree(files), indexDigest: await digestOfCapturedIndex(git, refs.tip) };
}

type Files = Pick<LastSnapshot, 'paths' | 'isEmpty' | 'find'>;

function filesOfTree(files: ReadonlyMap<string, TreeEntry>): Files {
  return { paths: [...files.keys()], isEmpty: files.size === 0, find: (path) => files.get(path) };
}

function filesOfCache(files: CachedFiles): Files {
  return {
    paths: { [Symbol.iterator]: () => files.paths() },
    isEmpty: files.length === 0,
    find: (path) => {
      const row = files.find(path);
      return row < 0 ? undefined : { mode: treeMode(files.mode(row)), oid: files.oid(row) };
    },
  };
}

export interface LoadedCache {
  /** It may belong to any commit. */
  readonly cache: StatCache | undefined;
  /** Why there is none, although there is a file. */
  readonly problem?: string;
}

export function loadStatCache({ agtDir, sessionId }: CaptureTarget): LoadedCache {
  try {
    return { cache: readStatCache(statCacheFile(agtDir, sessionId)) };
  } catch (error) {
    return { cache: undefined, problem: (error as Error).message };
  }
}

/** Empty if the snapshot has none. */
export async function digestOfCapturedIndex(git: Git, commit: string): Promise<string> {
  const index = await readCapturedIndex(git, commit);
  return index === undefined ? '' : summarizeIndex(index.content, commit.length / 2).digest;
}
