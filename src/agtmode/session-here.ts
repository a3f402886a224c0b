/** Finds the session of a command: one of the repository here, or the attached folder that the current directory is in. */
import { resolve } from 'node:path';
import { isDirectory } from '../disk/read-file.ts';
import { realPath } from '../disk/real-path.ts';
import { AgtError, isAgtError, usageError } from '../errors.ts';
import { whyRefused } from '../folders/refuse.ts';
import { findAttached, folderAt, settingsFile, shownId } from '../folders/store.ts';
import { shellQuote } from '../process/shell-quote.ts';
import type { Repository } from '../repository/repository.ts';
import { agtInFolder, commandToList, commandToRestore } from '../session/advised-commands.ts';
import {
  inOtherRepositories,
  namedSession,
  namesHere,
  refuseMoved,
  sessionContaining,
} from '../session/find-session.ts';
import { idProblem } from '../session/id.ts';
import { wayBack } from '../session/operation.ts';
import { recordNamed } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { isEnded } from '../session/state.ts';
import { type Context, openContext } from './context.ts';
import { showPath } from './output/format.ts';

/** `given`: the id that the user names. `instead`: a further hint. @throws AgtError if there is no such session. */
export async function sessionHere(context: Context, given?: string, instead?: string): Promise<Session> {
  const user = await context.repositoryIfAny();
  if (given === undefined) return (await sessionIfAny(context)) ?? notInSession(context, user, instead);
  const isKnown = user !== undefined && recordNamed(user, given) !== undefined;
  const attached = isKnown ? undefined : await attachedHere(context);
  if (attached !== undefined && [attached.record.session_id, shownId(attached.record)].includes(given))
    return attached;
  const there = isKnown ? undefined : await folderNamed(context, given);
  if (there !== undefined) return there;
  if (user === undefined) throw noSession(context, given, attached?.record.checkout ?? context.cwd, attached);
  const more = attached && needsNoId(attached);
  return new Session(user, namedSession(user, given, more));
}

/**
 * For a command that takes up to `most` words after the session. The first word is the session if there is one of that
 * name; otherwise the session is that of the current directory. `given`: the session, if an option names it.
 */
export async function sessionAndWords(
  context: Context,
  words: readonly string[],
  given: string | undefined,
  most: number,
): Promise<{ readonly session: Session; readonly words: readonly string[] }> {
  const [first, ...rest] = words;
  if (first === undefined) return { session: await sessionHere(context, given), words };
  const user = await context.repositoryIfAny();
  const canBeId = idProblem(first) === undefined;
  const isKnown = user !== undefined && recordNamed(user, first) !== undefined;
  if (given !== undefined && given !== first) {
    if (isKnown) throw usageError(`two sessions are given: "${first}" and "${given}"`, 'give one');
    return { session: await sessionHere(context, given), words: atMost(most, words) };
  }
  const isPath = first.includes('/') && isDirectory(resolve(context.cwd, first));
  const here = isPath || isKnown ? undefined : await sessionIfAny(context);
  const isHere = here !== undefined && [here.id, shownId(here.record)].includes(first);
  if (isHere || isPath || isKnown)
    return { session: await sessionHere(context, first), words: atMost(most, rest) };
  if (here !== undefined && (words.length <= most || !canBeId))
    return { session: here, words: atMost(most, words) };
  // There is no such session, and the reason says which ones there are. A number was a count.
  const names = words.filter((one) => idProblem(one) === undefined && !/^\d+$/.test(one));
  const [named = words.length > most ? first : undefined] = names;
  return { session: await sessionHere(context, named), words: rest };
}

function atMost(most: number, words: readonly string[]): readonly string[] {
  const [unknown] = words.slice(most);
  if (unknown === undefined) return words;
  throw usageError(`unknown argument "${unknown}"`, 'paths come after --: agt COMMAND -- PATH');
}

async function notInSession(
  context: Context,
  user: Repository | undefined,
  instead?: string,
): Promise<never> {
  const elsewhere = 'for sessions, change to a repository, or: agt clone <url>';
  const sessions = user === undefined ? [elsewhere] : [...namesHere(user), ...(instead ? [instead] : [])];
  throw await withoutSnapshots(context, 'no session given, and ', sessions);
}

