/** One thing that `agt doctor` found. */
import type { Repository } from '../../repository/repository.ts';
import type { SessionRecord } from '../../session/record.ts';

export interface Finding {
  readonly level: 'error' | 'warning' | 'note';
  /** The session, file or setting that it is about. */
  readonly about: string;
  readonly problem: string;
  /** The command that puts it right, or what to do. */
  readonly mend: string;
  /** Puts it right; left out where a person has to decide. Nothing that was not captured is lost by it. */
  readonly fix?: () => unknown;
}

/** Finishes a restore that was killed. The caller passes it in: restores live above this room. */
export type FinishRestore = (repository: Repository, record: SessionRecord) => Promise<void>;
