/** Prints the result of an autocommit. Files that are missing in the snapshot go to standard error. */
import type { CaptureResult } from '../../autocommit/capture.ts';
import { shownId, shownPath } from '../../folders/store.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { Report } from '../command-line/command.ts';
import type { Context } from '../context.ts';
import { plural, showPath } from './format.ts';
import { printNotCaptured } from './session.ts';
import { fileStatus, LETTERS } from './vocabulary.ts';

/** `isOneOfMany`: say nothing of it if nothing changed, and list no paths. */
export function printAutocommit(
  context: Context,
  record: SessionRecord,
  result: CaptureResult,
  isOneOfMany = false,
): void {
  printProblems(context, record, result);
  const { outcome, changes, commit } = result;
  const id = shownId(record);
  if (outcome === 'unchanged') {
    if (!isOneOfMany) context.out(`${id}: nothing changed\n`);
    return;
  }
  if (outcome === 'would-commit' && !isOneOfMany)
    for (const { path, kind } of changes)
      context.out(`${LETTERS[fileStatus(kind)]} ${showPath(shownPath(record, path))}\n`);
  const paths = plural(changes.length, 'path');
  if (outcome === 'would-commit') context.out(`${id}: would capture ${paths}\n`);
  else context.out(`${id}: captured ${paths} as ${shortOid(commit ?? '')}\n`);
}

export function reportAutocommit(
  context: Context,
  record: SessionRecord,
  result: CaptureResult,
  { json, all = false }: { readonly json: boolean; readonly all?: boolean },
): Omit<Report, 'text'> {
  if (!json) printAutocommit(context, record, result, all);
  return { json: autocommitJson(record, result), failed: result.failed.length > 0 };
}

export function printProblems(
  context: Context,
  record: SessionRecord,
  { warnings, skipped, failed }: CaptureResult,
): void {
  const id = shownId(record);
  for (const warning of warnings) context.err(`warning: ${id}: ${warning}\n`);
  for (const { path, reason } of skipped)
    context.err(`warning: ${id}: not captured: ${showPath(shownPath(record, path))}: ${reason}\n`);
  printNotCaptured(context, record, failed);
  if (failed.length > 0) context.err(`error: ${id}: not everything could be captured\n`);
}

export function autocommitJson(record: SessionRecord, { seen: _, ...result }: CaptureResult) {
  const named = <T extends { readonly path: string }>(entry: T) => ({
    ...entry,
    path: shownPath(record, entry.path),
  });
  return {
    session_id: record.session_id,
    ...result,
    skipped: result.skipped.map(named),
    failed: result.failed.map(named),
    commit: result.commit ?? null,
    changes: result.changes.map(({ path, kind }) => ({
      path: shownPath(record, path),
      status: fileStatus(kind),
    })),
  };
}
