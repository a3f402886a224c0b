/** How restore, undo and redo print what they did or would do. */
import { EXIT } from '../../errors.ts';
import type { Preview } from '../../timetravel/restore/preview.ts';
import type { Restored } from '../../timetravel/restore/restore.ts';
import type { Program } from '../program.ts';
import { json, plural, showPath } from './print.ts';

/** Returns the exit code. */
export function printRestored(program: Program, restored: Restored, asJson: boolean): number {
  const { record, snapshot, before, commit, changed, mismatches, warnings } = restored;
  const id = record.session_id;
  for (const warning of warnings) program.err(`warning: ${warning}\n`);
  const undo = before === undefined ? undefined : `agt session restore ${id} --to ${before.slice(0, 10)}`;
  if (asJson) {
    const verified = mismatches.length === 0;
    program.out(
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
    program.out(`${what}, ${mismatches.length === 0 ? 'verified' : 'some differ from the snapshot'}\n`);
    if (undo !== undefined) program.out(`to undo: ${undo}\n`);
  }
  if (mismatches.length === 0) return EXIT.done;
  const differing = mismatches.length === 1 ? '1 path differs' : `${mismatches.length} paths differ`;
  program.err(`error: ${differing} from snapshot ${snapshot.commit.slice(0, 10)}:\n`);
  for (const path of mismatches) program.err(`  ${showPath(path)}\n`);
  return EXIT.failed;
}

export function printPreview(program: Program, preview: Preview, asJson: boolean): void {
  const { record, snapshot, paths } = preview;
  if (asJson) {
    program.out(json({ session_id: record.session_id, snapshot: snapshot.commit, paths }));
    return;
  }
  for (const { kind, path } of paths) program.out(`${kind} ${showPath(path)}\n`);
  program.out(
    `${record.session_id}: would restore ${plural(paths.length, 'path')} to ${snapshot.commit.slice(0, 10)}\n`,
  );
}
