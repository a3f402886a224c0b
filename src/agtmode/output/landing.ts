/** Prints the results of accept, unaccept, reject and sync. */

import { displayPath } from '../../disk/path-bytes.ts';
import { listSome } from '../../errors.ts';
import { shortBranch, shortOid } from '../../git/files/ref-files.ts';
import type { DiffEntry } from '../../git/objects/raw-diff.ts';
import type { AcceptResult } from '../../landing/accept-request.ts';
import type { rejectSession } from '../../landing/reject.ts';
import type { SyncResult } from '../../landing/sync.ts';
import type { UnacceptResult } from '../../landing/unaccept.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import type { Report } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { plural, showPath, verb } from './format.ts';
import { changeStatus, LETTERS } from './vocabulary.ts';

/** Paths that a text lists; JSON has all. */
const LISTED = 20;

export function reportAccept(result: AcceptResult, dryRun: boolean): Report {
  const { record, onto, from, commit, worktree, changes, leftOut, kept, warnings } = result;
  const json = {
    session_id: record.session_id,
    state: record.state,
    onto: shortBranch(onto),
    onto_before: from,
    commit: commit ?? null,
    message: result.message ?? null,
    files: changes.map(fileJson),
    untracked: (result.untracked ?? []).map(displayPath),
    left_out: leftOut,
    worktree: worktree ?? null,
    kept,
    warnings,
    dry_run: dryRun,
  };
  return { json, text: describeAccept(result) };
}

function fileJson({ path, before, after, insertions, removals }: DiffEntry) {
  return {
    path: displayPath(path),
    status: changeStatus({ before, after }),
    insertions: insertions ?? null,
    deletions: removals ?? null,
  };
}

function describeAccept(result: AcceptResult): string {
  const { record, onto, commit, worktree, changes, leftOut, kept } = result;
  const { session_id: id } = record;
  const untracked = new Set(result.untracked);
  const branch = shortBranch(onto);
  const done = commit !== undefined;
  const lines = [
    `${done ? 'accepted' : 'would accept'} ${id}: ${summaryOf(changes)}`,
    ...changes
      .slice(0, LISTED)
      .map(
        (change) =>
          `  ${LETTERS[changeStatus(change)]} ${showPath(displayPath(change.path))}${untracked.has(change.path) ? '  (untracked)' : ''}`,
      ),
    ...(changes.length > LISTED ? [`  … and ${changes.length - LISTED} more`] : []),
    ...(leftOut.length > 0 ? [`left out ${listOf(leftOut)}`] : []),
    `branch   ${branch}${commit === undefined ? '' : ` is at ${shortOid(commit)}`}`,
    ...(worktree === undefined ? [] : [`worktree ${worktree} ${done ? 'follows' : 'would follow'}`]),
  ];
  if (!done) return text([...lines, ...indented(result.message)]);
  const back = `agt session unaccept ${id}`;
  lines.push(
    kept ? `session  ${id} goes on` : `removed  ${sessionFolder(record)}`,
    kept ? `undo     ${back}` : `undo     ${back}, or for the session alone: agt undo ${id}`,
  );
  return text(lines);
}

/** As `git log` shows a message. */
function indented(message: string | undefined): string[] {
  return message === undefined ? [] : ['', ...message.split('\n').map((line) => `    ${line}`.trimEnd())];
}

function summaryOf(changes: readonly DiffEntry[]): string {
  const sum = (count: (change: DiffEntry) => number | undefined) =>
    changes.reduce((total, change) => total + (count(change) ?? 0), 0);
  const added = sum(({ insertions }) => insertions);
  const removed = sum(({ removals }) => removals);
  return `${plural(changes.length, 'file')} changed, +${added} -${removed}`;
}

