/** Prints what restore, undo and redo did or would do. */
import { EXIT } from '../../errors.ts';
import type { Preview } from '../../timetravel/restore/preview.ts';
import type { RestoreResult } from '../../timetravel/restore/restore.ts';
import type { Context } from '../context.ts';
import { json, plural, shortOid, showPath } from './format.ts';

/** Returns the exit code. */
export function printRestore(context: Context, restored: RestoreResult, asJson: boolean): number {
  const { record, snapshot, before, commit, changed, mismatches, warnings } = restored;
  const id = record.session_id;
  const verified = mismatches.length === 0;
  const undo = before === undefined ? undefined : `agt session restore ${id} --to ${shortOid(before)}`;
  for (const warning of warnings) context.err(`warning: ${warning}\n`);
  if (asJson) {
    context.out(
      json({
        session_id: id,
        snapshot: snapshot.commit,
        before,
        commit,
        changed,
        verified,
        mismatches,
        undo,
      }),
    );
  } else {
    const result = verified ? 'verified' : 'some differ from the snapshot';
    context.out(`${id}: restored ${plural(changed, 'path')}, ${result}\n`);
    if (undo !== undefined) context.out(`to undo: ${undo}\n`);
  }
  if (verified) return EXIT.done;
  const differing = mismatches.length === 1 ? '1 path differs' : `${mismatches.length} paths differ`;
  context.err(`error: ${differing} from snapshot ${shortOid(snapshot.commit)}:\n`);
  for (const path of mismatches) context.err(`  ${showPath(path)}\n`);
  return EXIT.failed;
}

export function printRestorePreview(context: Context, preview: Preview, asJson: boolean): void {
  const { record, snapshot, paths } = preview;
  const id = record.session_id;
  if (asJson) {
    context.out(json({ session_id: id, snapshot: snapshot.commit, paths }));
    return;
  }
  for (const { kind, path } of paths) context.out(`${kind} ${showPath(path)}\n`);
  context.out(`${id}: would restore ${plural(paths.length, 'path')} to ${shortOid(snapshot.commit)}\n`);
}
