/** Checks one session: its intent, its refs, its sandbox. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { forgetKnownRefs } from '../../autocommit/known-refs.ts';
import { isLocked } from '../../disk/lock.ts';
import { attempt, FEW, isAgtError, listSome, systemFailure } from '../../errors.ts';
import { stashRef, tipRef } from '../../filter/agent-refs.ts';
import { isActive } from '../../filter/session-file.ts';
import { shownPath } from '../../folders/store.ts';
import { REMOTES, shortBranch, shortOid } from '../../git/files/ref-files.ts';
import type { WorktreeEntry } from '../../git/files/worktree-registrations.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import { gitText, resolveObject } from '../../git/run/git.ts';
import { sessionLockFile, sharedDirectory } from '../../layout.ts';
import { findUsersSide } from '../../lifecycle/in-place/users-side.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import type { Repository } from '../../repository/repository.ts';
import { beginAnew, captureAndRestore, commandToCapture } from '../../session/advised-commands.ts';
import { withSessionLock } from '../../session/lock.ts';
import { isAlone } from '../../session/owner.ts';
import { ensureWorkspace } from '../../session/provider.ts';
import { isAttached, type SessionRecord, sessionFolder } from '../../session/record.ts';
import { type Session, startCommit } from '../../session/session.ts';
import { readShares } from '../../session/share-file.ts';
import { isEnded } from '../../session/state.ts';
import { IGNORE_FILE } from '../../snapshot/ignore-file.ts';
import { captureSession } from '../../workspace/capture-session.ts';
import { checkSandbox } from './check-sandbox.ts';
import { FIX, type Finding, type Finishers, type Preview } from './finding.ts';
import { checkIntent } from './unfinished-operations.ts';

/** Facts of the repository, found once for all of its sessions. */
interface Known {
  readonly worktrees: readonly WorktreeEntry[];
  /** The full names of all refs. */
  readonly refs: ReadonlySet<string>;
  readonly finishers: Finishers;
  readonly preview: Preview;
}

/** A session whose file system fails is a finding, and agt checks the others. */
export async function checkSession(session: Session, known: Known): Promise<Finding[]> {
  try {
    return await check(session, known);
  } catch (error) {
    const reason = systemFailure(error);
    if (reason === undefined) throw error;
    const problem = `agt cannot check it: ${reason}`;
    const mend = `look whether its folder can be used: ${session.folder}`;
    return [{ level: 'error', about: session.id, problem, mend }];
  }
}

async function check(session: Session, { worktrees, refs, finishers, preview }: Known): Promise<Finding[]> {
  const { repository, record } = session;
  if (await isLocked(sessionLockFile(repository.agtDir, session.id))) return []; // another process is changing it
  const unfinished = checkIntent(session, finishers);
  if (unfinished !== undefined && record.intent?.operation !== 'restore') return [unfinished];
  const gone = checkMount(session);
  const findings = [unfinished, gone].filter((finding) => finding !== undefined);
  if (gone !== undefined) return findings;
  findings.push(
    ...(await checkRefs(session, refs)),
    ...(isAttached(record) ? [] : await checkWorkBranch(session, refs)),
    ...(isEnded(record) || isAttached(record) ? [] : await checkSandbox(session, worktrees)),
  );
  if (findings.length === 0 && isActive(record)) findings.push(...(await checkCapture(record, preview)));
  findings.push(...checkRunner(record), ...checkPush(session));
  return findings;
}

/**
 * A branch of the user that was renamed or deleted: its sessions cannot be compared with it any more. One in place has a
 * finding of its own: it cannot end.
 */
export function checkUserBranches(records: readonly SessionRecord[], refs: ReadonlySet<string>): Finding[] {
  const isGone = (ref: string | undefined) => ref !== undefined && !refs.has(ref);
  const gone = records.filter(
    (one) => !isEnded(one) && one.checkout === undefined && isGone(one.user_branch),
  );
  return [...Map.groupBy(gone, ({ user_branch }) => user_branch ?? '')].map(([ref, some]) => {
    const ids = some.map(({ session_id }) => session_id);
    const id = ids.length === 1 ? ids[0] : 'ID';
    const branch = shortBranch(ref);
    const there = [...refs].find((one) => one.startsWith(REMOTES) && one.endsWith(`/${branch}`));
    const make =
      there && `git branch ${[branch, there.slice(REMOTES.length)].map(shellQuote).join(' ')}, or `;
    return {
      level: 'warning',
      about: branch,
      problem: `this branch is not here, and the work of ${listSome(ids, FEW)} is to land there`,
      mend: `${make ?? ''}agt sync ${id} --from BRANCH, or agt accept ${id} --onto BRANCH`,
    };
  });
}

