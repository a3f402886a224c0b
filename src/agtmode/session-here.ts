/** Finds the session of a command: one of the repository here, or the attached folder that the current directory is in. */
import { AgtError, isAgtError } from '../errors.ts';
import type { Repository } from '../repository/repository.ts';
import {
  type AttachedSession,
  findAttached,
  folderAt,
  settingsFile,
  shownId,
} from '../session/attached/store.ts';
import { namedSession, refuseMoved, sessionContaining } from '../session/find-session.ts';
import type { SessionId } from '../session/id.ts';
import { idProblem } from '../session/id.ts';
import { readRecord, type SessionRecord } from '../session/record.ts';
import type { Context } from './context.ts';

/** A session, and the repository that has its snapshots: that of the user, or the store of an attached folder. */
export interface SessionHere {
  readonly repository: Repository;
  readonly record: SessionRecord;
}

/** `given`: the id that the user names. @throws AgtError if there is no such session. */
export async function sessionHere(context: Context, given?: string): Promise<SessionHere> {
  const user = await context.repositoryIfAny();
  if (given === undefined) {
    const found = await sessionIfAny(context);
    if (found !== undefined) return found;
    if (user !== undefined) refuseMoved(user, context.cwd);
    if (user === undefined) {
      throw new AgtError('this folder is in no session and in no git repository, and has no snapshots yet', {
        hints: ['to take one: agt snapshot', 'for sessions, change to a repository, or: agt clone <url>'],
      });
    }
    throw new AgtError('no session given, and the current directory belongs to none', {
      hints: [
        'give a session id (see: agt session list), or change to the folder of a session',
        'to snapshot this folder: agt snapshot',
      ],
    });
  }
  const isKnown =
    user !== undefined && idProblem(given) === undefined && readRecord(user, given as SessionId);
  const attached = isKnown ? undefined : await attachedHere(context);
  if (attached !== undefined && [attached.record.session_id, shownId(attached.record)].includes(given))
    return attached;
  const repository = user ?? (await context.repository());
  return { repository, record: namedSession(repository, given) };
}

/** The session that the current directory is in; undefined if it is in none. */
export async function sessionIfAny(context: Context): Promise<SessionHere | undefined> {
  const repository = await context.repositoryIfAny();
  const record = repository && sessionContaining(repository, context.cwd);
  if (repository !== undefined && record !== undefined) return { repository, record };
  return attachedHere(context);
}

/** The repository here, or the store of the folder here. @throws AgtError if there is neither. */
export async function repositoryHere(context: Context): Promise<Repository> {
  const user = await context.repositoryIfAny();
  return user ?? (await attachedHere(context))?.repository ?? context.repository();
}

/** The repository here, and the store of the folder here: a worktree without a session may have one. */
export async function repositoriesHere(context: Context): Promise<Repository[]> {
  const user = await context.repositoryIfAny();
  const attached =
    user === undefined ? await attachedHere(context) : (await attachedIfUsable(context)).attached;
  return [user, attached?.repository].filter((repository) => repository !== undefined);
}

/** For commands that have something else to say as well. */
export async function attachedIfUsable(
  context: Context,
): Promise<{ attached?: AttachedSession | undefined; problem?: AgtError }> {
  try {
    return { attached: await attachedHere(context) };
  } catch (error) {
    if (!isAgtError(error)) throw error;
    return { problem: error };
  }
}

/** The attached folder that the current directory is in. */
export async function attachedHere(context: Context): Promise<AttachedSession | undefined> {
  const { folder, user } = await folderHere(context);
  return findAttached(context.folderAccess(), folder, settingsFile(user));
}

export interface FolderHere {
  /** A real path. */
  readonly folder: string;
  readonly user: Repository | undefined;
}

/** The folder that agt would attach for a command in the current directory. */
export async function folderHere(context: Context): Promise<FolderHere> {
  const user = await context.repositoryIfAny();
  return { folder: folderAt(context.folderAccess(), user?.worktree, context.cwd), user };
}
