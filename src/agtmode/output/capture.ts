/** How the result of a capture looks: in JSON, and as text with what was left out on standard error. */
import type { CaptureResult } from '../../autocommit/capture.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { Program } from '../program.ts';
import { plural, showPath } from './print.ts';
import { printFailed } from './session.ts';

export interface CapturePrinting {
  readonly quietWhenUnchanged: boolean;
  /** Each path on a line of its own. */
  readonly list: boolean;
}

export function printCapture(
  program: Program,
  record: SessionRecord,
  result: CaptureResult,
  options: CapturePrinting,
): void {
  for (const warning of result.warnings) program.err(`warning: ${record.session_id}: ${warning}\n`);
  for (const { path, reason } of result.skipped) {
    program.err(`warning: ${record.session_id}: not captured: ${showPath(path)}: ${reason}\n`);
  }
  printFailed(program, record, result.failed);
  const { outcome, changes, commit, failed } = result;
  if (failed.length > 0) program.err(`error: ${record.session_id}: not everything could be captured\n`);
  if (outcome === 'unchanged') {
    if (!options.quietWhenUnchanged) program.out(`${record.session_id}: nothing changed\n`);
    return;
  }
  if (options.list) {
    const letters = { added: 'A', changed: 'M', deleted: 'D', mode: 'M' };
    for (const { path, kind } of changes) program.out(`${letters[kind]} ${showPath(path)}\n`);
  }
  const what = plural(changes.length, 'path');
  if (outcome === 'would-commit') program.out(`${record.session_id}: would capture ${what}\n`);
  else program.out(`${record.session_id}: captured ${what} as ${commit?.slice(0, 10)}\n`);
}

export function captureJson(record: SessionRecord, result: CaptureResult) {
  return { session_id: record.session_id, ...result, commit: result.commit ?? null };
}
