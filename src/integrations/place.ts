/** Where an agent works, and so where its snapshots go: a session of agt, or any other folder with a store of its own. */
import { stateHome } from '../disk/state-home.ts';
import { isCapturedByItself } from '../filter/session-file.ts';
import { storeName } from '../filter/store-name.ts';
import { FolderRefused } from '../folders/refuse.ts';
import { type FolderAccess, folderId } from '../folders/store.ts';
import { agtDirectory, folderStore } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import { failAgent, markFailed, noteAgent } from '../running/marks.ts';
import { unlessBusy } from '../session/lock.ts';
import { readRecord, type SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import { autocommit, captureFolder } from '../triggers/autocommit.ts';
import type { AutocommitOptions } from '../workspace/capture-session.ts';

export interface Place {
  /** The repository of the user that the place belongs to, if there is one. */
  readonly user: Repository | undefined;
  /** Undefined for a folder that is in no session. */
  readonly record: SessionRecord | undefined;
  readonly readOnlyTools: readonly string[];
  /** As agt.notify says. */
  readonly notify: string;
  /** Where agt keeps its files about the place, and the id that they have there. */
  readonly agtDir: string;
  readonly id: string;
  /** Leaves the change to the next event if another agt is busy too long. @throws the error of agt or git */
  readonly capture: (options: AutocommitOptions) => Promise<void>;
  /** A turn of the agent has failed. */
  readonly failTurn: (reason: string, now: Date) => Promise<void>;
}

export function sessionPlace(session: Session): Place {
  const { repository: user, record } = session;
  return {
    user,
    record,
    readOnlyTools: user.settings.readOnlyTools,
    notify: user.settings.notify,
    agtDir: user.agtDir,
    id: record.session_id,
    capture: async (options) => {
      if (!isCapturedByItself(record)) return;
      try {
        await unlessBusy(async () => {
          const { agent, bySession } = options;
          if (agent !== undefined && bySession === undefined) await noteAgent(session, agent);
          await autocommit(session, options);
        });
      } catch (error) {
        const now = readRecord(user, record.session_id);
        if (now === undefined || !isCapturedByItself(now)) return; // somebody has ended it meanwhile
        await markFailed(session, error, options.now);
        throw error;
      }
    },
    failTurn: (reason, now) => failAgent(session, reason, now).catch(() => {}),
  };
}

/** `folder` is a real path. */
export function folderPlace(
  access: FolderAccess,
  folder: string,
  user: Repository | undefined,
  { readOnlyTools, notify }: Pick<Place, 'readOnlyTools' | 'notify'>,
): Place {
  const store = folderStore(stateHome(access.env) ?? '', storeName(folder));
  const request = { folder, user, trustsRefusal: true };
  return {
    user,
    record: undefined,
    readOnlyTools,
    notify,
    agtDir: agtDirectory(store),
    id: folderId(folder),
    capture: async (options) => {
      try {
        await unlessBusy(() => captureFolder(access, request, options));
      } catch (error) {
        if (!(error instanceof FolderRefused && error.isKnown)) throw error;
      }
    },
    failTurn: async () => {}, // it has no states
  };
}