function listOf(paths: readonly string[]): string {
  return listSome(paths.map(showPath), LISTED);
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

export function reportUnaccept(result: UnacceptResult, dryRun: boolean): Report {
  const { record, onto, commit, tip, worktree, changes, restored } = result;
  const { session_id: id } = record;
  const report = {
    session_id: id,
    state: record.state,
    onto: shortBranch(onto),
    undone: commit,
    commit: tip,
    files: changes.map(fileJson),
    worktree: worktree ?? null,
    sandbox_restored: restored,
    dry_run: dryRun,
  };
  const [took, is, isBack] = dryRun ? ['would take', 'would go', 'would be'] : ['took', 'is', 'is'];
  const lines = [
    `${took} back the acceptance of ${id}: ${summaryOf(changes)}`,
    `branch   ${shortBranch(onto)} ${is} back at ${shortOid(tip)} (was ${shortOid(commit)})`,
    ...(restored ? [`session  ${id} ${isBack} back in ${record.sandbox}`] : []),
  ];
  return { json: report, text: text(lines) };
}

export function reportReject(
  { session_id: id, work_branch, branch, checkout, user_branch: home = '' }: SessionRecord,
  { plan, ignored }: Awaited<ReturnType<typeof rejectSession>>,
  reason: string | undefined,
  dryRun: boolean,
): Report {
  const report = {
    session_id: id,
    state: dryRun ? plan.record.state : 'rejected',
    reason: reason ?? null,
    folder: plan.folder ?? null,
    ignored,
    dry_run: dryRun,
  };
  const lines = [
    `${verb(dryRun, 'rejected', 'reject')} ${id}`,
    ...(checkout === undefined
      ? []
      : [`${verb(dryRun, 'returned', 'return')} ${checkout} to ${shortBranch(home)}`]),
    ...(checkout !== undefined || plan.folder === undefined
      ? []
      : [`${verb(dryRun, 'removed', 'remove')}  ${plan.folder}`]),
    `${verb(dryRun, 'deleted', 'delete')}  branch ${shortBranch(work_branch)}`,
    `${verb(dryRun, 'kept', 'keep')}     its snapshots on ${shortBranch(branch)} until agt gc; agt undo ${id} brings it back`,
    ...(ignored.length > 0 ? [`no snapshot has ${listOf(ignored)}, because of .agtignore`] : []),
  ];
  return { json: report, text: text(lines) };
}

export function reportSync(
  context: Context,
  result: SyncResult,
  { json, 'dry-run': dryRun }: { readonly json: boolean; readonly 'dry-run': boolean },
): Report {
  const { record, branch, commits, head, conflicts, operation } = result;
  const isBlocked = commits > 0 && conflicts.length > 0;
  if (isBlocked && !json) context.err(describeConflicts(result, dryRun));
  const report = {
    session_id: record.session_id,
    branch,
    commits,
    head_commit: head,
    operation,
    conflicts,
    dry_run: dryRun,
  };
  const text = isBlocked ? '' : describeSync(result, dryRun);
  return { json: report, text, failed: conflicts.length > 0 };
}

function describeSync({ record, branch, commits, head, operation }: SyncResult, dryRun: boolean): string {
  const { session_id: id } = record;
  if (commits === 0) return `${id} has all commits of ${branch}\n`;
  const count = `${plural(commits, 'commit')} of ${branch}`;
  if (dryRun) return `would ${operation} ${count} into ${id}\n`;
  return `${operation}d ${count} into ${id}, which is at ${shortOid(head)}\n`;
}

function describeConflicts({ record, branch, conflicts, operation }: SyncResult, dryRun: boolean): string {
  const { session_id: id, sandbox } = record;
  const files = `${plural(conflicts.length, 'file')}: ${listOf(conflicts)}`;
  if (dryRun) return `error: ${branch} would conflict with ${id} in ${files}\n`;
  const end = operation === 'merge' ? 'git commit' : 'git rebase --continue';
  return text([
    `error: ${branch} conflicts with ${id} in ${files}`,
    `hint: solve them in ${sandbox}, then: git add FILE… && ${end}`,
    `hint: or go back: agt undo ${id}`,
  ]);
}
