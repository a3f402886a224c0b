/** Prints sessions, as text and as JSON. */

import type { NotCaptured } from '../../autocommit/capture.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { SessionStatus } from '../../session/status.ts';
import type { Context } from '../context.ts';
import { age, json, shortOid, showPath } from './format.ts';

export function sessionJson(status: SessionStatus) {
  return {
    ...status.record,
    folder: status.folder,
    sandbox_present: status.sandboxPresent,
    head: status.head ?? null,
    head_commit: status.headCommit ?? null,
    ahead: status.ahead ?? null,
    autocommits: status.autocommits,
    last_autocommit: status.lastAutocommit?.commit ?? null,
    last_autocommit_at: status.lastAutocommit?.time.toISOString() ?? null,
    last_complete_at: status.lastComplete?.toISOString() ?? null,
  };
}

export function lastAutocommitAge(status: SessionStatus, now: Date): string {
  return status.lastAutocommit === undefined ? 'never' : age(status.lastAutocommit.time, now);
}

/** The branch that is checked out in the sandbox; without a sandbox, the work branch. */
export function currentBranch(status: SessionStatus): string {
  return status.head ?? (status.sandboxPresent ? '(detached)' : shortBranch(status.record.work_branch));
}

/** Prints each path that could not be captured, and why. */
export function printNotCaptured(
  context: Context,
  record: SessionRecord,
  failed: readonly NotCaptured[],
): void {
  for (const { path, reason } of failed)
    context.err(`error: ${record.session_id}: ${showPath(path)} ${reason}\n`);
}

export function printNewSession(
  context: Context,
  record: SessionRecord,
  asJson: boolean,
  copiedFiles: readonly string[] = [],
): void {
  if (asJson) {
    context.out(json(record));
    return;
  }
  const source =
    record.from ?? (record.user_branch === undefined ? undefined : shortBranch(record.user_branch));
  const start = `at ${shortOid(record.from_commit)}${source === undefined ? '' : ` from ${source}`}`;
  const lines = [
    `session  ${record.session_id}`,
    `sandbox  ${record.sandbox}`,
    `branch   ${shortBranch(record.work_branch)} ${start}`,
    ...(copiedFiles.length > 0 ? [`copied   ${copiedFiles.join(', ')}`] : []),
  ];
  context.out(`${lines.join('\n')}\n`);
}
