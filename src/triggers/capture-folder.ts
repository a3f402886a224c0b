/** Captures a folder that is in no session: the first time agt makes a store for it. */

import type { CaptureResult } from '../autocommit/capture.ts';
import { TooManyFiles } from '../autocommit/scan/scan-options.ts';
import { createStore } from '../folders/create-store.ts';
import { FolderRefused, forgetRefusal, knownRefusal, noteRefusal, refuseFolder } from '../folders/refuse.ts';
import { type FolderAccess, findAttached, settingsFile } from '../folders/store.ts';
import type { Repository } from '../repository/repository.ts';
import type { Session } from '../session/session.ts';
import type { AutocommitOptions } from '../workspace/capture-session.ts';
import { autocommit } from './autocommit.ts';

export interface FolderCapture {
  readonly session: Session;
  readonly result: CaptureResult;
  /** This is the first snapshot of the folder. */
  readonly isNew: boolean;
}

export interface FolderRequest {
  /** A real path, as `folderAt` gives it. */
  readonly folder: string;
  /** The repository that the folder is the top of a worktree of. */
  readonly user: Repository | undefined;
  /** Do not look again at a folder that agt has refused before, which can take seconds. For hooks. */
  readonly trustsRefusal?: boolean;
}

/** @throws FolderRefused for a folder that agt does not attach. */
export async function captureFolder(
  access: FolderAccess,
  request: FolderRequest,
  options: AutocommitOptions,
): Promise<FolderCapture> {
  const { folder } = request;
  const refusal = request.trustsRefusal === true ? knownRefusal(access, folder) : undefined;
  if (refusal !== undefined) throw new FolderRefused(refusal, [], true);
  try {
    const known = findAttached(access, folder, settingsFile(request.user));
    const session = known ?? (await attach(access, request, options.now));
    const result = await autocommit(session, options);
    forgetRefusal(access, folder);
    return { session, result, isNew: known === undefined };
  } catch (error) {
    throw error instanceof TooManyFiles ? noteRefusal(access, folder, error) : error;
  }
}

/** @throws FolderRefused */
async function attach(access: FolderAccess, { folder, user }: FolderRequest, now: Date): Promise<Session> {
  refuseFolder(access, folder, user);
  return createStore(access, folder, user, now);
}
