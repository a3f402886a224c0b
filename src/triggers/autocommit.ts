/** An autocommit: locks the session, keeps within the budget, captures, and joins small packs. */
import type { CaptureResult } from '../autocommit/capture.ts';
import { TooManyFiles } from '../autocommit/scan/scan-options.ts';
import { AgtError, EXIT } from '../errors.ts';
import { createStore } from '../folders/create-store.ts';
import { identityOf } from '../folders/moved.ts';
import { FolderRefused, forgetRefusal, knownRefusal, noteRefusal, refuseFolder } from '../folders/refuse.ts';
import { type FolderAccess, findAttached, settingsFile } from '../folders/store.ts';
import { enforceBudget, excessOverBudget } from '../maintenance/retention/budget.ts';
import { autoRepack } from '../maintenance/retention/repack.ts';
import type { Repository } from '../repository/repository.ts';
import { callsAtWork } from '../session/calls-at-work.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { mended } from '../session/operation.ts';
import { isAttached, type SessionRecord } from '../session/record.ts';
import { followMove } from '../session/relocate.ts';
import type { Session } from '../session/session.ts';
import { callsAround } from '../snapshot/history.ts';
import { type AutocommitOptions, captureSession, previewCapture } from '../workspace/capture-session.ts';
import { factsBeforeScan, leaveFacts } from './front/facts.ts';
import { readNewerPaths } from './front/newer-paths.ts';

/** @throws AgtError with exit code 75 while another process holds the session's lock. */
export async function autocommit(session: Session, options: AutocommitOptions): Promise<CaptureResult> {
  if (options.dryRun) {
    const preview = await previewCapture(session, options);
    const excess = preview.outcome === 'unchanged' ? undefined : await excessOverBudget(session.repository);
    const warnings = excess ? [`${excess.problem}: agt captures this only if it can thin enough`] : [];
    return { ...preview, warnings: [...preview.warnings, ...warnings] };
  }
  const { waitMs } = options;
  const capture = async (locked: LockedSession) => {
    const reason = options.reasonToWait?.();
    if (reason !== undefined) throw new AgtError(reason, { exitCode: EXIT.busy });
    options.onLocked?.();
    return autocommitLocked(locked.with(await followMove(locked)), options);
  };
  const result = await withSessionLock(session, capture, { waitMs });
  if (result.outcome === 'committed') await autoRepack(session.repository);
  return result;
}

async function autocommitLocked(session: LockedSession, options: AutocommitOptions): Promise<CaptureResult> {
  const { record } = session;
  const hasChanges = async () => (await previewCapture(session, options)).outcome !== 'unchanged';
  const warnings = await enforceBudget(session, options.now, hasChanges);
  const facts = factsBeforeScan(session);
  const newerPaths = options.isAskedByFront ? () => readNewerPaths(session) : undefined;
  const result = await captureSession(session, { ...options, newerPaths });
  const isMended =
    record.state === 'failed' &&
    result.failed.length === 0 &&
    (record.failure?.of_turn !== true || options.agentGoesOn === true);
  const known = { ...(isMended ? mended(record, options.now) : record), ...identityNow(record) };
  // Metadata are flushed, which takes longer than many a capture: agt writes them if they say something new.
  if (isMended || known.folder_identity !== record.folder_identity) session.write(known);
  // The front would not call a session active again.
  const mayAnswer = known.state === 'active' && !(await isWithinCall(session, result, options.now));
  leaveFacts(session.with(known), mayAnswer ? facts : undefined, result);
  return { ...result, warnings: [...warnings, ...result.warnings] };
}

/** The end of the call is captured, even if nothing changes until then. */
async function isWithinCall({ repository, id, git }: Session, { commit }: CaptureResult, now: Date) {
  const isAtWork = commit !== undefined && callsAtWork(repository.agtDir, id, now).length > 0;
  return isAtWork && (await callsAround(git, commit)).length > 0;
}

/** A folder that was just made had none yet. If another one has come to the path, the store is that one's from now on. */
function identityNow(record: SessionRecord): Pick<SessionRecord, 'folder_identity'> {
  const { checkout } = record;
  return isAttached(record) && checkout !== undefined ? identityOf(checkout) : {};
}

export interface FolderCapture {
  readonly session: Session;
  readonly result: CaptureResult;
  /** This is the first snapshot of the folder. */
  readonly isNew: boolean;
}

export interface FolderRequest {
  /** A real path, as `folderAt` gives it. */
  readonly folder: string;
  /** The repository that the folder is the top of a worktree of. */
  readonly user: Repository | undefined;
  /** Do not look again at a folder that agt has refused before, which can take seconds. For hooks. */
  readonly trustsRefusal?: boolean;
}

/** Captures a folder that is in no session: the first time agt makes a store for it. @throws FolderRefused */
export async function captureFolder(
  access: FolderAccess,
  { folder, user, trustsRefusal = false }: FolderRequest,
  options: AutocommitOptions,
): Promise<FolderCapture> {
  const refusal = trustsRefusal ? knownRefusal(access, folder) : undefined;
  if (refusal !== undefined) throw new FolderRefused(refusal, [], true);
  try {
    const known = findAttached(access, folder, settingsFile(user));
    if (known === undefined) refuseFolder(access, folder, user);
    const session = known ?? (await createStore(access, folder, user, options.now));
    const result = await autocommit(session, options);
    forgetRefusal(access, folder);
    return { session, result, isNew: known === undefined };
  } catch (error) {
    throw error instanceof TooManyFiles ? noteRefusal(access, folder, error) : error;
  }
}
