/** Prints sessions, as text and as JSON. */

import type { NotCaptured } from '../../autocommit/capture.ts';
import { shortBranch } from '../../git/files/refnames.ts';
import type { SessionView } from '../../session/inspect.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { Context } from '../context.ts';
import { age, json, shortOid, showPath } from './format.ts';

export function sessionJson(view: SessionView) {
  return {
    ...view.record,
    folder: view.folder,
    sandbox_present: view.sandboxPresent,
    head: view.head ?? null,
    head_commit: view.headCommit ?? null,
    ahead: view.ahead ?? null,
    autocommits: view.autocommits,
    last_autocommit: view.lastAutocommit?.commit ?? null,
    last_autocommit_at: view.lastAutocommit?.at.toISOString() ?? null,
    last_complete_at: view.lastComplete?.toISOString() ?? null,
  };
}

export function lastAutocommitAge(view: SessionView, now: Date): string {
  return view.lastAutocommit === undefined ? 'never' : age(view.lastAutocommit.at, now);
}

/** The branch that is checked out in the sandbox; without a sandbox, the work branch. */
export function currentBranch(view: SessionView): string {
  return view.head ?? (view.sandboxPresent ? '(detached)' : shortBranch(view.record.work_branch));
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
