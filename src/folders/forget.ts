/** Deletes the store of an attached folder with all of its snapshots. The folder itself stays as it is. */

import { mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { removeTree } from '../disk/remove-tree.ts';
import { stateHome } from '../disk/state-home.ts';
import { newStorePrefix } from '../layout.ts';
import { withSessionLock } from '../session/lock.ts';
import type { Session } from '../session/session.ts';
import type { FolderAccess } from './store.ts';

/**
 * First the store gets a name that no folder leads to. If agt is killed then, the next new store deletes the rest.
 * @throws AgtError while another agt works on the folder.
 */
export async function forgetFolder({ env }: FolderAccess, { repository, record }: Session): Promise<void> {
  const gone = await withSessionLock({ repository, id: record.session_id }, async () => {
    const directory = mkdtempSync(newStorePrefix(stateHome(env) ?? ''));
    renameSync(repository.commonDir, join(directory, 'store'));
    failurePoint('snapshot: store renamed');
    return directory;
  });
  removeTree(gone);
}
