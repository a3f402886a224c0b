/** Branches that have been moved or deleted, and are still so. */
import { capturedRefs, differing, readGitState, refsIn } from '../folders/git-state/read-state.ts';
import { LINK } from '../folders/git-state/ref-plan.ts';
import { HEADS, shortBranch, shortOid } from '../git/files/ref-files.ts';
import { listWorktrees } from '../git/files/worktree-registrations.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import {
  type Git,
  gitAnswer,
  inDirectory,
  inOtherRepository,
  isAncestor,
  resolveObject,
} from '../git/run/git.ts';
import { userDirectory } from '../process/invocation.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { isAttached } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { OWN } from '../snapshot/format.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { readSnapshotMetadata } from '../snapshot/manifest.ts';
import { findForms } from '../survey/forms.ts';
import { acceptancesHere } from './restore/acceptances.ts';
import { movedRefs, refsOf } from './restore/git-dir-of-session.ts';
import { authorsOf, isMove, lineOf, type TurnSteps } from './turns.ts';

interface Moved {
  /** A full name. */
  readonly ref: string;
  /** For one that is deleted, the last commit that it had. */
  readonly from: string;
  /** Undefined: it is deleted. */
  readonly to: string | undefined;
}

export interface MovedBranch extends Moved {
  /** The newest call that moved it. */
  readonly snapshot: Snapshot;
  /** If somebody has made commits on top since: those that the branch lacks. */
  readonly lacks?: readonly string[] | undefined;
  /** Another repository is in the folder now, and has not that commit. */
  readonly isReplaced?: true;
}

/** The newest turn that moved it, and where it was before that turn and before the last call. */
interface Newest {
  readonly turn: TurnSteps | undefined;
  readonly start: string;
  readonly last: string;
}

/**
 * By calls of agents in an attached folder. Commits on the branch that is checked out, or was, are no such move: every agent
 * makes them. `history`: newest first.
 */
export async function movedBranches(
  session: Session,
  history: readonly Snapshot[],
  since: Date,
): Promise<MovedBranch[]> {
  const { git, record, repository } = session;
  const folder = record.checkout ?? record.sandbox;
  const state = isAttached(record) ? await readGitState(repository, folder) : undefined;
  if (state === undefined) return [];
  const now = refsIn(state);
  const user = inOtherRepository(git, folder);
  const names = history.map(({ commit }) => `${commit}:${OWN.gitDir}`);
  const parts = await findObjects(git, names);
  const moved = new Map<string, MovedBranch & Newest & Record<'isBelow' | 'wasHead', boolean>>();
  const others = new Set<string>();
  const accepted = landedCommits(session);
  const steps = authorsOf(history.toReversed(), true).steps.toReversed();
  const standing = lineOf(new Map(history.map((one) => [one.commit, one])), history[0]?.commit);
  for (const [i, { snapshot, author, turn }] of steps.entries()) {
    if (snapshot.time < since || snapshot.previous === undefined) break;
    if (parts[i]?.oid === parts[i + 1]?.oid) continue;
    // An undo takes back the calls of agents, and a redo brings them again.
    if (isMove(snapshot) || (author === 'agent' && !standing.has(snapshot))) continue;
    const before = await capturedRefs(git, snapshot.previous);
    const after = await capturedRefs(git, snapshot.commit);
    if (before === undefined || after === undefined) continue;
    for (const ref of differing(before, after).filter((name) => name.startsWith(HEADS))) {
      if (accepted.has(after.get(ref)) && (await isOnTop(user, before.get(ref), after.get(ref)))) continue;
      const to = now.get(ref);
      const from = (to === undefined ? moved.get(ref)?.from : undefined) ?? before.get(ref);
      if (others.has(ref)) continue;
      const isFirst = !moved.has(ref);
      if (author !== 'agent') {
        if (!isFirst || !(await isOnTop(user, before.get(ref), after.get(ref)))) others.add(ref);
        continue;
      }
      if (isFirst && !(await isOnTop(user, after.get(ref), to))) others.add(ref);
      else if (from === undefined) moved.delete(ref);
      else {
        const start = before.get(ref) ?? from;
        const wasHead = before.get('HEAD') === `ref: ${ref}` && moved.get(ref)?.wasHead !== false;
        const isBelow = after.get(ref) !== to;
        const named = { ...snapshot, agent: snapshot.agent ?? turn?.agent };
        const known = { snapshot: named, turn, start, last: start, isBelow, ...moved.get(ref) };
        moved.set(ref, { ...known, ...(known.turn === turn && { start }), wasHead, ref, from, to });
      }
    }
  }
  const isOfHead = ({ ref }: MovedBranch) => now.get('HEAD') === `ref: ${ref}`;
  const found: MovedBranch[] = [];
  for (const { isBelow, start, last, wasHead, ...move } of moved.values()) {
    const isHead = wasHead || isOfHead(move);
    const isThere = async (from: string) => (isHead ? isOnTop(user, from, move.to) : from === move.to);
    const from = (await isThere(move.from)) ? start : move.from;
    if (await isThere(from)) continue;
    // The agent may have committed before its last move.
    const one = { ...move, from: isOfHead(move) && (await isOnTop(user, from, last)) ? last : from };
    const lacks = isBelow || from !== move.from ? await commitsLacking(user, one) : undefined;
    if (lacks?.length !== 0) found.push({ ...one, lacks: isBelow ? lacks : undefined });
  }
  const commits = found.map(({ from }) => from);
  const known = await findObjects(user, commits);
  const firstGone = known.indexOf(undefined);
  return found.flatMap((one, i): MovedBranch[] => {
    if (known[i] !== undefined) return [one];
    return i === firstGone ? [{ ...one, isReplaced: true }] : [];
  });
}

