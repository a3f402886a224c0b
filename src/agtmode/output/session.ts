/** Prints sessions, as text and as JSON. */

import type { NotCaptured } from '../../autocommit/capture.ts';
import { listSome } from '../../errors.ts';
import { isActive } from '../../filter/session-file.ts';
import { shownId, shownPath } from '../../folders/store.ts';
import { shortBranch, shortOid } from '../../git/files/ref-files.ts';
import type { NewSession } from '../../lifecycle/new.ts';
import { EMPTY_FIELDS, type Landed, type SessionRecord } from '../../session/record.ts';
import type { SessionStatus } from '../../survey/status.ts';
import type { Context } from '../context.ts';
import { age, json, showPath } from './format.ts';

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

/** Readable paths, relative to the sandbox. */
export interface NewFiles extends Partial<Omit<NewSession, 'record'>> {
  /** Uncommitted work that is gone from the user's checkout until a session in place ends. */
  readonly setAside?: readonly string[];
}

export async function printNewSession(
  context: Context,
  record: SessionRecord,
  asJson: boolean,
  files?: NewFiles,
): Promise<void> {
  const { included = [], notIncluded = [], taken = [], staying, setAside = [] } = files ?? {};
  if (asJson) {
    const { paths = [], notRead } = (await staying) ?? {};
    const listed = files && {
      included,
      not_included: notIncluded,
      taken_along: taken,
      left_behind: notRead === undefined ? paths : null,
      set_aside: setAside,
    };
    context.out(json({ ...recordJson(record), ...listed }));
    return;
  }
  const source =
    record.from ?? (record.user_branch === undefined ? undefined : shortBranch(record.user_branch));
  const start = `at ${shortOid(record.from_commit)}${source === undefined ? '' : ` from ${source}`}`;
  const lines = [
    `session  ${record.session_id}`,
    `sandbox  ${record.checkout ?? record.sandbox}`,
    `branch   ${shortBranch(record.work_branch)} ${start}`,
    ...(included.length > 0 ? [`copied   ${included.join(', ')}`] : []),
    ...(taken.length > 0 ? [`taken    ${listPaths(taken)}`] : []),
    ...describeSetAside(setAside).map((text) => `aside    ${text}`),
    ...(record.checkout === undefined || setAside.length > 0
      ? []
      : ['shared   your checkout is the sandbox: what you change there is part of the session']),
  ];
  context.out(`${lines.join('\n')}\n`);
  for (const { path, reason } of notIncluded)
    context.err(`note: ${showPath(path)} was not copied, though .worktreeinclude names it: ${reason}\n`);
  const { paths: left = [], notRead } = (await staying) ?? {};
  if (notRead !== undefined)
    context.err(`note: agt could not look for uncommitted work in your worktree: ${notRead}\n`);
  if (left.length === 0) return;
  context.err(`note: uncommitted work stays in your worktree alone: ${listPaths(left)}\n`);
  if (taken.length === 0) context.err('note: to take it along: agt session new --with-changes\n');
}

/** Nothing, or a phrase. */
export function describeSetAside(paths: readonly string[] = []): string[] {
  return paths.length === 0 ? [] : [`your uncommitted work, until the session ends: ${listPaths(paths)}`];
}

const MOST_LISTED = 5;

function listPaths(paths: readonly string[]): string {
  return listSome(paths.map(showPath), MOST_LISTED);
}
