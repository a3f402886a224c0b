/**
 * The sandbox's index: its raw bytes and a digest of its entries and flags. `git status` often rewrites the stat data in
 * an index; the digest ignores them. agt never locks the sandbox's index: git works on a copy.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../errors.ts';
import { summarizeIndex } from '../git/files/index-file.ts';
import { type Git, gitText } from '../git/run/git.ts';
import { withIndexCopy } from './index-copy.ts';
import type { StatCache } from './stat-cache/stat-cache.ts';

export interface StagedIndex {
  /** Undefined if its stat data show that it has not changed since the last scan. */
  readonly content: IndexContent | undefined;
  /** Empty if there is no index. */
  readonly digest: string;
  /** Its stat data for the stat cache. */
  readonly stat: string;
}

export interface IndexContent {
  readonly raw: Buffer;
  /** Whether it names objects that `git write-tree` leaves out. */
  readonly hasMoreThanTree: boolean;
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
    return { content: { raw: Buffer.alloc(0), hasMoreThanTree: false }, digest: '', stat };
  }
  let summary = summarizeIndex(raw, oidLength);
  if (summary.split) {
    raw = await joinSplitIndex(git, gitDir);
    summary = summarizeIndex(raw, oidLength);
  }
  const { digest, hasMoreThanTree } = summary;
  return { content: { raw, hasMoreThanTree }, digest, stat };
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
  return withIndexCopy(gitDir, readFileSync(join(gitDir, 'index')), async (copy) => {
    await gitText(git, ['update-index', '--no-split-index', '--force-write-index'], {
      env: { GIT_INDEX_FILE: copy },
    });
    return readFileSync(copy);
  });
}
