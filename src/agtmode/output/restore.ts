/** How restore, undo and redo print what they did or would do. */
import { EXIT } from '../../errors.ts';
import type { Preview } from '../../timetravel/restore/preview.ts';
import type { Restored } from '../../timetravel/restore/restore.ts';
import type { Context } from '../context.ts';
import { json, plural, showPath } from './format.ts';

/** Returns the exit code. */
export function printRestore(context: Context, restored: Restored, asJson: boolean): number {
  const { record, snapshot, before, commit, changed, mismatches, warnings } = restored;
  const id = record.session_id;
  for (const warning of warnings) context.err(`warning: ${warning}\n`);
  const undo = before === undefined ? undefined : `agt session restore ${id} --to ${before.slice(0, 10)}`;
  if (asJson) {
    const verified = mismatches.length === 0;
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
    const what = `${id}: restored ${plural(changed, 'path')}`;
    context.out(`${what}, ${mismatches.length === 0 ? 'verified' : 'some differ from the snapshot'}\n`);
    if (undo !== undefined) context.out(`to undo: ${undo}\n`);
  }
  if (mismatches.length === 0) return EXIT.done;
  const differing = mismatches.length === 1 ? '1 path differs' : `${mismatches.length} paths differ`;
  context.err(`error: ${differing} from snapshot ${snapshot.commit.slice(0, 10)}:\n`);
  for (const path of mismatches) context.err(`  ${showPath(path)}\n`);
  return EXIT.failed;
}

export function printRestorePreview(context: Context, preview: Preview, asJson: boolean): void {
  const { record, snapshot, paths } = preview;
  if (asJson) {
    context.out(json({ session_id: record.session_id, snapshot: snapshot.commit, paths }));
    return;
  }
  for (const { kind, path } of paths) context.out(`${kind} ${showPath(path)}\n`);
  context.out(
    `${record.session_id}: would restore ${plural(paths.length, 'path')} to ${snapshot.commit.slice(0, 10)}\n`,
  );
}
