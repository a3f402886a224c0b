/** Which refs of a repository go back to those of a snapshot, and which stay. */
import { digestOfCapturedIndex } from '../../autocommit/last-snapshot.ts';
import type { UserRepository } from '../../autocommit/request.ts';
import { differingGitDirFiles } from '../../checkout/git-dir-files.ts';
import { SESSION_STASH, SHARED_STASH } from '../../filter/agent-refs.ts';
import { HEADS, REMOTES, shortBranch, shortOid, TAGS } from '../../git/files/ref-files.ts';
import { listWorktrees } from '../../git/files/worktree-registrations.ts';
import type { Git } from '../../git/run/git.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import type { SnapshotMetadata } from '../../snapshot/manifest.ts';
import { capturedLogs, capturedRefs, differing, type Refs } from './read-state.ts';

/** A ref that is a name for another one has this before its name. */
export const LINK = 'ref: ';

/** agt has no branch of its own there. */
export const NO_BRANCHES = { workBranch: '', snapshotWorkBranch: '' };

export const NO_LOG = Buffer.alloc(0);

/** Undefined: there is no such ref. */
export interface RefMove {
  readonly ref: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Refs that differ: those that go back, and those that stay. */
export interface RefPlan {
  readonly moves: readonly RefMove[];
  readonly left: readonly (RefMove & { readonly reason: string; readonly isQuiet?: boolean | undefined })[];
  /** The branch of HEAD, which goes to its commit alone: another worktree has the branch. */
  readonly detached?: string | undefined;
  /** Another repository at the place of the one that comes back. */
  readonly replaced?: string;
  /** One that is gone, and comes back. */
  readonly gone?: string;
  /** The folder, if another repository is there and stays. */
  readonly other?: string;
  /** The snapshot has none. */
  readonly isKept?: boolean;
}

/** Refs of these kinds go back where they were. Others are another program's: agt only brings back deleted ones. */
const OWN_KINDS = [HEADS, TAGS, 'refs/notes/'];

/** Where somebody else has moved a ref since, the snapshot that has it, and where the ref was before. */
export interface OthersMove {
  readonly to: string | undefined;
  readonly commit: string | undefined;
  readonly was?: string | undefined;
  /** Where the store keeps the repository in which they did. */
  readonly of?: string | undefined;
  /** No agent has moved it, so that an undo has nothing to say of it. */
  readonly isQuiet?: boolean;
}

/** By the full name of the ref. */
export type OthersMoves = ReadonlyMap<string, OthersMove>;

export interface Others {
  readonly moved: OthersMoves;
  /** Somebody else took the earlier repository away. */
  readonly hasReplaced: boolean;
  /** A person names the snapshot. An undo leaves a repository that somebody else made. */
  readonly isNamed: boolean;
  /** The command that moves their refs, too: by the name of the snapshot, if no agent has worked since. */
  readonly command: string | undefined;
}

/** The commit that a ref leads to. */
export function resolveRef(refs: Refs, name: string): string | undefined {
  const value = refs.get(name);
  return value?.startsWith(LINK) ? refs.get(value.slice(LINK.length)) : value;
}

/** A ref of `others` stays where they have left it, or goes back there if it has moved since. `then`: of the snapshot. */
export function planRefs(now: Refs, then: Refs, others: OthersMoves, command?: string): RefPlan {
  const target = (ref: string) => (others.get(ref) ?? { to: then.get(ref) }).to;
  const names = new Set([...differing(then, now), ...others.keys()]);
  const moved = [...names].map((ref) => ({ ref, from: now.get(ref), to: target(ref) }));
  const isOurs = ({ ref, from }: RefMove) =>
    ref === 'HEAD' ||
    ref === SHARED_STASH ||
    from === undefined ||
    OWN_KINDS.some((kind) => ref.startsWith(kind));
  // A name that is no UTF-8 has lost bytes: agt would make another ref.
  const wanted = moved.filter((move) => isOurs(move) && !move.ref.includes('\ufffd'));
  const reasonFor = ({ ref, from }: RefMove) => {
    const [value, was = value] = [then.get(ref), others.get(ref)?.was];
    const way = ref.startsWith(HEADS)
      ? `git branch ${shellQuote(shortBranch(ref))}`
      : ref === SHARED_STASH && value !== undefined && 'git stash store';
    if (from === undefined && way && was?.startsWith(LINK) === false)
      return `deleted it since; to bring it back: ${way} ${shortOid(was)}`;
    if (from === value) return undefined;
    if (value === undefined) return 'moved it since';
    const back = command ?? wayToMove(ref, value, target('HEAD') === `${LINK}${ref}`);
    return `moved it since; in the snapshot it is ${where(value)}; to move it, too: ${back}`;
  };
  return {
    moves: wanted.filter(({ from, to }) => from !== to),
    left: wanted.flatMap((move) => {
      const reason = move.from === move.to ? reasonFor(move) : undefined;
      const { isQuiet } = others.get(move.ref) ?? {};
      return reason === undefined ? [] : [{ ...move, reason: `you or another program ${reason}`, isQuiet }];
    }),
  };
}

/** By git, so that files stay as they are, and nothing else moves. */
function wayToMove(ref: string, to: string, isCheckedOut: boolean): string {
  if (to.startsWith(LINK)) return `git symbolic-ref ${ref} ${shellQuote(to.slice(LINK.length))} && git reset`;
  if (isCheckedOut) return `git reset ${shortOid(to)}`;
  if (ref === 'HEAD') return `git update-ref --no-deref HEAD ${shortOid(to)} && git reset`;
  return `git update-ref ${shellQuote(ref)} ${shortOid(to)}`;
}

/**
 * A branch that another worktree has checked out stays: its files would no longer fit. Nor does HEAD go on it, or on one that
 * stays deleted.
 */
export async function withoutBusyBranches(
  git: Git,
  folder: string,
  { gitDir, commonDir }: UserRepository,
  plan: RefPlan,
  then: Refs,
): Promise<RefPlan> {
  if (!plan.moves.some(({ ref, to }) => ref.startsWith(HEADS) || to?.startsWith(LINK))) return plan;
  // The main worktree is the first one. git shows that of a submodule under another path.
  const isMain = gitDir === commonDir;
  const others = (await listWorktrees(git)).filter(({ path }, i) => (isMain ? i > 0 : path !== folder));
  const isBusy = (ref: string) => others.some(({ branch }) => branch === ref);
  const branch = then.get('HEAD')?.slice(LINK.length) ?? '';
  const isDetached =
    (isBusy(branch) || staysDeleted(plan, branch)) && plan.moves.some(({ ref }) => ref === 'HEAD');
  const reason = 'another worktree has it checked out';
  const busy = plan.moves.filter(({ ref }) => isBusy(ref)).map((move) => ({ ...move, reason }));
  return {
    moves: plan.moves
      .filter(({ ref }) => !isBusy(ref))
      .map((move) => (isDetached && move.ref === 'HEAD' ? { ...move, to: then.get(branch) } : move)),
    left: [...plan.left, ...busy],
    detached: isDetached ? branch : undefined,
  };
}

function staysDeleted({ left }: RefPlan, branch: string): boolean {
  return left.some(({ ref, from }) => ref === branch && from === undefined);
}

/** Whether to go from one snapshot to the other would change the repository, and not only a reflog. */
export async function changesGit(
  git: Git,
  from: SnapshotMetadata,
  to: SnapshotMetadata,
  others: OthersMoves,
): Promise<boolean> {
  const then = await capturedRefs(git, to.commit);
  if (then === undefined) return false;
  const now = await capturedRefs(git, from.commit);
  if (now === undefined) return true;
  const { moves, left } = planRefs(now, then, others);
  if (moves.length > 0) return true;
  if (left.some(({ ref }) => isOfHead(ref, then))) return false;
  const digest = await digestOfCapturedIndex(git, from.commit);
  if (digest !== (await digestOfCapturedIndex(git, to.commit))) return true;
  const stashOf = async (commit: string) => (await capturedLogs(git, commit)).get(SHARED_STASH) ?? NO_LOG;
  if (!(await stashOf(from.commit)).equals(await stashOf(to.commit))) return true;
  // A git reset writes where HEAD was, also if it changes nothing.
  return (await differingGitDirFiles(git, from, to, NO_BRANCHES)).some((file) => file !== 'ORIG_HEAD');
}

/** Where it stays, the index does, too. */
export function isOfHead(ref: string, then: Refs): boolean {
  return ref === 'HEAD' || `${LINK}${ref}` === then.get('HEAD');
}

/** For people. */
export function nameOf(ref: string): string {
  if (ref.startsWith(HEADS)) return `branch ${shortBranch(ref)}`;
  if (ref.startsWith(TAGS)) return `tag ${ref.slice(TAGS.length)}`;
  if (ref === SHARED_STASH || ref === SESSION_STASH) return 'the stash';
  return ref.startsWith(REMOTES) ? ref.slice('refs/remotes/'.length) : ref;
}

export function where(value: string | undefined): string {
  if (value === undefined) return 'deleted';
  return value.startsWith(LINK) ? `on ${nameOf(value.slice(LINK.length))}` : `at ${shortOid(value)}`;
}

/** What cannot go back, for warnings. */
export function describeLeft(plan: RefPlan): string[] {
  const { left, detached, replaced, gone, other, isKept } = plan;
  if (isKept) return ['the repository stays: the snapshot has none, and agt deletes no .git'];
  if (replaced !== undefined)
    return [`the repository of the snapshot takes the place of another one: ${replaced}`];
  if (other !== undefined) return [`another repository is in ${other}, and stays as it is`];
  if (gone !== undefined) return [`the repository is gone, and comes back: ${gone}`];
  const told = left.filter(({ from, isQuiet }) => from === undefined || isQuiet !== true);
  // A reset after HEAD has moved is one to the branch as it is then.
  const inOrder = told.toSorted((a, b) => Number(a.ref === 'HEAD') - Number(b.ref === 'HEAD'));
  const stays = inOrder.map(({ ref, from, reason }) => `${nameOf(ref)} stays ${where(from)}: ${reason}`);
  if (detached === undefined) return stays;
  const name = nameOf(detached);
  const why = staysDeleted(plan, detached)
    ? `${name} is deleted`
    : `another worktree has ${name} checked out`;
  return [...stays, `HEAD is detached: ${why}`];
}

/** `branch main: now at 1234567890 (was 0987654321)` for a ref that has moved; `isPlan`: it would move. */
export function describeMove({ ref, from, to }: RefMove, isPlan = false): string {
  const [is, was] = isPlan ? ['would be ', 'is'] : ['', 'was'];
  const before = from === undefined ? '' : ` (${was} ${where(from).replace(/^at /, '')})`;
  return `${nameOf(ref)}: ${is}${to === undefined ? 'deleted' : `${isPlan ? '' : 'now '}${where(to)}`}${before}`;
}
