/** How the result of a capture looks: in JSON, and as text with what was left out on standard error. */
import type { CaptureResult } from '../../autocommit/capture.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { Context } from '../context.ts';
import { plural, showPath } from './format.ts';
import { printNotCaptured } from './session.ts';

export interface AutocommitPrinting {
  readonly quietWhenUnchanged: boolean;
  /** Each path on a line of its own. */
  readonly list: boolean;
}

export function printAutocommit(
  context: Context,
  record: SessionRecord,
  result: CaptureResult,
  options: AutocommitPrinting,
): void {
  for (const warning of result.warnings) context.err(`warning: ${record.session_id}: ${warning}\n`);
  for (const { path, reason } of result.skipped) {
    context.err(`warning: ${record.session_id}: not captured: ${showPath(path)}: ${reason}\n`);
  }
  printNotCaptured(context, record, result.failed);
  const { outcome, changes, commit, failed } = result;
  if (failed.length > 0) context.err(`error: ${record.session_id}: not everything could be captured\n`);
  if (outcome === 'unchanged') {
    if (!options.quietWhenUnchanged) context.out(`${record.session_id}: nothing changed\n`);
    return;
  }
  if (options.list) {
    const letters = { added: 'A', changed: 'M', deleted: 'D', mode: 'M' };
    for (const { path, kind } of changes) context.out(`${letters[kind]} ${showPath(path)}\n`);
  }
  const what = plural(changes.length, 'path');
  if (outcome === 'would-commit') context.out(`${record.session_id}: would capture ${what}\n`);
  else context.out(`${record.session_id}: captured ${what} as ${commit?.slice(0, 10)}\n`);
}

export function autocommitJson(record: SessionRecord, result: CaptureResult) {
  return { session_id: record.session_id, ...result, commit: result.commit ?? null };
}
