/**
 * The sandbox's index: its raw bytes and a digest of its entries and flags. `git status` often rewrites the stat data in
 * an index; the digest ignores them. agt never locks the sandbox's index: git works on a copy.
 */
import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { readNoFollow } from '../disk/read-file.ts';
import { failureReason, isAgtError } from '../errors.ts';
import { INTENT_TO_ADD, parseIndex, type ResolvedEntry, summarizeIndex } from '../git/files/index-file.ts';
import { IN_INDEX } from '../git/modes.ts';
import { editIndex, type IndexEdit, withIndex } from '../git/objects/scratch-index.ts';
import { asLines, FSYNC_ARGS, type Git, gitAnswer, gitText } from '../git/run/git.ts';
import type { LastSnapshot } from './last-snapshot.ts';

export interface StagedIndex {
  /** Undefined if its stat data show that it has not changed since the last scan, or if it is damaged. */
  readonly content: IndexContent | undefined;
  /** Empty if there is no index. A damaged one has that of the last snapshot. */
  readonly digest: string;
  /** Its stat data for the stat cache. */
  readonly stat: string;
  readonly warnings: readonly string[];
}

export interface IndexContent {
  readonly raw: Buffer;
  /** Whether it names objects that `git write-tree` leaves out. */
  readonly hasMoreThanTree: boolean;
}

/** That of an attached folder without a repository: its snapshots keep the last one. */
export function noIndex({ indexDigest }: Pick<LastSnapshot, 'indexDigest'>): StagedIndex {
  return { content: undefined, digest: indexDigest ?? '', stat: '', warnings: [] };
}

/** `gitDir` is the worktree's own; `oidLength` is in bytes. A damaged index does not stop the capture. */
export async function readStagedIndex(
  git: Git,
  gitDir: string,
  oidLength: number,
  { cache, indexDigest }: Pick<LastSnapshot, 'cache' | 'indexDigest'>,
  copiesIn = gitDir,
): Promise<StagedIndex> {
  const file = join(gitDir, 'index');
  const stat = statText(file, cache?.clock);
  if (cache !== undefined && stat !== '' && stat === cache.index.stat)
    return { content: undefined, digest: cache.index.digest, stat, warnings: [] };
  try {
    return { ...(await readIndex(git, copiesIn, oidLength, file)), stat, warnings: [] };
  } catch (error) {
    const warning = `the index of the worktree ${damage(error)}; the snapshot has the last one`;
    return { ...noIndex({ indexDigest }), warnings: [warning] };
  }
}

async function readIndex(
  git: Git,
  copiesIn: string,
  oidLength: number,
  file: string,
): Promise<Pick<StagedIndex, 'content' | 'digest'>> {
  const found = readNoFollow(Buffer.from(file).toString('latin1'));
  if (found === undefined) return { content: { raw: Buffer.alloc(0), hasMoreThanTree: false }, digest: '' };
  if (found.length === 0) throw new SyntaxError('no bytes');
  const summary = summarizeIndex(found, oidLength);
  const raw = summary.split ? await joinSplitIndex(git, copiesIn, found) : found;
  const { digest, hasMoreThanTree } = summary.split ? summarizeIndex(raw, oidLength) : summary;
  return { content: { raw, hasMoreThanTree }, digest };
}

/** The fault of an index, in words. @throws every error that is not the fault of the file. */
function damage(error: unknown): string {
  const isGarbage = error instanceof SyntaxError || error instanceof RangeError;
  if (isGarbage) return 'is damaged';
  return isAgtError(error) ? error.message : failureReason('read', error);
}

