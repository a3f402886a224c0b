/**
 * Branches of the user that calls of agents have moved or deleted in an attached folder, and that are still so. Commits on the
 * branch that is checked out are no such move: every agent makes them.
 */
import { capturedRefs, differing, readGitState, refsIn } from '../folders/git-state/read-state.ts';
import { HEADS, shortBranch, shortOid } from '../git/files/ref-files.ts';
import { listWorktrees } from '../git/files/worktree-registrations.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import { gitAnswer, inDirectory } from '../git/run/git.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { isAttached } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { OWN } from '../snapshot/format.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { authorsOf } from './turns.ts';

export interface MovedBranch {
  /** A full name. */
  readonly ref: string;
  /** For one that is deleted, the last commit that it had. */
  readonly from: string;
  /** Undefined: it is deleted. */
  readonly to: string | undefined;
  /** The newest call that moved it. */
  readonly snapshot: Snapshot;
}

/** `history`: newest first. */
export async function movedBranches(
  { git, record, repository }: Session,
  history: readonly Snapshot[],
  since: Date,
): Promise<MovedBranch[]> {
  const folder = record.checkout ?? record.sandbox;
  const state = isAttached(record) ? await readGitState(repository, folder) : undefined;
  if (state === undefined) return [];
  const now = refsIn(state);
  const names = history.map(({ commit }) => `${commit}:${OWN.gitDir}`);
  const parts = await findObjects(git, names);
  const moved = new Map<string, MovedBranch>();
  const others = new Set<string>();
  const steps = authorsOf(history.toReversed(), true).steps.toReversed();
  for (const [i, { snapshot, author }] of steps.entries()) {
    if (snapshot.time < since || snapshot.previous === undefined) break;
    if (parts[i]?.oid === parts[i + 1]?.oid) continue;
    const before = await capturedRefs(git, snapshot.previous);
    const after = await capturedRefs(git, snapshot.commit);
    if (before === undefined || after === undefined) continue;
    for (const ref of differing(before, after).filter((name) => name.startsWith(HEADS))) {
      const to = now.get(ref);
      const from = (to === undefined ? moved.get(ref)?.from : undefined) ?? before.get(ref);
      if (author !== 'agent' || (!moved.has(ref) && to !== after.get(ref))) others.add(ref);
      if (others.has(ref)) continue;
      if (from === undefined) moved.delete(ref);
      else moved.set(ref, { snapshot, ...moved.get(ref), ref, from, to });
    }
  }
  const user = inDirectory(git, folder);
  const isCommitted = async ({ ref, from, to }: MovedBranch) =>
    now.get('HEAD') === `ref: ${ref}` &&
    to !== undefined &&
    (await gitAnswer(user, ['merge-base', '--is-ancestor', from, to])) !== undefined;
  const found: MovedBranch[] = [];
  for (const one of moved.values()) if (one.from !== one.to && !(await isCommitted(one))) found.push(one);
  return found;
}

/** The command that brings it back. */
export async function commandToMoveBack({ record, git }: Session, { ref, from, to }: MovedBranch) {
  const folder = record.checkout ?? record.sandbox;
  const [name, oid] = [shellQuote(shortBranch(ref)), shortOid(from)];
  if (to === undefined) return `git branch ${name} ${oid}`;
  const user = (await listWorktrees(inDirectory(git, folder))).find(({ branch }) => branch === ref);
  if (user === undefined) return `git branch -f ${name} ${oid}`;
  const there = user.path === folder ? '' : ` -C ${shellQuote(user.path)}`;
  return `git${there} reset --keep ${oid}`;
}
