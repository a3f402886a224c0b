/** Captures a session: the bridge from its metadata to src/autocommit, which knows folders and refs alone. */
import { type CaptureResult, capture } from '../autocommit/capture.ts';
import type { CaptureOptions, CaptureTarget } from '../autocommit/request.ts';
import { AgtError } from '../errors.ts';
import { refuseRepositoryInside } from '../repository/refused-folders.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, sessionFolder, tipRef } from './record.ts';
import { requireSandbox } from './sandbox.ts';
import { countAdded } from './usage.ts';

export type AutocommitOptions = Omit<CaptureOptions, 'agentEmail' | 'maxFileSize'>;

export function captureTarget(repository: Repository, record: SessionRecord): CaptureTarget {
  return {
    sessionId: record.session_id,
    folder: sessionFolder(record),
    sandbox: record.sandbox,
    commonDir: repository.commonDir,
    agtDir: repository.agtDir,
    shadowRef: record.branch,
    tipRef: tipRef(record.session_id),
    userRef: record.user_branch,
    startCommit: record.from_commit,
  };
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
  refuseRepositoryInside(repository, sessionFolder(record));
  const { agentEmail, maxFileSize } = repository.settings;
  const target = captureTarget(repository, record);
  const result = await capture(repository.git, target, { agentEmail, maxFileSize, ...options });
  if (result.outcome === 'committed' && result.commit !== undefined)
    await countAdded(repository, record, result.commit);
  return result;
}
