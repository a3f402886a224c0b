/** An autocommit: locks the session, keeps within the budget, captures, and joins small packs. */
import type { CaptureResult } from '../autocommit/capture.ts';
import { identityOf } from '../folders/moved.ts';
import { enforceBudget } from '../maintenance/retention/budget.ts';
import { autoRepack } from '../maintenance/retention/repack.ts';
import type { Repository } from '../repository/repository.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { inState } from '../session/operation.ts';
import { isAttached, type SessionRecord } from '../session/record.ts';
import { followMove } from '../session/relocate.ts';
import { type AutocommitOptions, captureSession, previewCapture } from '../workspace/capture-session.ts';
import { factsBeforeScan, leaveFacts } from './front/facts.ts';

/** @throws AgtError with exit code 75 while another process holds the session's lock. */
export async function autocommit(
  repository: Repository,
  record: SessionRecord,
  options: AutocommitOptions,
): Promise<CaptureResult> {
  if (options.dryRun) return previewCapture(repository, record, options);
  const { waitMs } = options;
  const capture = async (session: LockedSession) =>
    autocommitLocked(session, await followMove(session, session.read() ?? record), options);
  const result = await withSessionLock(repository, record.session_id, capture, { waitMs });
  if (result.outcome === 'committed') await autoRepack(repository);
  return result;
}

async function autocommitLocked(
  session: LockedSession,
  record: SessionRecord,
  options: AutocommitOptions,
): Promise<CaptureResult> {
  const hasChanges = async () =>
    (await previewCapture(session.repository, record, options)).outcome !== 'unchanged';
  const warnings = await enforceBudget(session, options.now, hasChanges);
  const facts = factsBeforeScan(session.repository, record);
  const result = await captureSession(session, record, options);
  const isMended =
    record.state === 'failed' &&
    result.failed.length === 0 &&
    (record.failed_turn === undefined || options.agentGoesOn === true);
  const known = { ...(isMended ? inState(record, 'active', options) : record), ...identityNow(record) };
  // Metadata are flushed, which takes longer than many a capture: agt writes them if they say something new.
  if (isMended || known.folder_identity !== record.folder_identity) session.write(known);
  // The front would not call a session active again.
  leaveFacts(session.repository, known, known.state === 'active' ? facts : undefined, result);
  return { ...result, warnings: [...warnings, ...result.warnings] };
}

/** A folder that was just made had none yet. If another one has come to the path, the store is that one's from now on. */
function identityNow(record: SessionRecord): Pick<SessionRecord, 'folder_identity'> {
  const { checkout } = record;
  return isAttached(record) && checkout !== undefined ? identityOf(checkout) : {};
}
