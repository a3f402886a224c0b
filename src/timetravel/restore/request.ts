/** The request of `agt session restore`, `undo` and `redo`. */
import type { Snapshot } from '../../snapshot/history.ts';

export interface RestoreRequest {
  /** Top-level folders, or paths in them: relative to the session folder, one byte per character. */
  readonly scope: readonly string[];
  readonly by: 'restore' | 'undo' | 'redo';
  readonly now: Date;
  /** Chooses the snapshot. `hasUncaptured`: the folder differs from its last snapshot, as it may in a preview. */
  readonly choose: (hasUncaptured: boolean) => Promise<Snapshot>;
}
