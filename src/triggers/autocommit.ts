/** An autocommit: takes the lock of the session, keeps within the budget, captures, and combines small packs. */
import type { CaptureResult } from '../autocommit/capture.ts';
import { keepWithinBudget } from '../maintenance/retention/budget.ts';
import { tidyObjects } from '../maintenance/retention/tidy.ts';
import type { Repository } from '../repository/repository.ts';
import { type AutocommitOptions, captureSession } from '../session/capture-session.ts';
import { withSessionLock } from '../session/lock.ts';
import { readRecord, type SessionRecord, writeRecord } from '../session/record.ts';

/** @throws AgtError, with exit code 75 if another process is working on the session. */
export async function autocommit(
  repository: Repository,
  record: SessionRecord,
  options: AutocommitOptions,
): Promise<CaptureResult> {
  if (options.dryRun) return captureSession(repository, record, options);
  const result = await withSessionLock(repository, record.session_id, () =>
    captureWithinBudget(repository, record, options),
  );
  if (result.outcome === 'committed') await tidyObjects(repository);
  return result;
}

async function captureWithinBudget(
  repository: Repository,
  record: SessionRecord,
  options: AutocommitOptions,
): Promise<CaptureResult> {
  const current = readRecord(repository, record.session_id) ?? record;
  const hasChanges = async () =>
    (await captureSession(repository, current, { ...options, dryRun: true })).outcome !== 'unchanged';
  const warnings = await keepWithinBudget(repository, current, options.now, hasChanges);
  const result = await captureSession(repository, current, options);
  if (result.outcome === 'committed') {
    writeRecord(repository, { ...current, last_activity_at: options.now.toISOString() });
  }
  return { ...result, warnings: [...warnings, ...result.warnings] };
}