function checkRunner({ session_id: about, owner }: SessionRecord): Finding[] {
  if (!isAlone(owner)) return [];
  const problem = `${owner.command} (process ${owner.pid}) goes on in it, and its agt run, which captured it, was killed`;
  const mend = `agt watch ${about} to capture it, or kill ${owner.pid} to end it`;
  return [{ level: 'warning', about, problem, mend }];
}

/** Snapshots that agt can restore, and cannot describe. It reads every snapshot. */
export async function checkMessages(session: Session): Promise<Finding[]> {
  const damaged = (await session.history()).filter(({ isDamaged }) => isDamaged);
  return damaged.map(({ commit }) => {
    const problem = `the message of snapshot ${shortOid(commit)} is damaged: its label, tool and HEAD are lost`;
    return { level: 'note', about: session.id, problem, mend: 'its files are whole, and it can be restored' };
  });
}

/** A folder that is a mount is an empty one after a restart of the machine. */
function checkMount(session: Session): Finding | undefined {
  const { record, id: about } = session;
  if (!isActive(record) || !ensureWorkspace(record, true)) return undefined;
  const problem = `its folder is a mount of ${record.provider}, and is mounted no longer: ${session.folder}`;
  // Locking a session mounts it.
  const fix = () => withSessionLock(session, async () => undefined);
  return { level: 'error', about, problem, mend: `agt autocommit --session-id ${about}`, fix };
}

/** The shadow branch and agt's own tip: each can be made again from the other. */
async function checkRefs(session: Session, refs: ReadonlySet<string>): Promise<Finding[]> {
  const { repository, record, id: about } = session;
  const pair = [record.branch, tipRef(about)];
  const isInPlace = record.checkout !== undefined && isActive(record) && !isAttached(record);
  const set = isInPlace && !refs.has(stashRef(about)) ? [stashRef(about)] : [];
  const missing = [...pair.filter((ref) => !refs.has(ref)), ...set];
  if (missing.length === 0) return checkTip(session);
  return missing.map((ref) => {
    const finding = { level: 'error', about, problem: `${shortBranch(ref)} is missing` } as const;
    if (set.includes(ref))
      return { ...finding, mend: `it has what was yours before the session; ${findUsersSide(about)}` };
    const other = pair.find((name) => !missing.includes(name));
    if (other === undefined && isEnded(record))
      return { ...finding, mend: 'its snapshots are lost; look for them: agt git fsck --lost-found' };
    if (other === undefined)
      return { ...finding, mend: commandToCapture(record), fix: () => capture(session) };
    const fix = () => recreateRef(session, ref, other);
    const ownGit = isAttached(record) ? `git --git-dir=${shellQuote(repository.commonDir)}` : 'agt git';
    return { ...finding, mend: `${ownGit} update-ref ${ref} ${other}`, fix };
  });
}

/** Leaves a ref that is there by now: the fix of an unfinished restore makes it too. */
function recreateRef(session: Session, ref: string, target: string): Promise<unknown> {
  const noCommit = '0'.repeat(session.record.from_commit.length);
  return withSessionLock(session, async () => {
    const { git } = session.repository;
    if ((await resolveObject(git, ref)) === undefined)
      await gitText(git, ['update-ref', ref, target, noCommit]);
  });
}

async function checkTip(session: Session): Promise<Finding[]> {
  const { record, git, id: about } = session;
  const tip = tipRef(about);
  const [branchCommit, tipCommit] = await Promise.all(
    [record.branch, `${tip}^{commit}`].map((name) => findObject(git, name)),
  );
  const named = tipCommit ?? (await resolveObject(git, tip));
  if (tipCommit === undefined && named !== undefined) return [lostSnapshots(session, named)];
  if (branchCommit === tipCommit) return [];
  const problem = `another program moved ${shortBranch(record.branch)}; agt continues from its own tip`;
  const finding = { level: 'warning', about, problem } as const;
  if (!isActive(record)) return [{ ...finding, mend: 'nothing to do: a restore keeps what the branch has' }];
  // A capture moves the branch back and keeps the commits that were put there reachable, as parents.
  return [{ ...finding, mend: commandToCapture(record), fix: () => capture(session) }];
}

