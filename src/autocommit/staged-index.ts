/**
 * The sandbox's index: its raw bytes, a digest of its entries and flags, and the tree of what is staged. `git status`
 * often rewrites the stat data in an index; the digest ignores them. agt never locks the sandbox's index: git works on a
 * copy.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { errorCode } from '../errors.ts';
import { summarizeIndex } from '../git/files/index-file.ts';
import { FSYNC_ARGS, type Git, gitAnswer, gitText } from '../git/run/git.ts';
import type { StatCache } from './stat-cache/stat-cache.ts';

export interface StagedIndex {
  /** Undefined if its stat data show that it has not changed since the last scan. */
  readonly content: IndexContent | undefined;
  /** Empty if there is no index. */
  readonly digest: string;
  /** Its stat data for the stat cache. */
  readonly stat: string;
}

interface IndexContent {
  readonly raw: Buffer;
  /** Whether it has entries of a merge conflict. */
  readonly conflicted: boolean;
}

/** `git` runs in the sandbox; `gitDir` is the sandbox's own. `oidLength` is in bytes. */
export async function readStagedIndex(
  git: Git,
  gitDir: string,
  oidLength: number,
  cache: StatCache | undefined,
): Promise<StagedIndex> {
  const stat = statText(gitDir, cache?.clock);
  if (cache !== undefined && stat !== '' && stat === cache.index.stat) {
    return { content: undefined, digest: cache.index.digest, stat };
  }
  let raw: Buffer;
  try {
    raw = readFileSync(join(gitDir, 'index'));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return { content: { raw: Buffer.alloc(0), conflicted: false }, digest: '', stat };
  }
  let summary = summarizeIndex(raw, oidLength);
  if (summary.split) {
    raw = await joinSplitIndex(git, gitDir);
    summary = summarizeIndex(raw, oidLength);
  }
  const { digest, conflicted } = summary;
  return { content: { raw, conflicted }, digest, stat };
}

/** Empty if the file may have changed in the clock tick of the last scan: its stat data would not show it. */
function statText(gitDir: string, clock = 0): string {
  const stat = statSync(join(gitDir, 'index'), { throwIfNoEntry: false });
  if (stat === undefined) return 'none';
  const { mtimeMs, ctimeMs, size, ino } = stat;
  return clock !== 0 && ctimeMs >= clock ? '' : `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}

/** A split index keeps its entries in a shared file that git may remove. A snapshot needs them in one file. */
async function joinSplitIndex(git: Git, gitDir: string): Promise<Buffer> {
  return withCopy(gitDir, readFileSync(join(gitDir, 'index')), async (copy) => {
    await gitText(git, ['update-index', '--no-split-index', '--force-write-index'], {
      env: { GIT_INDEX_FILE: copy },
    });
    return readFileSync(copy);
  });
}

/** Writes the tree of what is staged. Undefined in a conflict, if an object is missing, or if the tree is empty. */
export async function writeStagedTree(
  git: Git,
  gitDir: string,
  { raw, conflicted }: IndexContent,
): Promise<string | undefined> {
  if (conflicted || raw.length === 0) return undefined;
  return withCopy(gitDir, raw, async (copy) => {
    const tree = await gitAnswer(git, [...FSYNC_ARGS, 'write-tree'], { env: { GIT_INDEX_FILE: copy } });
    return tree === undefined || (await isEmptyTree(git, tree)) ? undefined : tree;
  });
}

/** git-fsck refuses an empty tree inside another one. */
async function isEmptyTree(git: Git, tree: string): Promise<boolean> {
  return (await gitText(git, ['cat-file', '-s', tree])) === '0';
}

/** The copy is beside the original: git looks there for the shared part of a split index. */
async function withCopy<T>(gitDir: string, raw: Buffer, action: (copy: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(gitDir, `agt-index-${process.pid}-`));
  try {
    const copy = join(directory, 'index');
    writeFileSync(copy, raw);
    failurePoint('capture: index copied');
    return await action(copy);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