/** An acceptance has moved the branch there, also while an agent was in a call. */
function landedCommits(session: Session): ReadonlySet<string | undefined> {
  return new Set(acceptancesHere(session).map(({ commit }) => commit));
}

/** None that the branch has in another form, such as by an amend. */
async function commitsLacking(user: Git, { ref, from, to = '' }: Moved): Promise<string[]> {
  const words = ['rev-list', '--cherry-pick', '--right-only', '--reverse', `${to}...${from}`, '--'];
  const open = ((await gitAnswer(user, words)) ?? from).split('\n').filter(Boolean);
  const asked = open.map((commit) => ({ commit, from, onto: ref }));
  const forms = findForms(user, to, asked);
  return open.filter((commit) => !forms.has(commit));
}

/** By the spans, newest first, HEAD too. To take their files back leaves these. `hasMore`: commits came on top since. */
export async function branchesLeft(session: Session, tip: Snapshot, spans: readonly Snapshot[]) {
  const { git, record } = session;
  const refsAt = async (commit: string) =>
    isAttached(record)
      ? ((await capturedRefs(git, commit)) ?? new Map())
      : refsOf(session, await readSnapshotMetadata(git, commit));
  const accepted = landedCommits(session);
  const first = new Map<string, { readonly from: string; readonly last: string | undefined }>();
  for (const { previous, commit, parents } of spans) {
    const start = { HEAD: `${LINK}${record.work_branch}`, [record.work_branch]: parents[0] ?? '' };
    const known = isAttached(record) ? [] : Object.entries(start);
    const before = previous === undefined ? new Map(known) : await refsAt(previous);
    for (const { ref, from, to } of movedRefs(session, before, await refsAt(commit)))
      if (from !== undefined && (ref === 'HEAD' || ref.startsWith(HEADS)) && !accepted.has(to))
        first.set(ref, { last: to, ...first.get(ref), from });
  }
  const user = inOtherRepository(git, record.checkout ?? record.sandbox);
  const found = [...first].map(async ([ref, { from, last }]) => {
    const isHead = ref === 'HEAD';
    const to = isHead ? (await refsAt(tip.commit)).get(ref) : await resolveObject(user, ref);
    const isThere = to === last || (!isHead && (await isOnTop(user, last, to)));
    return from === to || !isThere ? [] : [{ ref, from, to, hasMore: to !== last }];
  });
  // git switches to a branch that is there.
  const isHead = ({ ref }: { readonly ref: string }) => Number(ref === 'HEAD');
  return (await Promise.all(found)).flat().toSorted((a, b) => isHead(a) - isHead(b));
}

async function isOnTop(git: Git, from: string | undefined, to: string | undefined): Promise<boolean> {
  return from === to || (from !== undefined && to !== undefined && (await isAncestor(git, from, to)));
}

/** The command that brings it back. `keep`: the files are to change with it. */
export async function commandToMoveBack(
  { record, git }: Session,
  { ref, from, to, lacks }: Moved & Pick<MovedBranch, 'lacks'>,
  keep = true,
) {
  const folder = record.checkout ?? record.sandbox;
  const [name, oid] = [shellQuote(shortBranch(ref)), shortOid(from)];
  const gitIn = (path: string) =>
    `${userDirectory()}/`.startsWith(`${path}/`) ? 'git' : `git -C ${shellQuote(path)}`;
  if (ref === 'HEAD') {
    const branch = from.startsWith(LINK) && shellQuote(shortBranch(from.slice(LINK.length)));
    return `${gitIn(folder)} switch ${branch || `--detach ${oid}`}`;
  }
  if (to === undefined) return `git branch ${name} ${oid}`;
  const user = (await listWorktrees(inDirectory(git, folder))).find(({ branch }) => branch === ref);
  if (user === undefined) return lacks ? `git branch ${name}-before ${oid}` : `git branch -f ${name} ${oid}`;
  if (lacks) return `${gitIn(user.path)} merge ${oid}`;
  return `${gitIn(user.path)} reset ${keep || user.path !== folder ? '--keep ' : ''}${oid}`;
}
