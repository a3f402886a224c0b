/**
 * Which step of a session each line of a file comes from, by `git blame` in a history made for it: a commit for each
 * snapshot, with the files of the sandbox alone, on top of the commit that the session began at. Older lines are of nobody
 * here.
 */
import { commitOid, storeCommits } from '../../git/objects/commits.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import { type ScratchObjects, withScratchObjects } from '../../git/objects/scratch-objects.ts';
import type { Git } from '../../git/run/git.ts';
import { once } from '../../once.ts';
import { isAttached } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { OWN } from '../../snapshot/format.ts';
import { emptyTree } from '../../snapshot/tree.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import type { AuthoredHistory, AuthoredStep } from '../turns.ts';
import { readParents } from './first-reach.ts';
import { commitOnTop, commitWith, type IsBeside } from './made-commits.ts';
import { type BlamedLine, forOwnBlame, gitBlame } from './porcelain.ts';

export interface FileOfSession {
  /** In the sandbox; one byte per character. */
  readonly path: string;
  /** As on disk; undefined for the content of the last snapshot. */
  readonly content: Buffer | undefined;
  /** The steps, counted from 0, that the content may have lines of; without it the last one, which has all before. */
  readonly after?: readonly number[];
  /** Options of `git blame` that change where a line comes from: -w, -M, -C. */
  readonly options?: readonly string[];
  /** Of the files that are there with the content. */
  readonly beside?: () => Promise<IsBeside>;
}

export interface LineOfSession {
  readonly step: AuthoredStep | undefined;
  /** In a commit of the branch that came into the session; undefined for a line of a step, or from before all of them. */
  readonly landed: BlamedLine | undefined;
}

/** The commits of HEAD and of the branch that a sync takes from. No snapshot may know them yet. */
export interface Place {
  readonly head: string | undefined;
  readonly branch: string | undefined;
}

/** By line, counted from 0. */
export type StepsOfLines = (file: FileOfSession) => Promise<LineOfSession[]>;

/** `action` may ask for many files: the history is made once, with the first of them. */
export async function withStepsOfLines<T>(
  session: Session,
  history: AuthoredHistory,
  action: (stepsOfLines: StepsOfLines) => Promise<T>,
  now?: Place,
): Promise<T> {
  const [first] = history.steps;
  if (first === undefined) return action(async () => []);
  const start = isAttached(session.record) ? undefined : first.snapshot.parents[0];
  return withScratchObjects(session.repository, async (scratch) => {
    const commits = once(async () => {
      const { git } = scratch;
      const none = { dropped: () => [], arrived: [] };
      const heads = start === undefined ? none : await readHeads(git, history, { head: now?.head, start });
      const all = await commitsFor(scratch, history, start, heads);
      return { ...all, dropped: heads.dropped(now?.head) };
    });
    return action(async ({ path, content, after = [history.steps.length - 1], options = [], beside }) => {
      const { made, sides, dropped } = await commits();
      const stepOf = new Map(made.map((commit, i) => [commit, history.steps[i]]));
      const name = encodePath(path);
      const parents = [...after, ...dropped].flatMap((step) => made[step] ?? []);
      parents.push(...after.flatMap((step) => sides[step] ?? []));
      if (now?.branch !== undefined) parents.push(now.branch);
      const tip =
        content === undefined ? made.at(-1) : await commitOnTop(scratch, parents, name, content, beside);
      if (tip === undefined) return [];
      const range = [tip, ...(start === undefined ? [] : [`^${start}`])];
      const blamed = await gitBlame(forOwnBlame(scratch.git), [...options, ...range], name);
      return blamed.map((line) => {
        const step = stepOf.get(line.commit);
        const isOlder = step !== undefined || line.commit === tip || line.details.has('boundary');
        return { step, landed: isOlder ? undefined : line };
      });
    });
  });
}

/**
 * One for each step. Lines that a restore has brought back are as old as in the snapshot that they come from; so are those
 * of files that are as before again without an agent's doing, as after git stash and git stash pop; those of commits that a
 * rebase has dropped; those of commits that a sync or an agent's own merge has brought; and those of both sides of a conflict.
 *
 * `sides`: for each step with a conflict, other commits that the content after it may have lines of.
 */
