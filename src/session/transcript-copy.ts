/**
 * Agents whose logins are beside their conversations cannot write them into the session themselves. A copy in `xdg/` is a
 * part of the next snapshot. Some write their transcript after the hook at the end of a turn: the end of `agt session run`
 * copies it once more.
 */
import { constants, copyFileSync, lstatSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { readIfThere } from '../disk/read-file.ts';
import { transcriptNote } from '../layout.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, sessionFolder } from './record.ts';

export function noteTranscript(agtDir: string, { session_id }: SessionRecord, transcript: string): void {
  const note = transcriptNote(agtDir, session_id);
  if (readIfThere(note) !== transcript) writeFileAtomic(note, transcript, { cache: true });
}

/** Copies the transcript that an agent of this session has named, if any. */
export function copyTranscriptInto({ agtDir, settings }: Repository, record: SessionRecord): void {
  const transcript = readIfThere(transcriptNote(agtDir, record.session_id));
  if (transcript === '') return;
  const stat = statSync(transcript, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > settings.maxFileSize) return;
  const directory = join(sessionFolder(record), 'xdg', record.profile ?? '');
  if (!makeDirectory(dirname(directory)) || !makeDirectory(directory)) return;
  const copy = join(directory, basename(transcript));
  const temporary = `${copy}.agt-new`;
  rmSync(temporary, { force: true });
  // Neither call follows a link that the agent may have put there.
  copyFileSync(transcript, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  renameSync(temporary, copy);
}

/** False if something else is there, such as a link of the agent that leads elsewhere. */
function makeDirectory(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) mkdirSync(path);
  return stat?.isDirectory() ?? true;
}
