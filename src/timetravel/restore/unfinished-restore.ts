/**
 * The request of a restore, and what agt refuses. Finds the restore that the same command was killed in, so that it is
 * finished instead of begun anew: an undo would otherwise take what the killed one left for a change of the agent.
 */
import type { CaptureResult } from '../../autocommit/capture.ts';
import { holdsFiles } from '../../disk/folder-entries.ts';
import { AgtError } from '../../errors.ts';
import { refuseToReplaceRepository } from '../../folders/git-state/other-repository.ts';
import { shownId } from '../../folders/store.ts';
import { readCommits } from '../../git/objects/commits.ts';
import type { IndexEdit } from '../../git/objects/scratch-index.ts';
import type { Git } from '../../git/run/git.ts';
import { commandToMove, commandToRestore } from '../../session/advised-commands.ts';
import { requireActive, requireAllowed } from '../../session/operation.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';
import { placeToRestore } from '../../session/relocate.ts';
import type { Session } from '../../session/session.ts';
import { isEnded } from '../../session/state.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { BEFORE_THE_SESSION } from '../../snapshot/format.ts';
import { parseSnapshot, refuseLostHistory, type Snapshot } from '../../snapshot/history.ts';
import { refuseToReplace } from '../../workspace/ensure-worktree.ts';
import { isNewest } from '../../workspace/killed-restore.ts';

/** The session with the place for a missing sandbox. @throws AgtError if it cannot be restored; nothing has changed then */
export async function placeForRestore(session: Session, request: RestoreRequest): Promise<SessionRecord> {
  requireAllowed(session.record, 'restore');
  refuseRedo(session.record, request.by);
  const record = await placeToRestore(session);
  const found = session.with(record);
  refuseToReplace(found);
  refusePart(found, request);
  await refuseLostHistory(session.git, found.refs);
  return record;
}

/** A redo would take the half that the undo has done for a change of the agent. @throws AgtError */
function refuseRedo(record: SessionRecord, by: RestoreRequest['by']): void {
  const { intent } = record;
  if (by !== 'redo' || intent?.operation !== 'restore' || intent.by !== 'undo') return;
  throw new AgtError(`an undo of "${shownId(record)}" is not finished`, {
    hints: [`finish it: ${commandToMove(record, 'undo')}`, 'then a redo takes it back'],
  });
}

/**
 * The part would stand for the whole: an accept would delete the other files. `found`: the session before it is active.
 * @throws AgtError for a part of a session without a sandbox
 */
function refusePart(found: Session, { scope, filesOnly }: RestoreRequest): void {
  const { record, place, id } = found;
  const isWhole = filesOnly !== true && TOP_FOLDERS.every((top) => scope.includes(top));
  if (isWhole || isAttached(record)) return;
  if (isEnded(record)) requireActive(record);
  if (place === 'here' || holdsFiles(record.sandbox)) return;
  throw new AgtError(`the sandbox of "${id}" is gone: ${record.sandbox}`, {
    hints: [`first bring all of it back: ${commandToRestore(record, '@')}`],
  });
}

/** Its snapshot; undefined if there is none, or if something else was captured since. */
export async function unfinishedTarget(
  session: Session,
  { by, scope, choose }: RestoreRequest,
): Promise<Snapshot | undefined> {
  const { intent } = session.record;
  if (intent?.operation !== 'restore' || intent.tip === undefined) return undefined;
  const isSameCommand = intent.by === by || by === 'restore';
  if (!isSameCommand || intent.scope.join('\0') !== scope.join('\0')) return undefined;
  const history = await session.history();
  if (!isNewest(history, intent)) return undefined;
  if (by === 'restore' && (await choose(session)).commit !== intent.snapshot) return undefined;
  return snapshotIn(session.git, history, intent.snapshot);
}

/** No history has the snapshot that an undo of one thing goes to. */
export async function snapshotIn(git: Git, history: readonly Snapshot[], commit: string): Promise<Snapshot> {
  const known = history.find((snapshot) => snapshot.commit === commit);
  if (known !== undefined) return known;
  const content = (await readCommits(git, [commit])).get(commit) ?? '';
  return { ...parseSnapshot(commit, content), previous: undefined };
}

/** Whether a redo was killed before anything of it was captured. */
export function isBeforeRedo({ intent }: SessionRecord, newest: Snapshot | undefined): boolean {
  return intent?.operation === 'restore' && intent.by === 'redo' && newest?.commit === intent.tip;
}

/** Of `agt session restore`, `undo` and `redo`. */
export interface RestoreRequest {
  /** Top-level folders, or paths in them: relative to the session folder, one byte per character. */
  readonly scope: readonly string[];
  readonly by: 'restore' | 'undo' | 'redo';
  readonly now: Date;
  /** For the snapshot after it. */
  readonly label?: string;
  /** The snapshots before the changes that an undo of one thing takes back. */
  readonly undone?: readonly string[];
  /** Leave the repository of an attached folder as it is: its refs, HEAD and index. */
  readonly filesOnly?: boolean;
  /** With `filesOnly`: entries of the index that go back as well. */
  readonly index?: readonly IndexEdit[];
  /** The folder as it is, if a capture has just seen it, in another history. */
  readonly before?: CaptureResult | undefined;
  /** Chooses the snapshot, once the folder is as in the newest one of the session. */
  readonly choose: (session: Session) => Promise<Snapshot>;
}

/** Whether it restores files alone, and is no step of its own if they are as wanted. */
export function isOfFiles({ by, scope, filesOnly }: RestoreRequest): boolean {
  return by === 'restore' && (!scope.includes('sandbox') || filesOnly === true);
}

/** @throws AgtError if agt does not go to the snapshot */
export async function refuseTarget(
  session: Session,
  snapshot: Snapshot,
  { by, scope, filesOnly }: RestoreRequest,
): Promise<void> {
  const { session_id: id, working_copy: copy } = session.record;
  // The end of the session brings that work back, and a restore must not.
  if (by === 'restore' && copy === 'in-place' && isUsersWork(snapshot))
    throw new AgtError(`that snapshot has your own work from before session "${id}"`, {
      hints: [`end the session, and agt brings it back: agt session reject ${id}`],
    });
  const hasGit = scope.includes('sandbox') && filesOnly !== true;
  if (by !== 'restore' && hasGit) await refuseToReplaceRepository(session, snapshot.commit);
}

/** A session in place has the user's own work in its first snapshot, which is no step of the session. */
export function isUsersWork({ label, previous }: Snapshot): boolean {
  return previous === undefined && label === BEFORE_THE_SESSION;
}
