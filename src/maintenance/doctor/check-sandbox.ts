/** Checks whether a session's sandbox is where its metadata and git's links say, and connects it again. */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../../disk/read-file.ts';
import { isSameDirectory } from '../../disk/real-path.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import type { WorktreeEntry } from '../../git/files/worktree-registrations.ts';
import { gitText, resolveObject } from '../../git/run/git.ts';
import { inPlaceFile } from '../../layout.ts';
import { commandForBranch } from '../../lifecycle/in-place/end.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { type LockedSession, withSessionLock } from '../../session/lock.ts';
import type { SessionRecord } from '../../session/record.ts';
import { reconnectToWorkBranch } from '../../session/register-worktree.ts';
import {
  connect,
  connectCheckout,
  type FoundSandbox,
  findAgain,
  findCheckoutAgain,
} from '../../session/relocate.ts';
import { PROBLEMS } from '../../session/sandbox.ts';
import { mountProblem, type SandboxPlace } from '../../session/sandbox-place.ts';
import type { Session } from '../../session/session.ts';
import { FIX, type Finding } from './finding.ts';

export async function checkSandbox(
  session: Session,
  worktrees: readonly WorktreeEntry[],
): Promise<Finding[]> {
  const { git, record, place, id: about } = session;
  if (record.checkout !== undefined) return checkCheckout(session, record.checkout);
  if (place === 'here') return checkWorktree(session, worktrees);
  if (place === 'unmounted') {
    const { message: problem = '', hints: [mend = ''] = [] } =
      mountProblem(record.token, session.folder) ?? {};
    return [{ level: 'error', about, problem, mend }];
  }
  const found = await findAgain(session);
  const finding = { level: 'error', about, problem: describe(record, place, found), mend: FIX } as const;
  if (found !== undefined) {
    const reconnect = async (locked: LockedSession) => {
      // A repository that somebody made in the sandbox goes out of it, with all that it holds.
      if (found.hasGitDirectory)
        renameSync(join(record.sandbox, '.git'), join(session.folder, `replaced-git-${Date.now()}`));
      connect(locked.with(record), found);
    };
    return [{ ...finding, fix: () => withSessionLock(session, reconnect) }];
  }
  const other = advice(session, place, worktrees);
  if (other !== undefined) return [{ ...finding, mend: other }];
  if ((await resolveObject(git, tipRef(about))) === record.from_commit)
    return [{ ...finding, fix: () => withSessionLock(session, () => reconnectToWorkBranch(session)) }];
  return [{ ...finding, mend: `agt restore ${about} @` }];
}

function checkWorktree(session: Session, worktrees: readonly WorktreeEntry[]): Finding[] {
  const { repository, id: about } = session;
  const { sandbox } = session.record;
  // A path in other words, such as through a link, costs many calls of the system for each worktree.
  if (worktrees.some(({ path }) => path === sandbox)) return [];
  if (worktrees.some(({ path }) => isSameDirectory(path, sandbox))) return [];
  const fix = () => withSessionLock(session, () => gitText(repository.git, ['worktree', 'repair', sandbox]));
  const problem = 'its sandbox is not a worktree of this repository';
  const mend = `agt git worktree repair ${shellQuote(sandbox)}`;
  return [{ level: 'error', about, problem, mend, fix }];
}

function describe({ sandbox }: SessionRecord, place: SandboxPlace, found: FoundSandbox | undefined): string {
  if (place === 'no link' && found?.hasGitDirectory)
    return `a repository of its own has replaced the .git file of its sandbox: ${sandbox}`;
  const problem = PROBLEMS[place];
  if (problem === undefined && found !== undefined) return `its sandbox has moved to ${found.sandbox}`;
  return `its sandbox ${problem ?? 'is gone'}: ${sandbox}`;
}

/** Undefined: agt makes the sandbox again. */
function advice(
  session: Session,
  place: SandboxPlace,
  worktrees: readonly WorktreeEntry[],
): string | undefined {
  const { sandbox, work_branch, away } = session.record;
  if (away !== undefined) return `agt session pull ${session.id}`;
  if (place === 'not a directory') return `put the directory itself at ${sandbox}`;
  const moved = worktrees.find(({ branch, prunable }) => branch === work_branch && prunable === undefined);
  if (moved !== undefined && moved.path !== sandbox)
    return `agt git worktree move ${shellQuote(moved.path)} ${shellQuote(sandbox)}`;
  return undefined;
}

async function checkCheckout(session: Session, checkout: string): Promise<Finding[]> {
  const { place, id: about } = session;
  if (place === 'here') return [...checkNote(session, checkout), ...(await checkUserBranch(session))];
  const found = await findCheckoutAgain(session);
  const problem = describeCheckout(checkout, place, found?.checkout);
  if (found === undefined)
    return [{ level: 'error', about, problem, mend: adviceForCheckout(session.record, checkout, place) }];
  return [{ level: 'error', about, problem, mend: FIX, fix: connecting(session, found) }];
}

/** Without its note, the guard does not know that the checkout belongs to a session. */
function checkNote(session: Session, checkout: string): Finding[] {
  const { session_id: about, sandbox } = session.record;
  const noted = readSmallFile(inPlaceFile(gitDirOf(checkout) ?? join(checkout, '.git')));
  if (noted === about) return [];
  const problem = `git mode does not guard ${checkout}: the note that it belongs to this session is missing`;
  return [{ level: 'error', about, problem, mend: FIX, fix: connecting(session, { checkout, sandbox }) }];
}

function connecting(session: Session, found: Parameters<typeof connectCheckout>[1]) {
  return () =>
    withSessionLock(session, async (locked) => connectCheckout(locked.with(session.record), found));
}

async function checkUserBranch(session: Session): Promise<Finding[]> {
  const { git, id: about, record } = session;
  const { user_branch: ref } = record;
  if (ref === undefined || (await resolveObject(git, ref)) !== undefined) return [];
  const problem = `${shortBranch(ref)} is gone, the branch that the checkout returns to at its end`;
  return [{ level: 'error', about, problem, mend: await commandForBranch(session, ref) }];
}

function describeCheckout(checkout: string, place: SandboxPlace, now: string | undefined): string {
  if (place === 'elsewhere')
    return `its checkout belongs to another repository, of which this one is a copy: ${checkout}`;
  if (now !== undefined && now !== checkout) return `its checkout has moved to ${now}`;
  if (now !== undefined) return `the link to its checkout is missing: ${checkout}`;
  return existsSync(checkout)
    ? `its checkout is no worktree of this repository any more: ${checkout}`
    : `its checkout is gone: ${checkout}`;
}

function adviceForCheckout({ session_id: id }: SessionRecord, checkout: string, place: SandboxPlace): string {
  if (place === 'elsewhere') return `go on from its last snapshot: agt session fork ${id}`;
  return existsSync(checkout)
    ? `agt git worktree repair ${shellQuote(checkout)}`
    : `agt session remove ${id}; its snapshots are kept`;
}
