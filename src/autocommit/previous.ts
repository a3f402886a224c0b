/** What the last capture recorded: the tree, what the tree cannot say, and the cache of stat data if it can be used. */
import { join } from 'node:path';
import { type Git, gitAnswer, runGit } from '../git/git.ts';
import { parseIndex } from '../git/index-file.ts';
import type { CaptureTarget } from './capture.ts';
import type { CapturedManifest } from './captured-manifest.ts';
import type { Circumstances } from './circumstances.ts';
import { digestOf } from './index-state.ts';
import { readScanManifest, type ScanManifest } from './scan-manifest.ts';
import type { ScanTable } from './scan-table.ts';
import { readShadowTree, readStartTree, type TreeEntry } from './tree-state.ts';

export interface Previous {
  /** True where the tip is the start commit, whose tree is not a session folder. */
  readonly isFirst: boolean;
  /** Every file of the last state; of a cache, in the order of its rows. */
  readonly paths: readonly string[];
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
  at: Pick<Circumstances, 'tip' | 'tipTree'>,
): Promise<Previous> {
  const text = await gitAnswer(git, ['cat-file', 'blob', `${at.tip}:_/manifest.json`]);
  if (text === undefined) {
    const { cache, warnings } = readCache(target, at.tip);
    const first = { isFirst: true, index: undefined, manifest: undefined, warnings };
    if (cache !== undefined)
      return { ...first, ...inTable(cache.files), foreign: cache.foreign ?? [], cache };
    const { files, foreign } = await readStartTree(git, at.tipTree);
    return { ...first, ...inTree(files), foreign, cache };
  }
  const manifest = JSON.parse(text) as CapturedManifest;
  const { cache, warnings } = readCache(target, at.tip);
  const common = { isFirst: false, foreign: [], cache, manifest, warnings };
  if (cache !== undefined) return { ...common, ...inTable(cache.files), index: cache.index.digest };
  const { files } = await readShadowTree(git, at.tipTree);
  return { ...common, ...inTree(files), index: await capturedIndex(git, at.tip) };
}

function inTree(files: ReadonlyMap<string, TreeEntry>): Pick<Previous, 'paths' | 'find'> {
  return { paths: [...files.keys()], find: (path) => files.get(path) };
}

function inTable(table: ScanTable): Pick<Previous, 'paths' | 'find'> {
  return {
    paths: table.names,
    find: (path) => {
      const row = table.find(path);
      return row < 0 ? undefined : { mode: treeMode(table.mode(row)), oid: table.oid(row) };
    },
  };
}

function readCache(
  target: CaptureTarget,
  tip: string,
): { cache: ScanManifest | undefined; warnings: string[] } {
  try {
    const cache = readScanManifest(join(target.stateDir, 'scan', target.sessionId));
    return { cache: cache?.commit === tip ? cache : undefined, warnings: [] };
  } catch (error) {
    const reason = (error as Error).message;
    return {
      cache: undefined,
      warnings: [`the scan manifest could not be used (${reason}); every file was read`],
    };
  }
}

/** The mode that git gives a file or link with this st_mode. */
export function treeMode(mode: number): string {
  if ((mode & 0o170000) === 0o120000) return '120000';
  return mode & 0o100 ? '100755' : '100644';
}

async function capturedIndex(git: Git, tip: string): Promise<string | undefined> {
  const run = await runGit(git, ['cat-file', 'blob', `${tip}:_/index`]);
  return run.exitCode === 0 ? digestOf(parseIndex(run.stdout, tip.length / 2)) : '';
}
