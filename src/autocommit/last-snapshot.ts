/** What the last capture recorded: the tree, what the tree cannot say, and the cache of stat data if it can be used. */

import { summarizeIndex } from '../git/files/index-file.ts';
import { type Git, runGit } from '../git/run/git.ts';
import { statCacheFile } from '../repository/layout.ts';
import type { CapturedManifest } from '../snapshot/manifest.ts';
import { readSnapshotTree, readStartTree, type TreeEntry } from '../snapshot/tree.ts';
import type { CaptureTarget } from './request.ts';
import type { Circumstances } from './starting-refs.ts';
import { readScanManifest, type ScanManifest } from './stat-cache/scan-manifest.ts';
import type { ScanTable } from './stat-cache/scan-table.ts';

export interface Previous {
  /** True where the tip is the start commit, whose tree is not a session folder. */
  readonly isFirst: boolean;
  /** Every file of the last state, once; of a cache, in the order of its rows. */
  readonly paths: Iterable<string>;
  readonly isEmpty: boolean;
  readonly find: (path: string) => TreeEntry | undefined;
  /** Paths of the start tree that cannot stay as they are. */
  readonly foreign: readonly string[];
  /** Undefined: every file is read. */
  readonly cache: ScanManifest | undefined;
  /** Digest of the index that is captured; undefined where none is. */
  readonly index: string | undefined;
  readonly manifest: CapturedManifest | undefined;
  readonly warnings: readonly string[];
}

export async function readPrevious(
  git: Git,
  target: CaptureTarget,
  at: Pick<Circumstances, 'tip' | 'tipTree' | 'tipManifest'>,
  left: LeftManifest = readLeftManifest(target),
): Promise<Previous> {
  if (at.tipManifest === undefined) {
    const { cache, warnings } = cacheFor(left, at.tip);
    const first = { isFirst: true, index: undefined, manifest: undefined, warnings };
    if (cache !== undefined)
      return { ...first, ...inTable(cache.files), foreign: cache.foreign ?? [], cache };
    const { files, unstorable: foreign } = await readStartTree(git, at.tipTree);
    return { ...first, ...inTree(files), foreign, cache };
  }
  const manifest = JSON.parse(at.tipManifest) as CapturedManifest;
  const { cache, warnings } = cacheFor(left, at.tip);
  const common = { isFirst: false, foreign: [], cache, manifest, warnings };
  if (cache !== undefined) return { ...common, ...inTable(cache.files), index: cache.index.digest };
  const { files } = await readSnapshotTree(git, at.tipTree);
  return { ...common, ...inTree(files), index: await capturedIndex(git, at.tip) };
}

type Files = Pick<Previous, 'paths' | 'isEmpty' | 'find'>;

function inTree(files: ReadonlyMap<string, TreeEntry>): Files {
  return { paths: [...files.keys()], isEmpty: files.size === 0, find: (path) => files.get(path) };
}

function inTable(table: ScanTable): Files {
  return {
    paths: { [Symbol.iterator]: () => table.paths() },
    isEmpty: table.length === 0,
    find: (path) => {
      const row = table.find(path);
      return row < 0 ? undefined : { mode: treeMode(table.mode(row)), oid: table.oid(row) };
    },
  };
}

/** The scan manifest that the last capture left, or what is wrong with it. */
export interface LeftManifest {
  readonly manifest: ScanManifest | undefined;
  readonly problem?: string;
}

export function readLeftManifest(target: CaptureTarget): LeftManifest {
  try {
    return { manifest: readScanManifest(statCacheFile(target.agtDir, target.sessionId)) };
  } catch (error) {
    return { manifest: undefined, problem: (error as Error).message };
  }
}

function cacheFor(
  { manifest, problem }: LeftManifest,
  tip: string,
): { cache: ScanManifest | undefined; warnings: string[] } {
  if (problem === undefined) return { cache: manifest?.commit === tip ? manifest : undefined, warnings: [] };
  return {
    cache: undefined,
    warnings: [`the scan manifest could not be used (${problem}); every file was read`],
  };
}

/** The mode that git gives a file or link with this st_mode. */
export function treeMode(mode: number): string {
  if ((mode & 0o170000) === 0o120000) return '120000';
  return mode & 0o100 ? '100755' : '100644';
}

async function capturedIndex(git: Git, tip: string): Promise<string | undefined> {
  const run = await runGit(git, ['cat-file', 'blob', `${tip}:_/index`]);
  return run.exitCode === 0 ? summarizeIndex(run.stdout, tip.length / 2).digest : '';
}
