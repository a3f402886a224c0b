/** An autocommit: takes the session's lock, keeps within the budget, captures, and joins small packs. */
import type { CaptureResult } from '../autocommit/capture.ts';
import { keepWithinBudget } from '../maintenance/retention/budget.ts';
import { tidyObjects } from '../maintenance/retention/tidy.ts';
import type { Repository } from '../repository/repository.ts';
import { type AutocommitOptions, captureSession } from '../session/capture-session.ts';
import { withSessionLock } from '../session/lock.ts';
import { readRecord, type SessionRecord, writeRecord } from '../session/record.ts';

/** @throws AgtError, with exit code 75 while another process works on the session. */
export async function autocommit(
  repository: Repository,
  record: SessionRecord,
  options: AutocommitOptions,
): Promise<CaptureResult> {
  const id = record.session_id;
  if (options.dryRun) return captureSession(repository, record, options);
  const result = await withSessionLock(repository, id, async () => {
    const current = readRecord(repository, id) ?? record;
    const wouldCapture = async () =>
      (await captureSession(repository, current, { ...options, dryRun: true })).outcome !== 'unchanged';
    const said = await keepWithinBudget(repository, current, options.now, wouldCapture);
    const result = await captureSession(repository, current, options);
    if (result.outcome === 'committed') {
      writeRecord(repository, { ...current, last_activity_at: options.now.toISOString() });
    }
    return { ...result, warnings: [...said, ...result.warnings] };
  });
  if (result.outcome === 'committed') await tidyObjects(repository);
  return result;
}