/** A capture of a session begins a new history, if the shadow branch does not have the last one either. */
function lostSnapshots(session: Session, commit: string): Finding {
  const { repository, record, id: about } = session;
  const problem = `${tipRef(about)} leads to ${shortOid(commit)}, which is missing: snapshots are lost`;
  const finding = { level: 'error', about, problem } as const;
  if (isAttached(record)) return { ...finding, mend: beginAnew(repository.commonDir) };
  if (!isActive(record)) return { ...finding, mend: 'look for them in a backup of the repository' };
  const fix = () => {
    forgetKnownRefs({ agtDir: repository.agtDir, sessionId: about });
    return capture(session);
  };
  return { ...finding, mend: FIX, fix };
}

/** A capture also makes missing refs again. */
function capture(session: Session): Promise<unknown> {
  return withSessionLock(session, (locked) =>
    captureSession(locked.with(session.record), { now: new Date() }),
  );
}

async function checkWorkBranch(session: Session, refs: ReadonlySet<string>): Promise<Finding[]> {
  const { git, record, id: about } = session;
  const ref = record.work_branch;
  const branch = shortBranch(ref);
  if (!refs.has(ref)) {
    if (isEnded(record)) return [];
    const commit = await lastHead(session);
    const fix = () => recreateRef(session, ref, commit);
    const mend = `agt git branch ${branch} ${commit}`;
    return [{ level: 'warning', about, problem: `${branch} is missing`, mend, fix }];
  }
  if ((await findObject(git, `${ref}^{commit}`)) !== undefined) return [];
  const problem = `${branch} leads to a commit that is gone; git fetch and git gc fail because of it`;
  const [last, gone = ''] = await Promise.all([lastHead(session), resolveObject(git, ref)]);
  const fix = () => withSessionLock(session, () => gitText(git, ['update-ref', ref, last, gone]));
  return [{ level: 'error', about, problem, mend: `agt git update-ref ${ref} ${last}`, fix }];
}

/** The newest commit of the agent that a snapshot names and that is there. */
async function lastHead(session: Session): Promise<string> {
  for (const { head } of await session.history()) {
    if (head !== undefined && (await resolveObject(session.git, `${head}^{commit}`)) !== undefined)
      return head;
  }
  return startCommit(session);
}

function checkPush(session: Session): Finding[] {
  const about = session.id;
  try {
    const { failed, remote } = readShares(session).copies[0] ?? {};
    if (failed === undefined) return [];
    const problem = `the last push in the background to ${remote} failed: ${failed.reason}`;
    return [{ level: 'note', about, problem, mend: `agt session push ${about}` }];
  } catch (error) {
    if (!isAgtError(error)) throw error;
    return [{ level: 'warning', about, problem: error.message, mend: error.hints[0] ?? FIX }];
  }
}

/** Sessions of a remote that a killed `agt session pull` has taken, and not brought here completely. */
export function checkPulls({ agtDir }: Repository): Finding[] {
  const directory = sharedDirectory(agtDir);
  const isUnfinished = (name: string) =>
    attempt(() => JSON.parse(readFileSync(join(directory, name), 'utf8')))?.pulling === true;
  return globSync('*.json', { cwd: directory })
    .filter(isUnfinished)
    .map((name) => {
      const about = basename(name, '.json');
      const problem = 'a pull of it was stopped before all of it was here';
      return { level: 'warning', about, problem, mend: `agt session pull ${about}` };
    });
}

/** So many paths are named. */
const MOST_LISTED = 3;

async function checkCapture(record: SessionRecord, preview: Preview): Promise<Finding[]> {
  const about = record.session_id;
  try {
    const { failed, warnings } = await preview(record);
    const listed = failed.map(({ path, reason }) => `${shownPath(record, path)} ${reason}`);
    const again = captureAndRestore(record);
    const orIgnore = isAttached(record) ? '' : `, or name it in ${join(sessionFolder(record), IGNORE_FILE)}`;
    const unreadable = `not all of it can be captured: ${listSome(listed, MOST_LISTED)}`;
    const problems = [
      ...(failed.length === 0 ? [] : [[unreadable, `make it readable${orIgnore}`] as const]),
      ...warnings.map((problem) => [problem.replace(/; to bring it back: .*/, ''), again] as const),
    ];
    return problems.map(([problem, mend]) => ({ level: 'warning', about, problem, mend }));
  } catch (error) {
    if (!isAgtError(error)) throw error;
    const problem = `it cannot be captured: ${error.message}`;
    return [{ level: 'error', about, problem, mend: error.hints[0] ?? commandToCapture(record) }];
  }
}
