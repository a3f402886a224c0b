/**
 * Trees that keep every object of the sandbox's index reachable. `git write-tree` makes one of what is staged. It refuses
 * an index in conflict, and leaves out what `git add --intent-to-add` names and the conflicts that git could make again.
 * A second tree has those, by stage.
 */
import { INTENT_TO_ADD, parseIndex, type ResolvedEntry } from '../git/files/index-file.ts';
import { IN_INDEX } from '../git/modes.ts';
import { editIndex, type IndexEdit, withIndex } from '../git/objects/scratch-index.ts';
import { FSYNC_ARGS, type Git, gitAnswer, gitText } from '../git/run/git.ts';
import { type IndexContent, withIndexCopy } from './staged-index.ts';

export interface StagedTrees {
  /** The tree of the index; undefined if nothing is staged. */
  readonly staged: string | undefined;
  /** Undefined if there is nothing but what is staged. Its directories are stages: `0` of an intent to add, `1` to `3`. */
  readonly stages: string | undefined;
}

export const NO_TREES: StagedTrees = { staged: undefined, stages: undefined };

/** `git` runs where it finds the repository; `gitDir` is the sandbox's own. `oidLength` is in bytes. */
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

interface SortedEntries {
  /** Entries that `git write-tree` leaves out, as far as their objects exist. */
  readonly leftOut: ResolvedEntry[];
  /** Paths for which `git write-tree` would refuse the index: in conflict, or without their object. */
  readonly unstorable: Set<string>;
}

async function sortEntries(git: Git, raw: Buffer, oidLength: number): Promise<SortedEntries> {
  const { entries, resolved } = parseIndex(raw, oidLength);
  const missing = await listMissing(git, [...entries, ...resolved]);
  const isIntent = ({ flags }: { flags: number }) => (flags & INTENT_TO_ADD) !== 0;
  const wanted = [...entries.filter((entry) => entry.stage > 0 || isIntent(entry)), ...resolved];
  return {
    leftOut: wanted.filter(({ oid, mode }) => !missing.has(oid) && mode !== IN_INDEX.directory),
    unstorable: new Set(
      entries.filter(({ stage, oid }) => stage > 0 || missing.has(oid)).map(({ path }) => path),
    ),
  };
}

async function listMissing(git: Git, entries: readonly ResolvedEntry[]): Promise<Set<string>> {
  const oids = new Set(entries.filter(({ mode }) => mode !== IN_INDEX.submodule).map(({ oid }) => oid));
  const input = [...oids].map((oid) => `${oid}\n`).join('');
  const answers = await gitText(git, ['cat-file', '--buffer', '--batch-check=ok'], { input });
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
