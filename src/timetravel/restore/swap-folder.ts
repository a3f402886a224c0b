/** Restores the files of a session by a swap, if it changes many paths and nothing is in the way. */
import type { KnownContent } from '../../autocommit/scan/scan-options.ts';
import type { LockedSession } from '../../session/lock.ts';
import type { SessionRecord } from '../../session/record.ts';
import { trySwap } from '../swap/swap.ts';
import { type FilesToRestore, pathsOf, type RestoredFiles } from './restore-files.ts';

interface Start extends FilesToRestore {
  /** The session with the intent to restore. */
  readonly begun: SessionRecord;
}

interface SwappedFolder<S> extends RestoredFiles {
  /** With the metadata of the folder that is in place now. */
  readonly start: S;
  /** The content of the files that came with that folder. */
  readonly known: KnownContent;
}

/** Undefined if agt has to write the files. */
export async function swapFolder<S extends Start>(
  session: LockedSession,
  start: S,
): Promise<SwappedFolder<S> | undefined> {
  const { before, plan, wanted } = start;
  if (before === undefined || plan === undefined) return undefined;
  const changed = new Set(pathsOf(plan)).size;
  const request = { begun: start.begun, before, plan, size: changed, wanted: wanted.commit };
  const swapped = await trySwap(session, request);
  if (swapped === undefined) return undefined;
  const { begun, known } = swapped;
  const record = { ...start.record, ...(begun.token && { token: begun.token }) };
  return { start: { ...start, begun, record }, known, changed, warnings: [], whole: undefined };
}