/** `sessions`: hints for a command that takes a session as well. @throws AgtError if the folder has moved */
export async function withoutSnapshots(context: Context, before = '', sessions: readonly string[] = []) {
  const user = await context.repositoryIfAny();
  if (user !== undefined) refuseMoved(user, context.cwd);
  const hints = [...sessions, await adviceToSnapshot(context, 'to take a snapshot')];
  return new AgtError(`${before}this folder has no snapshots yet`, { hints });
}

/** For a command that looks at the files here. `words`: how it is called in the sandbox. @throws AgtError */
export async function refuseSession(context: Context, word: string, words: readonly string[]): Promise<void> {
  const repository = await context.repositoryIfAny();
  const record = repository && recordNamed(repository, word);
  if (record === undefined) return;
  const there = ['agt', '-C', record.sandbox, ...words].map(shellQuote).join(' ');
  throw usageError(
    `"${word}" is a session`,
    ...(isEnded(record) ? wayBack(record) : []),
    `in its sandbox: ${there}`,
  );
}

/** A folder that has snapshots, by its path. @throws AgtError if `given` is the path of any other folder. */
async function folderNamed({ cwd, env }: Context, given: string): Promise<Session | undefined> {
  const path = resolve(cwd, given);
  if (!isDirectory(path)) return undefined;
  const context = openContext(realPath(path), env);
  const there = await sessionIfAny(context);
  if (there === undefined)
    throw usageError(
      `there is no session "${given}" here; the folder ${showPath(realPath(path))} has no snapshots`,
      await adviceToSnapshot(context, 'to take a snapshot'),
    );
  const { checkout, sandbox } = there.record;
  const folder = checkout ?? sandbox;
  if ([folder, there.folder].includes(realPath(path))) return there;
  throw usageError(
    `there is no session "${given}" here; it is a directory of ${showPath(folder)}, which has snapshots`,
    `to bring it back alone: ${commandToRestore(there.record, 'SNAPSHOT')} -- ${shellQuote(realPath(path))}`,
  );
}

/** The command that takes a snapshot here. Where agt takes none, the next step, with or without the reason. */
export async function adviceToSnapshot(context: Context, purpose: string, withReason = true) {
  const { folder, user } = await folderHere(context);
  const refused = whyRefused(context.folderAccess(), folder, user);
  if (refused === undefined) return `${purpose}: ${agtInFolder(context.cwd)} snapshot`;
  return withReason ? refused.join(': ') : refused[1];
}

/** Outside of git repositories. */
function noSession({ env }: Context, given: string, folder: string, attached: Session | undefined): AgtError {
  const problem = `there is no session "${given}" here: ${showPath(folder)} is in no git repository`;
  const elsewhere = inOtherRepositories(env, given);
  if (attached !== undefined) return new AgtError(problem, { hints: [...elsewhere, needsNoId(attached)] });
  const sessions = elsewhere.length > 0 ? elsewhere : ['for sessions, change to a repository'];
  const hints = [...sessions, 'the folders that have snapshots: agt du --folders'];
  return new AgtError(`${problem}, and has no snapshots`, { hints });
}

function needsNoId({ record }: Session): string {
  return `the folder's own snapshots need no id: ${commandToList(record)}`;
}

/** The session that the current directory is in; undefined if it is in none. */
export async function sessionIfAny(context: Context): Promise<Session | undefined> {
  const repository = await context.repositoryIfAny();
  const record = repository && sessionContaining(repository, context.cwd);
  if (repository !== undefined && record !== undefined) return new Session(repository, record);
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

/** @throws AgtError if there is neither, with these hints. */
export async function requireRepositoriesHere(context: Context, ...hints: string[]) {
  const found = await repositoriesHere(context);
  return found.length > 0 ? found : [await context.repository(...hints)];
}

/** For commands that have something else to say as well. */
export async function attachedIfUsable(context: Context) {
  try {
    return { attached: await attachedHere(context) };
  } catch (error) {
    if (!isAgtError(error)) throw error;
    return { problem: error };
  }
}

/** The attached folder that the current directory is in. */
export async function attachedHere(context: Context): Promise<Session | undefined> {
  const { folder, user } = await folderHere(context);
  return findAttached(context.folderAccess(), folder, settingsFile(user));
}

/** The folder that agt would attach for a command in the current directory: a real path. */
export async function folderHere(context: Context) {
  const user = await context.repositoryIfAny();
  return { folder: folderAt(context.folderAccess(), user?.worktree, context.cwd), user };
}
