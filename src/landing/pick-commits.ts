/** `--commits`: takes some commits of the agent onto the branch, or some steps that snapshots record, in memory. */
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import { shortBranch, shortOid } from '../git/files/ref-files.ts';
import { diffTrees } from '../git/objects/raw-diff.ts';
import { plainCommit } from '../git/objects/scratch-index.ts';
import { type Git, gitAnswer, gitLines, gitText, resolveObject } from '../git/run/git.ts';
import { acceptances } from '../session/landings.ts';
import { uncommittedPaths } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { findStartApart, landedSource, ownCommits, tipWithFamily } from '../survey/merged.ts';
import type { AcceptRequest, Landable, NewPlan } from './accept-request.ts';
import { refuseSessionFolders } from './export.ts';
import { conflictError, nothing } from './landing-errors.ts';
import { commitTree, copyCommit } from './make-commit.ts';
import { withTrailer } from './message.ts';
import { commitsTouching, isThere, ownOfMerges } from './session-commits.ts';
import { changesSince, ownChangesOf, treesOfStep } from './snapshot-step.ts';
import { untrackedAmong, untrackedToLeaveOut } from './untracked.ts';
import { mergeWithBase, type Sides, type Workbench } from './workbench.ts';

export async function pickCommits(
  session: Session,
  { target, bench, request, newer }: Landable,
): Promise<NewPlan> {
  const { record } = session;
  const { git } = bench;
  const head = await gitText(session.sandboxGit, ['rev-parse', '--verify', 'HEAD^{commit}']);
  /** What the session has from people. */
  const without = await findStartApart(session, git, head, target.from);
  const left = without === undefined ? [] : [without];
  const picks = await resolvePicks(session, request, target.onto, left);
  const commits = picks.filter((pick) => typeof pick === 'string');
  await refuseSessionFolders(session.git, commits);
  const { steps, untracked, leftOut, whole } = await stepsOf(session, picks, request);
  let tip = target.from;
  const before =
    (await landedSource(git, record, head, target)) ??
    without ??
    (await gitAnswer(git, ['merge-base', await tipWithFamily(session, git, head, target), head]));
  /** What the branch has of the sandbox, if agt can tell. */
  let source = before;
  const there: string[] = [];
  for (const pick of picks) {
    const { base, theirs } =
      typeof pick === 'string'
        ? { base: await resolveObject(git, `${pick}^`), theirs: pick }
        : await treesOfStep(session, bench, steps.get(pick) ?? []);
    const merged = await mergeWithBase(bench, { base, ours: tip, theirs });
    if (merged.conflicts !== undefined) {
      const merges = await ownOfMerges(bench, target.from, [head, '--not', target.from]);
      const solving = merges.find(({ conflicts }) => conflicts.length > 0);
      const ways = [EARLIER_STEPS, ...(solving ? [inMerge(solving.commit)] : [])];
      throw conflictError(record, target, merged.conflicts, ways);
    }
    if (source !== undefined) source = await withPick(bench, { base, ours: source, theirs }, before);
    const isEmpty = (await resolveObject(git, `${tip}^{tree}`)) === merged.tree;
    if (isEmpty) there.push(typeof pick === 'string' ? shortOid(pick) : titleOf(pick));
    else tip = await copyOf(git, session.id, pick, { tree: merged.tree, parents: [tip] });
  }
  if (tip === target.from)
    throw nothing(
      `these commits and steps change nothing in "${shortBranch(target.onto)}"`,
      `see what the session has: agt session log ${session.id} --stat, and: agt session diff ${session.id} --base`,
    );
  const tree = await gitText(git, ['rev-parse', `${tip}^{tree}`]);
  await request.refuseRejected?.(session, bench, { head, tree, from: target.from });
  const changes = await diffTrees(git, target.from, tip);
  const log = ['log', '--reverse', '--no-show-signature', '--no-mailmap', '--format=%B'];
  const message = await gitText(git, [...log, `${target.from}..${tip}`, '--']);
  const uncommitted = (await uncommittedPaths(session)).filter((path) => newer.has(path) || !whole.has(path));
  const notTaken = [...new Set([...leftOut, ...uncommitted])];
  const warnings = there.map((name) => `${name}: on ${shortBranch(target.onto)} before, and changes nothing`);
  const lacking = await diffTrees(git, source ?? tip, head);
  const others = await commitsTouching(git, { tip, head, without }, lacking);
  const known = await Promise.all(others.map(({ commit }) => isThere(git, commit, tip, tree)));
  const missing = new Set(lacking.map(({ path }) => path));
  const range = [head, '--not', tip, ...left];
  const merges = (await ownOfMerges(bench, tip, range)).filter(({ changes }) =>
    changes.some(({ path }) => missing.has(path)),
  );
  const apart = [...others.filter((_, i) => !known[i]), ...merges];
  const leftOutCommits = apart.filter(({ commit }) => !picks.includes(commit));
  const isAll = source !== undefined && lacking.length === 0;
  const commit = { tree, parents: [], message, commit: tip, source: isAll ? head : source };
  return { ...target, ...commit, changes, untracked, leftOut: notTaken, leftOutCommits, warnings };
}

