/**
 * All that a person has seen of a session, as one tree: it begins as the commit where the session left the user branch, and
 * each hunk that is marked goes into it. A commit under a ref of agt's has this tree, the one that it began as, and the
 * hunks that were rejected.
 */
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError, attempt } from '../errors.ts';
import { reviewRef } from '../filter/agent-refs.ts';
import { findObject, findObjects, readObject } from '../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees, entryOf } from '../git/objects/raw-diff.ts';
import { editTree, type IndexEdit, plainCommit, withIndex } from '../git/objects/scratch-index.ts';
import { FSYNC_ARGS, type Git, gitText, updateRefs } from '../git/run/git.ts';
import type { Content } from '../landing/accept-request.ts';
import { mergeWithBase, type Workbench } from '../landing/workbench.ts';
import type { LockedSession } from '../session/lock.ts';
import type { Session } from '../session/session.ts';
import { baseOfWork, withoutLanding } from '../survey/base-of-work.ts';
import { landedSource, mergedSource } from '../survey/merged.ts';
import { mergeVersions } from '../timetravel/restore/merge-versions.ts';
import { obstructed } from '../timetravel/restore/take-back.ts';

/** `now` and `end`: agt takes it back, at once or at the end of the agent's turn. `tell`: the agent hears of it. */
export type Way = 'now' | 'end' | 'tell';

export interface Rejection {
  /** The piece's. */
  readonly id: string;
  readonly path: string;
  /** Number of its first line, counted from 1. */
  readonly line: number;
  /** As in a patch. */
  readonly lines: readonly string[];
  readonly sentence: string;
  readonly way: Way;
  /** `gone`: the lines have left the session. */
  readonly state: 'pending' | 'told' | 'gone';
}

export interface ReviewState {
  /** Trees. */
  readonly base: string;
  readonly seen: string;
  /** The acceptance whose content is among what was seen: its source. */
  readonly landed?: string | undefined;
  /** The acceptance that the base has by a sync: its source. */
  readonly merged?: string | undefined;
  readonly rejected: readonly Rejection[];
}

/** For the trees that a review makes. */
export function indexIn({ git, dir }: Workbench): Git {
  return withIndex(git, join(dir, 'review-index'));
}

/** Undefined if nothing was marked yet. */
export async function readState({ git, id }: Session): Promise<ReviewState | undefined> {
  const commit = await findObject(git, reviewRef(id));
  return commit === undefined ? undefined : stateIn(git, commit, id);
}

/** @throws AgtError if the commit is damaged */
export async function stateIn(git: Git, commit: string, id: string): Promise<ReviewState> {
  const [base, seen] = await findObjects(git, [`${commit}:base`, `${commit}:seen`]);
  const text = (await readObject(git, `${commit}:marks`))?.content.toString();
  const marks: Pick<ReviewState, 'landed' | 'merged' | 'rejected'> | undefined = attempt(() =>
    JSON.parse(text ?? ''),
  );
  if (base !== undefined && seen !== undefined && marks !== undefined)
    return { base: base.oid, seen: seen.oid, ...marks };
  throw new AgtError(`the marks of agt review in session "${id}" are damaged`, {
    hints: [`forget them: agt review ${id} --reset`],
  });
}

/** Its objects are in the repository. The ref moves last, so a kill loses nothing that was marked before. */
export async function writeState({ git, id }: LockedSession, state: ReviewState): Promise<void> {
  const commit = await storeState(git, state);
  failurePoint('review: written');
  await updateRefs(git, [`update ${reviewRef(id)} ${commit}`]);
  failurePoint('review: marked');
}

/** Returns the commit. */
export async function storeState(git: Git, state: ReviewState): Promise<string> {
  const { base, seen, ...marks } = state;
  const input = JSON.stringify(marks);
  const blob = await gitText(git, [...FSYNC_ARGS, 'hash-object', '-w', '--stdin'], { input });
  const rows = [`040000 tree ${base}\tbase\n`, `100644 blob ${blob}\tmarks\n`, `040000 tree ${seen}\tseen\n`];
  const tree = await gitText(git, [...FSYNC_ARGS, 'mktree'], { input: rows.join('') });
  return plainCommit(git, tree, []);
}

export async function forgetState({ git, id }: LockedSession): Promise<void> {
  await updateRefs(git, [`delete ${reviewRef(id)}`]);
}

