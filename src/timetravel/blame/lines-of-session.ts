/**
 * Which step of a session each line of a file comes from, by `git blame` in a history made for it: a commit for each
 * snapshot, with the files of the sandbox alone, on top of the commit that the session began at. Older lines are of nobody
 * here.
 */
import { commitOid, storeCommits } from '../../git/objects/commits.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import { type ScratchObjects, withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { once } from '../../once.ts';
import { isAttached } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { OWN } from '../../snapshot/format.ts';
import { emptyTree } from '../../snapshot/tree.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import type { AuthoredHistory, AuthoredStep } from '../turns.ts';
import { type HeadsOfSteps, readHeads } from './heads-of-steps.ts';
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
