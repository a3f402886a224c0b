/** The stash of a session (gitmode/stash): in its sandbox, or in its last snapshot once that is gone. */
import { SESSION_STASH, tipRef } from '../filter/agent-refs.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { readObject } from '../git/objects/object-reader.ts';
import { OWN } from '../snapshot/format.ts';
import { readFiles } from '../snapshot/git-dir-files.ts';
import { isAttached } from './record.ts';
import type { Session } from './session.ts';

const LOG = `logs/${SESSION_STASH}`;

/** The message of each entry, newest first. */
export async function stashEntries(session: Session): Promise<string[]> {
  if (isAttached(session.record)) return [];
  const gitDir = session.place === 'here' ? gitDirOf(session.record.sandbox) : undefined;
  const log =
    gitDir === undefined
      ? (await readObject(session.git, `${tipRef(session.id)}:${OWN.gitDir}/${LOG}`))?.content
      : readFiles(gitDir, [LOG]).files.get(LOG);
  const lines = (log?.toString() ?? '').split('\n').filter((line) => line !== '');
  return lines.map((line) => line.slice(line.indexOf('\t') + 1)).reverse();
}
