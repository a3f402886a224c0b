/** Sessions as text and as JSON. */
import type { NotCaptured } from '../../autocommit/capture.ts';
import { isActive } from '../../filter/session-file.ts';
import { shownId, shownPath } from '../../folders/store.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { EMPTY_FIELDS, type Landed, type SessionRecord } from '../../session/record.ts';
import type { SessionStatus } from '../../survey/status.ts';
import { age, showPath } from './format.ts';

/** Metadata as docs/guide/json.md has them: there `branch` is nothing, because a session has three. */
export function recordJson({ branch, landed, ...record }: SessionRecord) {
  return { ...EMPTY_FIELDS, ...record, shadow_branch: branch, ...(landed && { landed: landedJson(landed) }) };
}

function landedJson({ from, onto, ...landed }: Landed) {
  return { ...landed, onto: shortBranch(onto), onto_before: from };
}

export function sessionJson(status: SessionStatus) {
  return {
    ...recordJson(status.record),
    folder: status.folder,
    sandbox_present: status.isOutOfSight ? null : status.sandboxPresent,
    running: status.running ?? null,
    operation: status.operation ?? null,
    head: status.head ?? null,
    head_commit: status.headCommit ?? null,
    ahead: status.ahead ?? null,
    behind: status.behind ?? null,
    dirty: status.dirty ?? null,
    diff: status.diff ?? null,
    merge: status.merge ?? null,
    merged: status.merged,
    on_remote: status.exported,
    autocommits: status.autocommits ?? null,
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

/** One word for the state of a session, or two: what a person has to know first. */
export function shownState(status: SessionStatus): string {
  const { record, sandboxPresent, isOutOfSight, hasMoved, operation, running } = status;
  if (!isActive(record)) return record.state;
  if (!sandboxPresent && !isOutOfSight) return hasMoved ? 'sandbox moved' : 'sandbox missing';
  if (record.state === 'failed') return 'failed';
  if (record.intent !== undefined) return `${record.intent.operation} unfinished`;
  if (operation !== undefined) return `in a ${operation}`;
  return running === true ? 'running' : record.state;
}

/** Each path that could not be captured, and why. */
export function describeNotCaptured(record: SessionRecord, failed: readonly NotCaptured[]): string {
  const lines = failed.map(
    ({ path, reason }) => `error: ${shownId(record)}: ${showPath(shownPath(record, path))} ${reason}\n`,
  );
  return lines.join('');
}
