/** The stash of a session (gitmode/stash): in its sandbox, or in its last snapshot once that is gone. */
import { SESSION_STASH, SHARED_STASH, tipRef } from '../filter/agent-refs.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { readObject } from '../git/objects/object-reader.ts';
import { gitAnswer } from '../git/run/git.ts';
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

/** Those that the system's git has put into the stash of all worktrees: `stash@{1}: WIP on agt/s1: …`. */
export async function sharedStashEntries({ git, record }: Session): Promise<string[]> {
  const work = shortBranch(record.work_branch);
  const words = ['log', '--walk-reflogs', '--no-show-signature', '--format=%gs', SHARED_STASH, '--'];
  const all = ((await gitAnswer(git, words)) ?? '').split('\n').map((line, i) => `stash@{${i}}: ${line}`);
  return all.filter((line) => /: (?:WIP on|On) (\S+): /.exec(line)?.[1] === work);
}
