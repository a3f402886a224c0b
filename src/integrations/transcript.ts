/**
 * Keeps the conversation of an agent in its session: agents whose logins are beside their conversations cannot write them
 * there themselves. A copy in `xdg/` is a part of the next snapshot.
 */
import { constants, copyFileSync, lstatSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { type SessionRecord, sessionFolder } from '../session/record.ts';

/** Only in a session that has been made for this kind of agent. */
export function keepTranscript(
  record: SessionRecord,
  { name, maxBytes }: { readonly name: string; readonly maxBytes: number },
  transcript: string | undefined,
): void {
  if (record.profile !== name || transcript === undefined || !isAbsolute(transcript)) return;
  const stat = statSync(transcript, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > maxBytes) return;
  const directory = join(sessionFolder(record), 'xdg', name);
  if (!makeDirectory(join(directory, '..')) || !makeDirectory(directory)) return;
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