/** Undefined where the pick does not fit without the others. No commit of the sandbox is below it: those have not landed. */
async function withPick(bench: Workbench, sides: Sides, before = '') {
  const { conflicts, tree } = await mergeWithBase(bench, sides);
  return conflicts === undefined ? plainCommit(bench.git, tree, [before]) : undefined;
}

const inMerge = (merge: string) =>
  `or the merge ${shortOid(merge)} solves it, which --commits leaves out: take all, without --commits or with --keep-commits`;
const EARLIER_STEPS = 'take also the earlier steps that changed these files, or all work: without --commits';

/** The changes of each step that is a snapshot. `whole`: readable paths that no snapshot after the step has changed. */
async function stepsOf(session: Session, picks: readonly Pick[], request: AcceptRequest) {
  const snapshots = picks.filter((pick) => typeof pick !== 'string');
  const found = await Promise.all(
    snapshots.map(async (step) => [step, await ownChangesOf(session, step)] as const),
  );
  const all = found.flatMap(([, changes]) => changes);
  const untracked = await untrackedAmong(session, all);
  const unwanted = await untrackedToLeaveOut(session, untracked, false, request);
  const steps = found.map(
    ([step, changes]) => [step, changes.filter(({ path }) => !unwanted.has(path))] as const,
  );
  const whole = new Set<string>();
  for (const [step, changes] of steps) {
    const later = new Set((await changesSince(session, step)).map(({ path }) => path));
    for (const { path } of changes) if (!later.has(path)) whole.add(displayPath(path));
  }
  return { steps: new Map(steps), untracked, leftOut: [...unwanted].map(displayPath), whole };
}

/** A commit of the agent, or a snapshot. */
type Pick = string | Snapshot;

/**
 * Names of commits, ranges such as `A..B`, and snapshots; a range in the order of its history, oldest first, without merges,
 * without the commits of `without`, and without those of the branch that the session has not made.
 */
async function resolvePicks(
  session: Session,
  { commits: list, now }: AcceptRequest,
  onto: string,
  without: readonly string[],
): Promise<Pick[]> {
  const sandbox = session.sandboxGit;
  const history = await session.history();
  const names: string[] = [];
  const isLabel = (text: string) => history.some(({ label }) => label === text.trim());
  const parts = list.flatMap((text) => (isLabel(text) ? [text] : text.split(',')));
  for (const part of parts.map((text) => text.trim()).filter((text) => text !== ''))
    names.push(...(await namesIn(sandbox, history, part)));
  const found: Pick[] = [];
  for (const name of names) {
    const isNumber = /^@(\{\d+\})?$/.test(name);
    const commits = isNumber ? undefined : await resolveCommits(session, name, onto, without);
    const snapshot =
      history.find(({ commit }) => commit === commits?.[0]) ??
      (commits === undefined ? await findStep(session, history, name, now) : undefined);
    found.push(...(snapshot === undefined ? (commits ?? []) : [snapshot]));
  }
  return [...new Set(found)];
}

/** A label and a prompt may have blanks; several commits are in one word of the shell, too. */
async function namesIn(git: Git, history: readonly Snapshot[], part: string): Promise<string[]> {
  const words = part.split(/\s+/);
  const isKnown = async (word: string) =>
    /^@|\.\./.test(word) ||
    history.some(({ call }) => call?.id === word) ||
    (await resolveObject(git, `${word}^{commit}`)) !== undefined;
  const known = await Promise.all(words.map(isKnown));
  return known.every(Boolean) ? words : [part];
}

/** Undefined if there is no such commit. */
async function resolveCommits(
  session: Session,
  name: string,
  onto: string,
  without: readonly string[],
): Promise<string[] | undefined> {
  const { record, sandboxGit: git } = session;
  const list = (...some: string[]) => gitLines(git, ['rev-list', '--reverse', '--topo-order', ...some, '--']);
  if (!name.includes('..')) {
    const isThere = (await resolveObject(git, `${name}^{commit}`)) !== undefined;
    return isThere ? list('--max-count=1', name) : undefined;
  }
  const range = ['--no-merges', name, '--not', ...without];
  const [all, open] = await Promise.all([list(...range), list(...range, onto)]);
  const own = all.length === open.length ? new Set() : await ownCommits(session);
  const landed = acceptances(record);
  return all.filter((one) => open.includes(one) || (own.has(one) && !landed.has(one)));
}

function findStep(session: Session, history: readonly Snapshot[], name: string, now: Date) {
  const { id, record } = session;
  return session.find(name, now, history).catch(() => {
    throw new AgtError(`no commit "${name}" in the sandbox, and no such snapshot`, {
      hints: [`see: agt session log ${id}, and: agt git log ${shortBranch(record.work_branch)}`],
    });
  });
}

/** A commit keeps its author, its date and its message. */
async function copyOf(
  git: Git,
  session: string,
  pick: Pick,
  content: Omit<Parameters<typeof commitTree>[1], 'message'>,
): Promise<string> {
  const withSession = (message: string) => withTrailer(git, message, session);
  if (typeof pick === 'string') return copyCommit(git, pick, content, withSession);
  return commitTree(git, { ...content, message: await withSession(titleOf(pick)) });
}

function titleOf({ label, call, tool, time }: Snapshot): string {
  return call?.summary ?? label ?? `${tool ?? 'Work'} of ${time.toISOString()}`;
}
