/** One thing that `agt doctor` found. */
import type { CaptureResult } from '../../autocommit/capture.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';

export interface Finding {
  readonly level: 'error' | 'warning' | 'note';
  /** The session, file or setting that has the problem. */
  readonly about: string;
  readonly problem: string;
  /** The command that fixes it, or advice. Also the name of the field in `agt doctor --json`. */
  readonly mend: string;
  /** Fixes it without losing uncaptured work; may return what a person should know. Undefined if a person must decide. */
  readonly fix?: () => unknown;
}

/** The `mend` of what no other command fixes. */
export const FIX = 'agt doctor --fix';

/** They finish or undo operations that were killed. A parameter, because maintenance/ cannot import their rooms. */
export type Finishers = Readonly<
  Record<'restore' | 'accept' | 'unaccept' | 'sync', (session: Session) => Promise<unknown>>
>;

/** A capture that writes nothing. */
export type Preview = (record: SessionRecord) => Promise<CaptureResult>;
