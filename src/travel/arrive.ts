/** The last steps of a pull, in this repository: each can be repeated after a kill. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CaptureResult } from '../autocommit/capture.ts';
import { recordPrefixes } from '../config/prefixes.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { holdsFiles } from '../disk/folder-entries.ts';
import { AgtError, attempt } from '../errors.ts';
import { shadowRef, tipRef, workRef } from '../filter/agent-refs.ts';
import { isActive } from '../filter/session-file.ts';
import { findObject } from '../git/objects/object-reader.ts';
import { updateRefs } from '../git/run/git.ts';
import { keepSources } from '../landing/end-session.ts';
import { agentStates } from '../layout.ts';
import { requireFreeId } from '../lifecycle/create.ts';
import { dropWorkBranch, removeSession, requireRemovable } from '../lifecycle/remove.ts';
import { hideAgentRefs } from '../repository/hide-refs.ts';
import type { Repository } from '../repository/repository.ts';
import { requireWritable } from '../repository/sessions-place.ts';
import { joinMarks } from '../review/join.ts';
import { noteAgent } from '../running/marks.ts';
import { endAgentStates } from '../session/agent-state.ts';
import type { SessionId } from '../session/id.ts';
import { actsElsewhere, bothLanded, hasLanded } from '../session/landings.ts';
import { withSessionLock } from '../session/lock.ts';
import { inState } from '../session/operation.ts';
import { refuseRunning } from '../session/owner.ts';
import { readRecord, type SessionRecord, sessionFolder, withId } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { readShares, type Share, withCopy, writeShares } from '../session/share-file.ts';
import { isEnded } from '../session/state.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { OPENED, PULLED, promptIn } from '../snapshot/format.ts';
import { joinAcceptMaps } from '../timetravel/blame/accept-map.ts';
import { forkSession } from '../timetravel/fork/fork.ts';
import { restoreSession } from '../timetravel/restore/restore.ts';
import { autocommit } from '../triggers/autocommit.ts';
import { captureSession } from '../workspace/capture-session.ts';
import { refuseToReplace } from '../workspace/ensure-worktree.ts';
import { existingRefs } from './content.ts';
import type { PullRequest } from './find-share.ts';
import { newestHere, newestOf } from './held.ts';
import { type Head, isHere, refNames } from './share.ts';

interface Left {
  /** Has the snapshots that only this repository had. */
  readonly fork: SessionId | undefined;
  /** The folder as it stays, for the restore; undefined if nothing of it is here. */
  readonly before: CaptureResult | undefined;
}

/**
 * Keeps as a fork what only this repository has, and ends the session. Its folder stays: it may have files that no
 * snapshot has. A dry run says only which fork that would be.
 */
export async function leave(
  repository: Repository,
  local: SessionRecord,
  head: Head,
  { now, dryRun }: Pick<PullRequest, 'now' | 'dryRun'>,
): Promise<Left> {
  const session = new Session(repository, local);
  // A pull was killed while it wrote the folder.
  const { intent } = local;
  const marks = intent?.operation === 'restore' ? { now, unfinished: intent.snapshot } : { now };
  const isCaptured = session.place === 'here' && !isEnded(local);
  const captured = isCaptured ? await autocommit(session, { ...marks, dryRun }) : undefined;
  const { tip, isOurs, keeper } = await newestHere(session, head.refs);
  const isNew = isOurs || (dryRun && captured !== undefined && captured.changes.length > 0);
  const fork = isNew ? await freeForkId(session) : keeper;
  if (dryRun) return { fork, before: undefined };
  if (isNew && fork !== undefined) {
    await forkSession(session, { id: fork, snapshot: undefined, count: undefined, now });
    const { agtDir } = repository;
    // The last turn of the agent is the fork's. These are only notes.
    attempt(() => cpSync(agentStates(agtDir, session.id), agentStates(agtDir, fork), { recursive: true }));
    endAgentStates(agtDir, fork, new Date(0), now);
    if (local.agent !== undefined) await noteAgent({ repository, id: fork }, local.agent);
  }
  failurePoint('pull: fork made');
  const { landed } = local;
  if (fork !== undefined && landed !== undefined && !hasLanded(head.record, landed))
    await withSessionLock({ repository, id: fork }, async (held) => {
      const all = bothLanded(landed, held.record.landed);
      await keepSources(held, all);
      held.write({ ...held.record, landed: all });
    });
  if (isEnded(local)) return { fork, before: undefined };
  if (isEnded(head.record) || !keepsFolder(local)) {
    await removeSession(session, { now, force: false, deleteBranch: false });
    failurePoint('pull: sandbox gone');
    return { fork, before: undefined };
  }
  const ended = await withSessionLock(session, async (held) => {
    const before = session.place === 'here' ? await captureSession(held, marks) : undefined;
    const newest = before && (await newestOf(session.git, before.commit, head.refs['tip']));
    if (before && newest !== tip) return undefined; // an agent works there
    held.write(inState(held.read() ?? local, 'removed', { now }));
    return { fork, before };
  });
  failurePoint('pull: left');
  return ended ?? leave(repository, local, head, { now, dryRun });
}

function keepsFolder(local: SessionRecord): boolean {
  return local.checkout === undefined && holdsFiles(sessionFolder(local));
}

/** @throws AgtError if what is here is in the way of a pull */
export async function requireLeavable(session: Session, head: Head, now: Date): Promise<void> {
  refuseRunning(session);
  const stays = !isEnded(head.record) && keepsFolder(session.record);
  const wayOut = `delete them together with the session here: agt session remove ${session.id} --force`;
  await requireRemovable(session, { now, force: stays, deleteBranch: false, wayOut });
  if (stays) refuseToReplace(session);
}

