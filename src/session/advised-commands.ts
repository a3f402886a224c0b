/**
 * Commands that messages advise. They work where the user reads them: those on an attached folder name no id, which a
 * session of the repository there may have as well, and are called in that folder. Commands on a session name it.
 */
import { dirname } from 'node:path';
import { isAgtError } from '../errors.ts';
import { discoverRepository } from '../git/files/discover-repository.ts';
import { userDirectory } from '../process/invocation.ts';
import { shellQuote } from '../process/shell-quote.ts';

/** `agt -C FOLDER`, or `agt` if the user is there. */
export function agtInFolder(folder: string): string {
  return userDirectory() === folder ? 'agt' : `agt -C ${shellQuote(folder)}`;
}

let command: RegExp | undefined;

/** `words`: with which commands of agt begin. */
export function noteCommandWords(words: Iterable<string>): void {
  command = new RegExp(`(?<![\\w/.-])agt (?=(?:${[...words].join('|')})\\b)`, 'g');
}

/** A text that advises commands for this folder: `-C` and --everywhere run a command for another one than the user's. */
export function advisedIn(folder: string, text: string): string {
  return command === undefined ? text : text.replace(command, () => `${agtInFolder(folder)} `);
}

/** The same for the hints of an error. */
export function withAdviceIn<T>(folder: string, error: T): T {
  if (!isAgtError(error)) return error;
  const advised = (text: string) => advisedIn(folder, text);
  const ways = error.ways?.map((way) => ({ ...way, hint: advised(way.hint) }));
  return Object.assign(error, { hints: error.hints.map(advised), ways });
}

/** A part of the record of a session. */
interface Named {
  readonly session_id: string;
  readonly working_copy: string;
  readonly checkout?: string;
}

function advise({ working_copy, checkout }: Named, ofSession: string, inFolder: string): string {
  const isAttached = working_copy === 'attached' && checkout !== undefined;
  return isAttached ? `${agtInFolder(checkout)} ${inFolder}` : `agt ${ofSession}`;
}

export function commandToList(record: Named): string {
  return advise(record, `session log ${record.session_id}`, 'snapshot list');
}

export function commandToCapture(record: Named): string {
  return advise(record, `autocommit ${record.session_id}`, 'snapshot');
}

export function commandToMove(record: Named, by: 'undo' | 'redo'): string {
  return advise(record, `${by} ${record.session_id}`, by);
}

/** `snapshot`: a word for the shell, as in the next one. */
export function commandToRestore(record: Named, snapshot: string): string {
  return advise(record, `restore ${record.session_id} ${snapshot}`, `snapshot restore ${snapshot}`);
}

/** Brings back what is no file, such as a repository, and leaves the files as they are. */
export function captureAndRestore(record: Named): string {
  return `${commandToCapture(record)} && ${commandToRestore(record, '@')}`;
}

/** Compares a snapshot with the disk. */
export function commandToCompare(record: Named, snapshot: string): string {
  return advise(record, `session diff ${record.session_id} ${snapshot}`, `snapshot diff ${snapshot}`);
}

/** For a deleted attached folder. Inside of another checkout, an empty directory would stand for that one. */
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
