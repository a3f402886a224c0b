/** Captures a session: the bridge from its metadata to src/autocommit, which knows folders and refs alone. */
import { type CaptureResult, capture } from '../autocommit/capture.ts';
import type { CaptureOptions, CaptureTarget } from '../autocommit/request.ts';
import { AgtError } from '../errors.ts';
import { withSessionLock } from './lock.ts';
import { readRecord, type SessionRecord, sessionFolder, tipRef, writeRecord } from './record.ts';
import { refuseOwnStore } from './refused-places.ts';
import type { Repository } from './repository.ts';
import { countAdded, keepWithinBudget } from './retention/budget.ts';
import { tidyObjects } from './retention/tidy.ts';
import { requireSandbox } from './sandbox.ts';

export type AutocommitOptions = Omit<CaptureOptions, 'agentEmail' | 'maxFileSize'>;

export function captureTarget(repository: Repository, record: SessionRecord): CaptureTarget {
  return {
    sessionId: record.session_id,
    folder: sessionFolder(record),
    sandbox: record.sandbox,
    commonDir: repository.commonDir,
    stateDir: repository.stateDir,
    shadowRef: record.branch,
    tipRef: tipRef(record.session_id),
    userRef: record.user_branch,
    startCommit: record.from_commit,
  };
}

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

/** For those who hold the session's lock. */
export async function captureSession(
  repository: Repository,
  record: SessionRecord,
  options: AutocommitOptions,
): Promise<CaptureResult> {
  if (record.state !== 'active') {
    throw new AgtError(`session "${record.session_id}" is ${record.state}, not active`, {
      hints: ['see: agt session list --all'],
    });
  }
  requireSandbox(record);
  refuseOwnStore(repository, sessionFolder(record));
  const { agentEmail, maxFileSize } = repository.settings;
  const target = captureTarget(repository, record);
  const result = await capture(repository.git, target, { agentEmail, maxFileSize, ...options });
  if (result.outcome === 'committed' && result.commit !== undefined)
    await countAdded(repository, record, result.commit);
  return result;
}
