/** Arguments and output that the commands share that run a program in a session. */
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { isIsolated, readProfile } from '../config/profiles.ts';
import { globalConfigPath } from '../config/settings.ts';
import { isDirectory } from '../disk/read-file.ts';
import { AgtError, attempt, formatError, systemFailure, usageError } from '../errors.ts';
import { isolateAgent } from '../integrations/isolate.ts';
import { findIntegration } from '../integrations/tools.ts';
import { endAs, withCommand } from '../running/command.ts';
import {
  applyChanges,
  type EnvironmentChanges,
  sessionEnvironment,
  withoutUpkeep,
} from '../running/environment.ts';
import { chooseWay, wordsIn } from '../running/namespace.ts';
import { refuseAway, requireActive } from '../session/operation.ts';
import type { SessionRecord } from '../session/record.ts';
import { requireSandbox } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import { type Namespace, prepareNamespace, usersPath } from '../workspace/namespace.ts';
import type { Context } from './context.ts';
import { gitDirectory } from './shim.ts';

/** For --if-repo. */
export async function runUnrecorded({ cwd, env }: Context, words: readonly string[]): Promise<number> {
  return endAs(await withCommand({ words, cwd, env }, ({ ended }) => ended));
}

/** The words after `--`. @throws AgtError if there are none. */
export function commandArgument(words: readonly string[], example: string, ...hints: readonly string[]) {
  if (words.length > 0 && words[0] !== '') return words;
  throw usageError('no command given', `put it after --: ${example}`, ...hints);
}

/** @throws AgtError unless a command can run in the session. */
export function requireRunnable(session: Session): void {
  requireActive(session.record);
  refuseAway(session.record);
  requireSandbox(session);
}

export async function changesFor(
  context: Context,
  record: SessionRecord,
  profile: string | undefined,
  namespace?: Namespace,
): Promise<EnvironmentChanges> {
  const parts = {
    gitDirectory: await shimIfPossible(context, namespace?.bin),
    sandbox: namespace?.path,
    profile: await variablesOf(context, record, profile),
  };
  return sessionEnvironment(record, parts, context.env);
}

/** A full disk has no room for the shim; the command runs all the same. */
async function shimIfPossible(context: Context, bin: string | undefined): Promise<string | undefined> {
  try {
    return await gitDirectory(context, bin);
  } catch (error) {
    const reason = systemFailure(error);
    if (reason === undefined) throw error;
    context.err(`warning: the command gets git without git mode: ${reason}\n`);
    return undefined;
  }
}

export async function environmentFor(
  context: Context,
  record: SessionRecord,
  profile: string | undefined,
  namespace?: Namespace,
): Promise<NodeJS.ProcessEnv> {
  const env = applyChanges(context.env, await changesFor(context, record, profile, namespace));
  return namespace === undefined ? env : withoutUpkeep(env);
}

/** Sessions had profiles as mere names before, so only a profile that is asked for must exist. */
async function variablesOf(context: Context, record: SessionRecord, asked: string | undefined) {
  const name = asked ?? record.profile;
  if (name === undefined) return {};
  const local = (await context.repository()).configFile;
  const files = { global: globalConfigPath(context.env), local };
  const ofUser = readProfile(files, name);
  const integration = findIntegration(name);
  const isolated = integration && isIsolated(files, name) && isolateAgent(record, integration, context.env);
  if (ofUser !== undefined || integration !== undefined || asked === undefined)
    return { ...integration?.conversations, ...isolated, ...ofUser };
  throw new AgtError(`no profile "${name}" in your settings`, {
    hints: [`add it: git config --file ~/.agtconfig --add profile.${name}.env NAME=VALUE`],
  });
}

/** The current directory if it is in the sandbox, otherwise the sandbox. */
function directoryFor({ cwd }: Context, record: SessionRecord, namespace?: Namespace): string {
  const sandbox = record.checkout ?? record.sandbox;
  if (namespace !== undefined) return directoryIn(namespace, cwd, sandbox);
  const isInside = () => `${realpathSync(cwd)}${sep}`.startsWith(`${realpathSync(sandbox)}${sep}`);
  return attempt(isInside) === true ? cwd : sandbox;
}

/** The current directory as the command sees it, if that is in the sandbox, or in the checkout and the sandbox has it. */
function directoryIn({ path }: Namespace, cwd: string, sandbox: string): string {
  const from = [path, sandbox].find((top) => `${cwd}/`.startsWith(`${top}/`));
  const inside = from === undefined ? '' : cwd.slice(from.length);
  return isDirectory(sandbox + inside) ? path + inside : path;
}

/** Where the command runs; in a namespace, it is started by a program that becomes the command. */
export function placeOf(
  context: Context,
  record: SessionRecord,
  words: readonly string[],
  namespace?: Namespace,
) {
  const cwd = directoryFor(context, record, namespace);
  if (namespace === undefined) return { cwd };
  const way = chooseWay(namespace);
  const inside = wordsIn(way, namespace, cwd, words);
  return { cwd: '/', program: words[0], signalsToChild: way === 'bubblewrap', words: inside };
}

/** Undefined unless the command is to see the sandbox at the user's own path. */
export async function namespaceFor({ cwd }: Context, session: Session, asked = 'auto') {
  const { working_copy, stands_at } = session.record;
  if ((asked === 'auto' ? working_copy : asked) !== 'cow-overlay') return undefined;
  return prepareNamespace(session, stands_at ?? (await usersPath(session.repository, cwd)));
}

/** Tells of an autocommit that failed. The exit code stays that of the command. */
export function reportNotRecorded(context: Context, { session_id: id }: SessionRecord, error: unknown): void {
  const hint = `agt could not record the last step of session "${id}"; try again: agt autocommit ${id}`;
  context.err(`${formatError(error, false)}hint: ${hint}\n`);
}