/** Empty if the file may have changed in the clock tick of the last scan: its stat data would not show it. */
function statText(file: string, clock = 0): string {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 'none';
  const { mtimeMs, ctimeMs, size, ino } = stat;
  return clock !== 0 && ctimeMs >= clock ? '' : `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}

/** A split index keeps its entries in a shared file that git may remove. A snapshot needs them in one file. */
async function joinSplitIndex(git: Git, copiesIn: string, raw: Buffer): Promise<Buffer> {
  return withIndexCopy(copiesIn, raw, async (copy) => {
    await gitText(git, ['update-index', '--no-split-index', '--force-write-index'], {
      env: { GIT_INDEX_FILE: copy },
    });
    return readFileSync(copy);
  });
}

/** For git to work on, so that agt never locks the index itself. */
export async function withIndexCopy<T>(
  copiesIn: string,
  raw: Buffer,
  action: (copy: string) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(copiesIn, `agt-index-${process.pid}-`));
  try {
    const copy = join(directory, 'index');
    writeFileSync(copy, raw);
    failurePoint('capture: index copied');
    return await action(copy);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export interface StagedTrees {
  /** The tree of the index; undefined if nothing is staged. */
  readonly staged: string | undefined;
  /** Undefined if there is nothing but what is staged. Its directories are stages: `0` of an intent to add, `1` to `3`. */
  readonly stages: string | undefined;
}

export const NO_TREES: StagedTrees = { staged: undefined, stages: undefined };

/**
 * Writes trees that keep every object of the index reachable. `git write-tree` makes one of what is staged. It refuses an
 * index in conflict, and leaves out what `git add --intent-to-add` names and the conflicts that git could make again. A
 * second tree has those, by stage. `git` runs where it finds the repository; `gitDir` is the sandbox's own.
 */
export async function writeStagedTrees(
  git: Git,
  gitDir: string,
  { raw, hasMoreThanTree }: IndexContent,
  oidLength: number,
): Promise<StagedTrees> {
  if (raw.length === 0) return NO_TREES;
  return withIndexCopy(gitDir, raw, async (copy) => {
    const whole = hasMoreThanTree ? undefined : await writeTree(git, copy);
    if (whole !== undefined) return { staged: await unlessEmpty(git, whole), stages: undefined };
    const { leftOut, unstorable } = await sortEntries(git, raw, oidLength);
    await editIndex(
      withIndex(git, copy),
      Array.from(unstorable, (path): IndexEdit => [path, undefined]),
      2 * oidLength,
    );
    const others = `${copy}-of-stages`;
    const edits = leftOut.map(
      ({ mode, oid, stage, path }): IndexEdit => [`${stage}/${path}`, `${mode.toString(8)} ${oid}`],
    );
    await editIndex(withIndex(git, others), edits, 2 * oidLength);
    const staged = await writeTree(git, copy);
    const stages = leftOut.length === 0 ? undefined : await writeTree(git, others);
    return { staged: staged && (await unlessEmpty(git, staged)), stages };
  });
}

async function sortEntries(git: Git, raw: Buffer, oidLength: number) {
  const { entries, resolved } = parseIndex(raw, oidLength);
  const missing = await listMissing(git, [...entries, ...resolved]);
  const isIntent = ({ flags }: { flags: number }) => (flags & INTENT_TO_ADD) !== 0;
  const wanted = [...entries.filter((entry) => entry.stage > 0 || isIntent(entry)), ...resolved];
  return {
    /** Entries that `git write-tree` leaves out, as far as their objects exist. */
    leftOut: wanted.filter(({ oid, mode }) => !missing.has(oid) && mode !== IN_INDEX.directory),
    /** Paths for which `git write-tree` would refuse the index: in conflict, or without their object. */
    unstorable: new Set(
      entries.filter(({ stage, oid }) => stage > 0 || missing.has(oid)).map(({ path }) => path),
    ),
  };
}

async function listMissing(git: Git, entries: readonly ResolvedEntry[]): Promise<Set<string>> {
  const oids = new Set(entries.filter(({ mode }) => mode !== IN_INDEX.submodule).map(({ oid }) => oid));
  const words = ['cat-file', '--buffer', '--batch-check=ok'];
  const answers = await gitText(git, words, { input: asLines(oids) });
  return new Set(answers.split('\n').flatMap((line) => /^([0-9a-f]+) missing$/.exec(line)?.[1] ?? []));
}

/** Undefined if git cannot write it. */
function writeTree(git: Git, index: string): Promise<string | undefined> {
  return gitAnswer(git, [...FSYNC_ARGS, 'write-tree'], { env: { GIT_INDEX_FILE: index } });
}

/** git-fsck refuses an empty tree inside another one. */
async function unlessEmpty(git: Git, tree: string): Promise<string | undefined> {
  return (await gitText(git, ['cat-file', '-s', tree])) === '0' ? undefined : tree;
}