/** Trees: where the session left the user branch, and the content of the last acceptance. */
export interface Starts {
  /** With what the branch has got of the session by others. */
  readonly base: string;
  /** The branch has it, and the session has not taken it from there yet. */
  readonly source?: string | undefined;
  /** The base with that content. */
  readonly there: string;
  /** The session has taken it from the branch by a sync. */
  readonly merged?: string | undefined;
  /** The branch has reverted or dropped it, so that a person has to look at it again. */
  readonly off?: string | undefined;
}

/** `merge`: that of an acceptance; without it, one with the user branch. */
export async function readStarts(
  session: Session,
  bench: Workbench,
  { head, tree, whole = tree }: Content,
  merge?: { readonly base: string; readonly from: string },
): Promise<Starts> {
  const { git } = bench;
  const { landed, user_branch } = session.record;
  const from = merge?.from ?? user_branch;
  const treeIf = (commit: string | undefined) => commit && treeOf(bench, commit);
  const source = await treeIf(await landedSource(git, session.record, head));
  const merged = await treeIf(await mergedSource(git, session.record, head));
  // Work of the user that the session took along may be in the base of the merge.
  const base = source === undefined ? merge?.base : undefined;
  const begun = await treeOf(bench, base ?? (await baseOfWork(session, bench, whole)));
  const start = source ?? begun;
  const ends = from && { base: start, from, tree: await treeOf(bench, tree) };
  const there = (ends && (await withoutLanding(git, ends))) || start;
  return {
    base: await join3(bench, { base: start, ours: begun, theirs: there }),
    source,
    there,
    merged,
    off: (source ?? merged) === undefined ? await treeIf(landed?.source) : undefined,
  };
}

/** `name`: of a commit or of a tree. */
async function treeOf({ git }: Workbench, name: string): Promise<string> {
  return (await findObject(git, `${name}^{tree}`)) ?? '';
}

/** The marks as they are where a session starts now: a sync moves that. All that has landed counts as seen. */
export async function moveTo(bench: Workbench, state: ReviewState, starts: Starts): Promise<ReviewState> {
  const { base, source, there, off } = starts;
  let { base: before, seen, landed } = state;
  let merged = starts.merged ?? state.merged;
  if (landed !== undefined && landed === off) {
    seen = await join3(bench, { base: landed, ours: before, theirs: seen });
    landed = undefined;
    merged = undefined;
  }
  const take = async (content: string, from: string, to = content) => {
    seen = await join3(bench, { base: from, ours: to, theirs: seen });
    landed = content;
  };
  // What the branch has since changed of it was seen as well: from there the branch has come to the new base.
  if (before !== base && merged !== undefined && merged !== state.merged) {
    if (merged !== landed) await take(merged, before);
    before = merged;
  }
  if (before !== base) seen = await join3(bench, { base: before, ours: base, theirs: seen });
  if (source !== undefined && source !== landed) await take(source, base, there);
  return { ...state, base, seen, landed, merged };
}

/** Where both sides differ, ours counts. */
export async function join3(
  bench: Workbench,
  sides: Record<'base' | 'ours' | 'theirs', string>,
): Promise<string> {
  const { base, ours, theirs } = sides;
  if (ours === theirs || theirs === base) return ours;
  if (ours === base) return theirs;
  const merged = await mergeWithBase(bench, sides);
  if (merged.conflicts === undefined) return merged.tree;
  const { git, dir } = bench;
  const changes = (tree: string) => diffTrees(git, base, tree, { countLines: false });
  const changed = new Map((await changes(ours)).map(({ path, after }) => [path, after]));
  const versions = new Map<string, DiffEntry['before']>();
  for (const { path, before, after } of await changes(theirs)) {
    const here = { ours: changed.has(path) ? changed.get(path) : before, base: before, theirs: after };
    const { version } = await mergeVersions(git, bench, here, { onConflict: 'ours', name: 'review' });
    versions.set(path, version);
  }
  for (const path of await obstructed(git, { commit: ours }, versions)) versions.delete(path);
  const edits = [...versions].map(([path, version]): IndexEdit => [path, entryOf(version)]);
  return editTree(withIndex(git, join(dir, 'joined-index')), { tree: ours }, edits);
}
