/** `agt du --folders`: the folders that have snapshots without a session, and the disk space of each. */
import { existsSync } from 'node:fs';
import { showSize } from '../../config/values.ts';
import { AgtError, EXIT, exitCodeFor, formatError, isAgtError, worstExitCode } from '../../errors.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { type AttachedSession, listStores, openListedStore } from '../../folders/store.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import { objectStoreSize } from '../../git/objects/object-store.ts';
import { readChain } from '../../maintenance/retention/chain.ts';
import { beginAnew, bringBack } from '../../session/advised-commands.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import type { Context } from '../context.ts';
import { age, errorJson, json, plural, showPath, table } from './format.ts';

interface FolderUse {
  readonly folder: string;
  readonly exists: boolean;
  readonly store: string;
  /** Undefined if they cannot be read. */
  readonly snapshots: number | undefined;
  readonly last: Date | undefined;
  readonly bytes: number;
  /** Why they cannot. */
  readonly error?: unknown;
}

/** Returns the exit code. A store that cannot be read is named, and the others are shown. */
export async function printFolders(context: Context, asJson: boolean): Promise<number> {
  const access = context.folderAccess();
  const uses: FolderUse[] = [];
  const errors: unknown[] = [];
  for (const store of listStores(access)) {
    try {
      const use = await measure(context, store);
      if (use?.error !== undefined) errors.push(use.error);
      if (use !== undefined) uses.push(use);
    } catch (error) {
      errors.push(error);
    }
  }
  const total = uses.reduce((sum, { bytes }) => sum + bytes, 0);
  if (asJson) context.out(json({ folders: uses.map(useJson), total }));
  else context.out(`${table(uses.map((use) => row(use, context.now())))}total ${showSize(total)}\n`);
  for (const error of errors) context.err(formatError(error, false));
  const gone = uses.find(({ exists, snapshots }) => !exists && snapshots !== undefined);
  if (gone !== undefined && !asJson) context.err(`hint: to bring a folder back: ${bringBack(gone.folder)}\n`);
  return errors.length === 0 ? EXIT.done : worstExitCode(errors.map(exitCodeFor));
}

async function measure(context: Context, store: string): Promise<FolderUse | undefined> {
  const session = openListedStore(context.folderAccess(), store);
  if (session === undefined) return undefined;
  const { repository, record } = session;
  const folder = record.checkout ?? record.sandbox;
  const bytes = objectStoreSize(`${repository.commonDir}/objects`);
  const about = { folder, exists: existsSync(folder), store, bytes };
  try {
    const snapshots = await readSnapshots(session);
    return { ...about, snapshots: snapshots.length, last: snapshots[0]?.time };
  } catch (error) {
    return { ...about, snapshots: undefined, last: undefined, error: unreadable(session, error) };
  }
}

/** @throws AgtError also where git has no answer but "no". */
async function readSnapshots({ repository, record }: AttachedSession): Promise<readonly Snapshot[]> {
  if ((await findObject(repository.git, tipRef(record.session_id))) === undefined)
    throw new AgtError(`its store is damaged: ${repository.commonDir}`);
  return (await readChain(repository, record)).snapshots;
}

function unreadable({ repository, record }: AttachedSession, error: unknown): unknown {
  if (!isAgtError(error)) return error;
  const { message, hints, exitCode } = error;
  const folder = showPath(record.checkout ?? record.sandbox);
  return new AgtError(`cannot read the snapshots of ${folder}: ${message}`, {
    hints: hints.length === 0 ? [beginAnew(repository.commonDir)] : hints,
    exitCode,
  });
}

function useJson({ last, snapshots, error, ...use }: FolderUse) {
  const why = error === undefined ? {} : errorJson(error);
  return { ...use, snapshots: snapshots ?? null, last_at: last?.toISOString() ?? null, ...why };
}

function row({ folder, exists, snapshots, last, bytes }: FolderUse, now: Date): string[] {
  return [
    showPath(folder),
    snapshots === undefined ? 'unreadable' : plural(snapshots, 'snapshot'),
    last === undefined ? '' : age(last, now),
    showSize(bytes),
    exists ? '' : 'the folder is gone',
  ];
}