async function commitsFor(
  { git }: ScratchObjects,
  { steps }: AuthoredHistory,
  start: string | undefined,
  heads: HeadsOfSteps,
): Promise<{ readonly made: readonly string[]; readonly sides: readonly (readonly string[])[] }> {
  const snapshots = steps.map(({ snapshot }) => snapshot);
  const names = snapshots.map(({ commit }) => `${commit}:sandbox`);
  const trees = (await findObjects(git, names)).map((object) => object?.oid);
  const ofConflicts = snapshots.map(({ commit }) => `${commit}:${OWN.stages}`);
  const stages = (await findObjects(git, ofConflicts)).map((object) => object?.oid);
  const empty = trees.includes(undefined) ? await emptyTree(git) : '';
  const made = new Map<string, string>();
  const sides: (readonly string[])[] = [];
  const contents: Buffer[] = [];
  let [before, seconds] = [start, 0];
  const byTree = new Map<string, string>();
  for (const [i, snapshot] of snapshots.entries()) {
    const { commit, restored, unfinished, undone, time, head } = snapshot;
    const [, branch] = snapshot.parents;
    const tree = trees[i] ?? empty;
    const from = [restored, unfinished, ...undone].map((one) => one && made.get(one));
    const sidesBefore = sides.at(-1) ?? [];
    from.push(...sidesBefore);
    if (steps[i]?.author === 'agent') from.push(...(heads.arrived[i] ?? []));
    else {
      const dropped = head === snapshots[i - 1]?.head ? [] : heads.dropped(head);
      from.push(byTree.get(tree), ...dropped.map((step) => made.get(snapshots[step]?.commit ?? '')));
      if (start !== undefined) from.push(branch);
    }
    const parents = new Set([before, ...from].filter((one) => one !== undefined));
    const both = [before, start && branch].filter((one) => one !== undefined);
    // git keeps the stages of a conflict for some time after the commit that ends it.
    const isSame = stages[i] === stages[i - 1];
    const goesOn = sidesBefore.length > 0 && !(isSame && head !== snapshots[i - 1]?.head);
    sides.push(goesOn ? sidesBefore : isSame || stages[i] === undefined ? [] : both);
    seconds = Math.max(seconds, Math.floor(time.getTime() / 1000));
    const content = commitWith(tree, [...parents], seconds, commit);
    before = commitOid(content, commit);
    made.set(commit, before);
    byTree.set(tree, before);
    contents.push(content);
  }
  await storeCommits(git, contents, snapshots[0]?.commit ?? '');
  return { made: snapshots.map(({ commit }) => made.get(commit) ?? ''), sides };
}

/** Commits that HEAD left and got in the steps of a session. */
interface HeadsOfSteps {
  /**
   * The first step, counted from 0, at each of the commits that this HEAD no longer has below it: lines of their steps may
   * come back with it.
   */
  readonly dropped: (head: string | undefined) => readonly number[];
  /** The newest commits of the user branch that each step brought, as an agent's own merge or rebase does. */
  readonly arrived: readonly (readonly string[])[];
}

/** `head`: one that no step may know yet. `start`: the commit that the session began at. */
async function readHeads(
  git: Git,
  { steps }: AuthoredHistory,
  { head, start }: { readonly head: string | undefined; readonly start: string },
): Promise<HeadsOfSteps> {
  const first = new Map<string, number>();
  for (const [i, { snapshot }] of steps.entries())
    if (snapshot.head !== undefined && !first.has(snapshot.head)) first.set(snapshot.head, i);
  first.delete(start);
  const heads = new Set([...first.keys(), ...(head === undefined ? [] : [head])]);
  if (heads.size === 0) return { dropped: () => [], arrived: [] };
  const branches = new Set(steps.flatMap(({ snapshot }) => snapshot.parents[1] ?? []));
  const ends = [...heads, ...branches, `^${start}`];
  // Without a part of the history, only these lines are missed.
  const parentsOf = await readParents(git, ends).catch(() => new Map<string, string[]>());
  const belowOf = (tip: string | undefined) => {
    const below = new Set(tip === undefined ? [] : [tip]);
    for (const commit of below) for (const parent of parentsOf.get(commit) ?? []) below.add(parent);
    return below;
  };
  const known = new Set<string>();
  const arrived = steps.map(({ snapshot }, i) => {
    if (snapshot.head === steps[i - 1]?.snapshot.head) return [];
    const added = [...belowOf(snapshot.head)].filter((one) => parentsOf.has(one) && !known.has(one));
    for (const commit of added) known.add(commit);
    const onBranch = added.length === 0 ? known : belowOf(snapshot.parents[1]);
    const others = added.filter((one) => onBranch.has(one));
    const inOthers = new Set(others.flatMap((commit) => parentsOf.get(commit) ?? []));
    return others.filter((commit) => !inOthers.has(commit));
  });
  const dropped = (head: string | undefined) => {
    const below = belowOf(head);
    return [...first].filter(([one]) => !below.has(one)).map(([, step]) => step);
  };
  return { dropped, arrived };
}
