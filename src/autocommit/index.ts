/**
 * The sandbox's index: its raw bytes, a digest of what they mean, and the tree of what is staged. `git status` rewrites
 * the stat data of an index all the time; the digest leaves them out. The index in the sandbox is never locked: git
 * works on a copy.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { errorCode } from '../errors.ts';
import { summarizeIndex } from '../git/files/index-file.ts';
import { FSYNC_ARGS, type Git, gitAnswer, gitText } from '../git/run/git.ts';
import type { ScanManifest } from './stat-cache/scan-manifest.ts';

export interface IndexDigest {
  /** Undefined where its stat data say that it is the one that is known. */
  readonly content: { readonly raw: Buffer; readonly conflicted: boolean } | undefined;
  readonly digest: string;
  readonly stat: string;
}

/** `git` runs in the sandbox; `gitDir` is the sandbox's own. */
export async function readIndex(
  git: Git,
  gitDir: string,
  oidLength: number,
  cache: ScanManifest | undefined,
): Promise<IndexDigest> {
  const stat = statOf(gitDir, cache?.clock);
  if (cache !== undefined && stat !== '' && stat === cache.index.stat) {
    return { content: undefined, digest: cache.index.digest, stat };
  }
  let raw: Buffer;
  try {
    raw = readFileSync(join(gitDir, 'index'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT')
      return { content: { raw: Buffer.alloc(0), conflicted: false }, digest: '', stat };
    throw error;
  }
  let summary = summarizeIndex(raw, oidLength);
  if (summary.split) {
    raw = await joinSplit(git, gitDir);
    summary = summarizeIndex(raw, oidLength);
  }
  const { digest, conflicted } = summary;
  return { content: { raw, conflicted }, digest, stat };
}

/** Empty where it may have changed within the tick of the last scan, and so may look like one that it is not. */
function statOf(gitDir: string, clock = 0): string {
  const stat = statSync(join(gitDir, 'index'), { throwIfNoEntry: false });
  if (stat === undefined) return 'none';
  const { mtimeMs, ctimeMs, size, ino } = stat;
  return clock !== 0 && ctimeMs >= clock ? '' : `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}

/** A split index keeps its entries in a shared file, which git may remove; what is captured stands alone. */
async function joinSplit(git: Git, gitDir: string): Promise<Buffer> {
  const index = join(gitDir, 'index');
  return withCopy(gitDir, readFileSync(index), async (copy) => {
    await gitText(git, ['update-index', '--no-split-index', '--force-write-index'], {
      env: { GIT_INDEX_FILE: copy },
    });
    return readFileSync(copy);
  });
}

/** Object name of the tree of what is staged; undefined in a conflict, or where an object of it is missing. */
export async function stagedTree(
  git: Git,
  gitDir: string,
  { raw, conflicted }: { raw: Buffer; conflicted: boolean },
): Promise<string | undefined> {
  if (conflicted || raw.length === 0) return undefined;
  return withCopy(gitDir, raw, async (copy) => {
    const tree = await gitAnswer(git, [...FSYNC_ARGS, 'write-tree'], { env: { GIT_INDEX_FILE: copy } });
    return tree === undefined || (await isEmptyTree(git, tree)) ? undefined : tree;
  });
}

/** A tree without entries has no place inside another one. */
async function isEmptyTree(git: Git, tree: string): Promise<boolean> {
  return (await gitText(git, ['cat-file', '-s', tree])) === '0';
}

/** The copy lies beside the original, where the shared part of a split index is found. */
async function withCopy<T>(gitDir: string, raw: Buffer, action: (copy: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(gitDir, `agt-index-${process.pid}-`));
  try {
    const copy = join(dir, 'index');
    writeFileSync(copy, raw);
    failurePoint('capture: index copied');
    return await action(copy);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