async function freeForkId(session: Session): Promise<SessionId> {
  for (let n = 2; ; n++) {
    const id = `${session.id}-${n}` as SessionId;
    const problem = await requireFreeId(session.repository, id).catch((error: unknown) => error);
    if (problem === undefined) return id;
  }
}

interface Coming extends Partial<Left> {
  readonly share?: Share;
  readonly marks?: string | undefined;
}

/**
 * Without a share it comes from a file. `before`, `fork`: as `leave` left them. `marks`: those that both sides had last.
 * Warns of files that are not as in the snapshot.
 */
export async function goOn(
  repository: Repository,
  id: SessionId,
  head: Head,
  now: Date,
  { share, before, fork, marks }: Coming = {},
) {
  const { git, agtDir, settings } = repository;
  const record = await arrived(repository, id, head, now.toISOString(), fork);
  const session = new Session(repository, record);
  await withSessionLock({ repository, id }, async (locked) => {
    const { review: ours, lines: maps } = await existingRefs(session);
    const { review: theirs, lines: coming } = head.refs;
    const isJoined = ours !== undefined && theirs !== undefined && ours !== marks && theirs !== marks;
    const newer = theirs === marks ? ours : theirs;
    const review = isJoined ? await joinMarks(session, ours, theirs) : newer;
    const lines = maps && coming && (await joinAcceptMaps(git, maps, coming));
    const refs: Head['refs'] = { ...head.refs, ...(review && { review }), ...(lines && { lines }) };
    const moves = Object.entries(refNames(record)).flatMap(([role, ref]) => {
      const commit = refs[role];
      return commit === undefined ? [] : [`update ${ref} ${commit}`];
    });
    recordPrefixes(agtDir, settings);
    await hideAgentRefs(repository);
    await updateRefs(git, moves, 'agt: pull');
    const { landed } = record;
    if (landed !== head.record.landed || !head.refs['landed']) await keepSources(session, landed);
    failurePoint('pull: refs moved');
    // No hook has told of the prompts that have come along.
    const prompt = (await session.history()).map(promptIn).find((one) => one !== undefined);
    locked.write({ ...record, moved: { ...record.moved, prompt } });
    if (isEnded(head.record) && head.record.state !== 'removed') await dropWorkBranch(session);
    rmSync(agentStates(agtDir, id), { recursive: true, force: true });
  });
  failurePoint('pull: metadata written');
  let warnings: readonly string[] = [];
  if (!isEnded(head.record)) {
    const [newest] = await session.requireHistory();
    if (newest === undefined) throw new AgtError(`session "${id}" has no snapshot`);
    const choose = async () => newest;
    const label = share === undefined ? OPENED : PULLED;
    const request = { scope: TOP_FOLDERS, by: 'restore', now, choose, before, label } as const;
    const restored = await restoreSession(session, request);
    const differing = restored.mismatches.map((path) => `${path} is not as in the snapshot`);
    warnings = [...restored.warnings, ...differing];
  }
  failurePoint('pull: folder written');
  if (share !== undefined) {
    const { pulling: _, ...done } = share;
    const tip = await findObject(git, tipRef(id));
    writeShares(session, withCopy(readShares(session), { ...done, arrived: tip }));
  }
  return { record: readRecord(repository, id) ?? record, warnings };
}

/** What metadata say of the folder of a session, and what else of the place where it is. */
const OF_A_FOLDER = ['provider', 'working_copy', 'token', 'captures', 'stands_at'];
const OF_A_PLACE = [...OF_A_FOLDER, 'owner', 'intent', 'checkout', 'folder_identity', 'away'];

/**
 * The metadata here: the session has ended until a restore brings it back, into its folder if that is still here.
 * @throws AgtError if nobody can make the folder
 */
export async function arrived(
  repository: Repository,
  id: SessionId,
  { record: theirs, holder }: Head,
  at: string,
  fork?: SessionId,
): Promise<SessionRecord & Required<Pick<SessionRecord, 'moved'>>> {
  const local = readRecord(repository, id);
  const kept = local !== undefined && keepsFolder(local) ? local : undefined;
  const folder = kept ? sessionFolder(kept) : join(await repository.sessionsDir(), id);
  requireWritable(join(folder, '..'));
  // The fork has what landed here.
  const ours = fork === undefined ? local?.landed : undefined;
  const landed = ours === undefined ? theirs.landed : bothLanded(ours, theirs.landed);
  const last = local ?? (isHere({ repository }, holder) ? theirs : undefined);
  const travelling = Object.entries(withId(theirs, id)).filter(([name]) => !OF_A_PLACE.includes(name));
  const staying = Object.entries(kept ?? {}).filter(([name]) => OF_A_FOLDER.includes(name));
  return {
    ...(Object.fromEntries(travelling) as unknown as SessionRecord),
    provider: 'git',
    working_copy: 'worktree',
    ...Object.fromEntries(staying),
    branch: shadowRef(repository.settings, id),
    work_branch: workRef(repository.settings, id),
    sandbox: join(folder, 'sandbox'),
    ...(landed && { landed }),
    state: isActive(theirs) ? 'removed' : theirs.state,
    moved: {
      from: theirs.stands_at ?? theirs.checkout ?? theirs.sandbox,
      at,
      came: [...(last ? (last.moved?.came ?? [last.created_at]) : []), at],
      elsewhere: actsElsewhere(theirs, last),
    },
  };
}
