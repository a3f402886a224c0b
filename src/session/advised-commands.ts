/**
 * Commands that messages advise. They work where the user reads them: those on an attached folder name no id, which a
 * session of the repository there may have as well, and are called in that folder. Commands on a session name it.
 */
import { dirname } from 'node:path';
import { discoverRepository } from '../git/files/discover-repository.ts';
import { shellQuote } from '../git/run/trace.ts';
import { userDirectory } from '../process/invocation.ts';

/** `agt -C FOLDER`, or `agt` if the user is there. */
export function agtInFolder(folder: string): string {
  return userDirectory() === folder ? 'agt' : `agt -C ${shellQuote(folder)}`;
}

/** A part of the record of a session. */
interface Named {
  readonly session_id: string;
  readonly working_copy: string;
  readonly checkout?: string;
}

/** Undefined for a session. */
function attachedFolder({ working_copy, checkout }: Named): string | undefined {
  return working_copy === 'attached' ? checkout : undefined;
}

export function commandToList(record: Named): string {
  const folder = attachedFolder(record);
  return folder === undefined
    ? `agt session log ${record.session_id}`
    : `${agtInFolder(folder)} snapshot list`;
}

export function commandToCapture(record: Named): string {
  const folder = attachedFolder(record);
  return folder === undefined ? `agt autocommit ${record.session_id}` : `${agtInFolder(folder)} snapshot`;
}

export function commandToMove(record: Named, by: 'undo' | 'redo'): string {
  const folder = attachedFolder(record);
  return folder === undefined ? `agt session ${by} ${record.session_id}` : `${agtInFolder(folder)} ${by}`;
}

/** `snapshot`: a word for the shell. */
export function commandToRestore(record: Named, snapshot: string): string {
  const folder = attachedFolder(record);
  return folder === undefined
    ? `agt session restore ${record.session_id} --to ${snapshot}`
    : `${agtInFolder(folder)} snapshot restore ${snapshot}`;
}

/** Compares a snapshot with the disk. `snapshot`: a word for the shell. */
export function commandToCompare(record: Named, snapshot: string): string {
  const folder = attachedFolder(record);
  return folder === undefined
    ? `agt session diff ${record.session_id} ${snapshot}`
    : `${agtInFolder(folder)} snapshot diff ${snapshot}`;
}

/**
 * For an attached folder that somebody has deleted. If it was a checkout inside of another one, an empty directory there
 * would stand for the outer one.
 */
export function bringBack(folder: string): string {
  const path = shellQuote(folder);
  const isInside = discoverRepository(dirname(folder), {}) !== undefined;
  return `${isInside ? 'git init -q' : 'mkdir -p'} ${path} && agt -C ${path} snapshot restore @`;
}

/** For a store whose snapshots are lost. agt deletes nothing of it. */
export function beginAnew(store: string): string {
  const path = shellQuote(store);
  return `to begin anew, move the store away: mv ${path} ${path}.damaged`;
}
