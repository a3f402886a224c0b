/** How sessions look in JSON and in text, wherever they are printed. */

import type { NotCaptured } from '../../autocommit/capture.ts';
import { shortBranch } from '../../git/files/refnames.ts';
import type { SessionView } from '../../session/inspect.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { Context } from '../context.ts';
import { age, json, showPath } from './format.ts';

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

export function lastAutocommitText(view: SessionView, now: Date): string {
  return view.lastAutocommit === undefined ? 'never' : age(view.lastAutocommit.at, now);
}

/** Each path that could not be captured, and why. */
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
  more: readonly string[],
): void {
  if (asJson) {
    context.out(json(record));
    return;
  }
  const from =
    record.from ?? (record.user_branch === undefined ? undefined : shortBranch(record.user_branch));
  const start = `at ${record.from_commit.slice(0, 10)}${from === undefined ? '' : ` from ${from}`}`;
  const lines = [
    `session  ${record.session_id}`,
    `sandbox  ${record.sandbox}`,
    `branch   ${shortBranch(record.work_branch)} ${start}`,
    ...more,
  ];
  context.out(`${lines.join('\n')}\n`);
}
