/** `agt du --folders`: the folders that have snapshots without a session, and the disk space of each. */
import { existsSync } from 'node:fs';
import { showSize } from '../../config/values.ts';
import { EXIT, exitCodeFor, formatError, worstExitCode } from '../../errors.ts';
import { objectStoreSize } from '../../git/objects/object-store.ts';
import { readChain } from '../../maintenance/retention/chain.ts';
import { listStores, openListedStore } from '../../session/attached/store.ts';
import type { Context } from '../context.ts';
import { age, json, plural, showPath, table } from './format.ts';

interface FolderUse {
  readonly folder: string;
  readonly exists: boolean;
  readonly store: string;
  readonly snapshots: number;
  readonly last: Date | undefined;
  readonly bytes: number;
}

/** Returns the exit code. A store that cannot be read is named, and the others are shown. */
export async function printFolders(context: Context, asJson: boolean): Promise<number> {
  const access = context.folderAccess();
  const uses: FolderUse[] = [];
  const errors: unknown[] = [];
  for (const store of listStores(access)) {
    try {
      const use = await measure(context, store);
      if (use !== undefined) uses.push(use);
    } catch (error) {
      errors.push(error);
    }
  }
  const total = uses.reduce((sum, { bytes }) => sum + bytes, 0);
  if (asJson) context.out(json({ folders: uses.map(useJson), total }));
  else context.out(`${table(uses.map((use) => row(use, context.now())))}total ${showSize(total)}\n`);
  for (const error of errors) context.err(formatError(error, false));
  return errors.length === 0 ? EXIT.done : worstExitCode(errors.map(exitCodeFor));
}

async function measure(context: Context, store: string): Promise<FolderUse | undefined> {
  const session = openListedStore(context.folderAccess(), store);
  if (session === undefined) return undefined;
  const { repository, record } = session;
  const folder = record.checkout ?? record.sandbox;
  const { snapshots } = await readChain(repository, record);
  return {
    folder,
    exists: existsSync(folder),
    store,
    snapshots: snapshots.length,
    last: snapshots[0]?.time,
    bytes: objectStoreSize(`${repository.commonDir}/objects`),
  };
}

function useJson({ last, ...use }: FolderUse) {
  return { ...use, last_at: last?.toISOString() ?? null };
}

function row({ folder, exists, snapshots, last, bytes }: FolderUse, now: Date): string[] {
  return [
    showPath(folder),
    plural(snapshots, 'snapshot'),
    last === undefined ? '' : age(last, now),
    showSize(bytes),
    exists ? '' : 'the folder is gone',
  ];
}
