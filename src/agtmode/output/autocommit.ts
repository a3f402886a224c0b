/** The result of an autocommit. Files that are missing in the snapshot go to standard error. */
import type { CaptureResult } from '../../autocommit/capture.ts';
import { plural } from '../../errors.ts';
import { shownId, shownPath } from '../../folders/store.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';
import { FILE_STATUS, LETTERS, lines, showPath } from './format.ts';
import { describeNotCaptured } from './session.ts';

/** `isOneOfMany`: say nothing of it if nothing changed, and list no paths. */
export function reportAutocommit(record: SessionRecord, result: CaptureResult, isOneOfMany = false) {
  const { outcome, changes, commit, failed } = result;
  const id = shownId(record);
  const paths = changes.length > 0 ? ` ${plural(changes.length, 'path')}` : '';
  const none = changes.length > 0 ? '' : ' (no file changed)';
  const listed = outcome === 'would-commit' && !isOneOfMany ? changes : [];
  const shown = listed.map(
    ({ path, kind }) => `${LETTERS[FILE_STATUS[kind]]} ${showPath(shownPath(record, path))}`,
  );
  const text = {
    unchanged: isOneOfMany ? '' : `${id}: nothing changed\n`,
    'would-commit': `${lines(shown)}${id}: would capture${paths}${none}\n`,
    committed: `${id}: captured${paths} as ${shortOid(commit ?? '')}${none}\n`,
  }[outcome];
  const notes = describeProblems(record, result);
  return { json: autocommitJson(record, result), text, notes, failed: failed.length > 0 };
}

export function describeProblems(record: SessionRecord, { warnings, skipped, failed }: CaptureResult) {
  const id = shownId(record);
  // agt keeps the repositories inside of a folder beside its snapshots.
  const named = skipped.filter(({ path }) => !isAttached(record) || !path.endsWith('/.git'));
  const notCaptured = named.map(({ path, reason }) => {
    return `not captured: ${showPath(shownPath(record, path))}: ${reason}`;
  });
  const all = [...warnings, ...notCaptured].map((warning) => `warning: ${id}: ${warning}`);
  const end = failed.length > 0 ? `error: ${id}: not everything could be captured\n` : '';
  return `${lines(all)}${describeNotCaptured(record, failed)}${end}`;
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
      status: FILE_STATUS[kind],
    })),
  };
}
