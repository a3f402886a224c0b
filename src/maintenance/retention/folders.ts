/** `agt gc --folders`: shortens the histories of all attached folders, and frees the disk space of what goes. */
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { stateHome } from '../../disk/state-home.ts';
import { trimKept } from '../../folders/git-state/trim.ts';
import { type FolderAccess, listStores, openListedStore } from '../../folders/store.ts';
import { lastTidyFile } from '../../layout.ts';
import { retryAfterChange, withSessionLock } from '../../session/lock.ts';
import type { Session } from '../../session/session.ts';
import { applyRetention } from './gc.ts';
import { planRetention, type SessionPlan } from './plan.ts';
import { previewPrune, pruneAndRepack } from './prune.ts';

export interface FolderOutcome {
  readonly store: string;
  readonly folder: string | undefined;
  /** The snapshots that went, or would go; undefined if none does. */
  readonly plan?: SessionPlan | undefined;
  /** Bytes of the object store that were freed, or that would be. */
  readonly freed: number;
  readonly error?: unknown;
}

export interface FoldersRequest {
  readonly thin: boolean;
  readonly now: Date;
  /** In git's words. */
  readonly pruneBefore: string;
  readonly dryRun: boolean;
}

/**
 * Only agt writes into a store, and no capture runs while agt deletes objects. An hour is for other readers, such as a fork
 * of a snapshot that goes.
 */
export const PRUNE_FOLDERS_BEFORE = '1.hour.ago';

/** One store after the other; if one fails, agt continues with the next. */
export async function tidyFolders(access: FolderAccess, request: FoldersRequest): Promise<FolderOutcome[]> {
  const outcomes: FolderOutcome[] = [];
  for (const store of listStores(access)) {
    let session: Session | undefined;
    try {
      session = openListedStore(access, store);
      if (session !== undefined) outcomes.push(await tidyFolder(store, session, request));
    } catch (error) {
      outcomes.push({ store, folder: session?.record.checkout, freed: 0, error });
    }
  }
  return outcomes;
}

async function tidyFolder(
  store: string,
  session: Session,
  { thin, now, pruneBefore, dryRun }: FoldersRequest,
): Promise<FolderOutcome> {
  const { repository, record } = session;
  const of = { store, folder: record.checkout };
  if (dryRun) {
    const { plans, total } = await retryAfterChange(() => planRetention(repository, { thin, now }));
    const { expired } = await previewPrune(repository, pruneBefore);
    return { ...of, plan: plans[0], freed: total + expired };
  }
  const { outcomes, failures } = await applyRetention(repository, { thin, now });
  const { before, after } = await retryAfterChange(() => pruneAndRepack(repository, pruneBefore));
  const trimmed = await withSessionLock(session, trimKept);
  const freed = Math.max(0, before - after) + trimmed;
  return { ...of, plan: outcomes[0]?.plan, freed, error: failures[0]?.error };
}

const DAY_MS = 86_400_000;

/** Whether agt has not tidied the folders for a day. The next caller gets "no". */
export function isTidyDue(access: FolderAccess, now: Date): boolean {
  const state = stateHome(access.env);
  if (state === undefined || listStores(access).length === 0) return false;
  const file = lastTidyFile(state);
  const last = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (now.getTime() - last < DAY_MS) return false;
  writeFileSync(file, '');
  utimesSync(file, now, now);
  return true;
}
