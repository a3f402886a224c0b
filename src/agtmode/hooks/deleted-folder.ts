/** The folder of a session, or another one that agt has snapshots of, which an agent has deleted while it worked there. */
import { existsSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeDirectories } from '../../disk/make-directories.ts';
import { realPath } from '../../disk/real-path.ts';
import { AgtError } from '../../errors.ts';
import { readSessionFile } from '../../filter/session-file.ts';
import { hasStore } from '../../folders/store.ts';
import { shellQuote } from '../../git/run/trace.ts';
import { agtDirectory } from '../../layout.ts';
import { repositoryAround } from '../../repository/find-repository.ts';
import { sessionContaining } from '../../session/find-session.ts';
import { idProblem } from '../../session/id.ts';
import { isEnded } from '../../session/state.ts';
import type { Context } from '../context.ts';

/** The folder at `cwd`, which is gone, or the nearest one above it that is gone as well. */
export async function deletedFolder(context: Context, cwd: string): Promise<string | undefined> {
  const gone = gonePlaces(cwd);
  const session = gone.find(isSessionFolder);
  if (session !== undefined) return session;
  if ((await context.repositoryIfAny())?.worktree !== undefined) return undefined; // its snapshots count there
  const access = context.folderAccess();
  return gone.find((place) => hasStore(access, place));
}

function isSessionFolder(place: string): boolean {
  const commonDir = repositoryAround(place);
  const id = basename(place);
  if (commonDir === undefined || idProblem(id) !== undefined) return false;
  return readSessionFile(agtDirectory(commonDir), id)?.sandbox === join(place, 'sandbox');
}

/** Why agt has no answer to a command where an agent works; undefined if the prompt may be meant for the model. */
export async function unanswered(context: Context, cwd: string): Promise<AgtError | undefined> {
  const user = await context.repositoryIfAny();
  const { hooks } = user?.settings ?? context.folderAccess().readSettings(undefined);
  if (!hooks) return undefined;
  const session = user && sessionContaining(user, context.cwd);
  if (user !== undefined && session !== undefined && isEnded(session)) {
    const { session_id: id, state } = session;
    const back = `agt -C ${shellQuote(user.git.cwd)} undo ${id}`;
    return new AgtError(`session "${id}" is ${state}`, {
      hints: [`to bring it back, in a terminal: ${back}`],
    });
  }
  if (existsSync(cwd)) return undefined;
  return new AgtError(`the folder ${cwd} is gone, and agt has no snapshots of it`, {
    hints: ['the folders that have some: agt du --folders'],
  });
}

/** The innermost first. No part above them is a link. */
function gonePlaces(path: string): string[] {
  if (existsSync(path)) return [];
  const above = gonePlaces(dirname(path));
  return [join(above[0] ?? realPath(dirname(path)), basename(path)), ...above];
}

/** Runs `action` in the folder. If that brings no file back, the folder goes again. */
export async function inFolderMadeAgain<T>(folder: string, action: () => Promise<T>): Promise<T> {
  const made = gonePlaces(folder);
  makeDirectories(folder);
  const before = process.cwd();
  process.chdir(folder);
  try {
    return await action();
  } finally {
    process.chdir(before);
    removeEmpty(made);
  }
}

function removeEmpty(directories: readonly string[]): void {
  try {
    for (const directory of directories) rmdirSync(directory);
  } catch {
    // it has files
  }
}
