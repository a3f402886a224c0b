/**
 * Finds the files that would be lost if agt deleted the folder of a session that it did not finish creating
 * or removing. A file is safe if it is in the last snapshot, if git checks it out from the start commit, or
 * if it is a copy of a file in the user's worktree. If agt was killed while it wrote a file, the content is
 * only the beginning of one of those.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { observeFiles } from '../autocommit/observe.ts';
import { systemPath } from '../disk/long-path.ts';
import { displayPath } from '../disk/path-bytes.ts';
import { attempt } from '../errors.ts';
import { tipRef } from '../filter/agent-refs.ts';
import { type Git, gitAnswer, resolveObject, runGit } from '../git/run/git.ts';
import type { Session } from '../session/session.ts';
import { captureTarget } from '../workspace/capture-session.ts';

/** One such file is reason enough to delete nothing. The message lists at most this many. */
const MOST_LISTED = 10;

/** agt writes a restored file under such a name first. */
const TEMPORARY = /(^|\/)\.agt-\d+\.tmp$/;

/** Some of these files: readable paths, relative to the session folder. */
export async function uncapturedFiles(session: Session): Promise<string[]> {
  const { last, writes, notCaptured } = await scanAgainstTip(session);
  const found = notCaptured;
  for (const [path, { oid }] of writes) {
    if (found.length >= MOST_LISTED) break;
    const captured = last.find(path)?.oid;
    if (oid === captured || TEMPORARY.test(path)) continue;
    if (!(await isElsewhere(session, path, captured))) found.push(path);
  }
  return found.map(displayPath);
}

async function scanAgainstTip(session: Session) {
  const { git } = session.repository;
  const target = captureTarget(session);
  const tip = (await resolveObject(git, tipRef(session.id))) ?? session.record.from_commit;
  const everything = { maxFileSize: Number.POSITIVE_INFINITY, ignore: undefined };
  const { last, scanned } = await observeFiles(git, target, tip, everything);
  const { writes, skipped, failed } = scanned;
  return { last, writes, notCaptured: [...skipped, ...failed].map(({ path }) => path) };
}

/** Whether the file is the beginning of a file that is stored in another place. `captured` is a blob. */
async function isElsewhere(session: Session, path: string, captured: string | undefined): Promise<boolean> {
  const { git, record } = session;
  const content = readIfThere(Buffer.from(`${session.folder}/`).toString('latin1') + path);
  if (content === undefined) return false;
  if (content.length === 0) return true;
  const isBeginningOf = (whole: Buffer | undefined) =>
    whole?.subarray(0, content.length).equals(content) === true;
  if (captured !== undefined && isBeginningOf(await catFile(git, 'blob', captured))) return true;
  if (!path.startsWith('sandbox/')) return false;
  const inside = path.slice('sandbox/'.length);
  if (/[\x80-\xff]/.test(inside)) return false; // an argument of git would be encoded as UTF-8 once more
  if (isBeginningOf(await catFile(git, '--filters', `${record.from_commit}:${inside}`))) return true;
  const worktree = await gitAnswer(git, ['rev-parse', '--show-toplevel']);
  return worktree !== undefined && isBeginningOf(readIfThere(join(worktree, inside)));
}

async function catFile(git: Git, ...args: string[]): Promise<Buffer | undefined> {
  const run = await runGit(git, ['cat-file', ...args]);
  return run.exitCode === 0 ? run.stdout : undefined;
}

function readIfThere(path: string): Buffer | undefined {
  return attempt(() => readFileSync(systemPath(path)));
}
