/** A call of `agt hook`: its environment, the place that it is about, and work that the agent does not wait for. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { namelessFile } from '../../disk/nameless-file.ts';
import { attempt } from '../../errors.ts';
import { isActive } from '../../filter/session-file.ts';
import { hasStore } from '../../folders/store.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import type { HookEvent } from '../../integrations/event.ts';
import { logFailure } from '../../integrations/hooks-log.ts';
import { folderPlace, type Place, sessionPlace } from '../../integrations/place.ts';
import { findIntegration } from '../../integrations/tools.ts';
import { sayWhenInterrupted } from '../../process/interrupts.ts';
import { ownCommand } from '../../process/invocation.ts';
import { knownRepositories, openKnown } from '../../repository/known-repositories.ts';
import { refuseMoved, sessionContaining } from '../../session/find-session.ts';
import { bringsBack } from '../../session/operation.ts';
import { Session } from '../../session/session.ts';
import { isEnded } from '../../session/state.ts';
import { NEWER_PATHS_OF } from '../../triggers/front/newer-paths.ts';
import { type Context, openContext } from '../context.ts';
import { folderHere } from '../session-here.ts';

/** agt calls itself with this word for such work. */
export const IN_BACKGROUND = '--background';

export interface HookCall {
  readonly tool: string;
  readonly env: NodeJS.ProcessEnv;
  readonly isInBackground: boolean;
  /** Removes the file that tells of this hook if it is killed. */
  readonly forget: () => void;
}

/**
 * Gemini and Qwen Code put the variables of a project's .env file into the environment of hooks. So agt goes by none that
 * could come from there: neither by its own and git's, nor by a place for settings that is part of a repository. AGT_OFF
 * counts where no project can have set it, and no project knows the process that the front's variable names.
 */
export function withoutProjectVariables(env: NodeJS.ProcessEnv, tool: string): NodeJS.ProcessEnv {
  const kept = [NEWER_PATHS_OF, ...(findIntegration(tool)?.loadsDotEnv === true ? [] : ['AGT_OFF'])];
  for (const name of Object.keys(env)) if (/^(AGT|GIT)_/.test(name) && !kept.includes(name)) delete env[name];
  for (const name of ['XDG_STATE_HOME', 'XDG_CONFIG_HOME']) {
    const place = env[name];
    if (place !== undefined && isOfProject(place, env['HOME'])) delete env[name];
  }
  return env;
}

/** HOME itself may be a repository. */
function isOfProject(path: string, home: string | undefined): boolean {
  if (!isAbsolute(path)) return true;
  if (path === home || path === dirname(path)) return false;
  return existsSync(join(path, '.git')) || isOfProject(dirname(path), home);
}

export function about({ name, cwd }: HookEvent) {
  return { at: new Date().toISOString(), event: name, cwd };
}

/**
 * Undefined where agt has nothing to do: hooks are switched off, or the session here has ended. `isAbove`: the agent was
 * in a directory below this one; in a folder that agt does not know, that says nothing of this one.
 */
export async function placeOf(context: Context, isAbove: boolean): Promise<Place | undefined> {
  const { user, folder } = await folderHere(context);
  const access = context.folderAccess();
  const settings = user?.settings ?? access.readSettings(undefined);
  if (!settings.hooks) return undefined;
  const session = user && sessionContaining(user, context.cwd);
  if (user !== undefined && session === undefined) refuseMoved(user, context.cwd);
  if (user === undefined || session === undefined) {
    const isKnown = user?.worktree !== undefined || hasStore(access, folder);
    return isAbove && !isKnown ? undefined : folderPlace(access, folder, user, settings);
  }
  return isActive(session) ? sessionPlace(new Session(user, session)) : undefined;
}

/** For a model that agt has found no place for: why nothing keeps its work there any more. `cwd` may be gone. */
export async function whyEnded(context: Context, cwd: string): Promise<string | undefined> {
  const access = context.folderAccess();
  const settings = (await context.repositoryIfAny())?.settings ?? access.readSettings(undefined);
  if (!settings.hooks) return undefined;
  for (const commonDir of knownRepositories(context.env).present) {
    const repository = attempt(() => openKnown(access, commonDir));
    const record = repository && sessionContaining(repository, cwd);
    if (!repository?.settings.hooks || record === undefined || !isEnded(record)) continue;
    const { session_id: id, state, landed } = record;
    const how = state === 'accepted' && landed ? `accepted on ${shortBranch(landed.onto)}` : state;
    const ended = `session "${id}" has ended (${how}), and its sandbox is gone`;
    return `${ended}: stop, and tell the user; ${bringsBack(record)}`;
  }
  return undefined;
}

/** A wrong setting must not keep agt from capturing: it goes on with the default, and logs the problem. */
export async function openTolerantly({ tool, env }: HookCall, { name: event }: HookEvent): Promise<Context> {
  const cwd = process.cwd();
  const context = openContext(cwd, env);
  try {
    await context.repositoryIfAny();
    return context;
  } catch (error) {
    logFailure(env, { at: new Date().toISOString(), tool, event, cwd }, error);
    return openContext(cwd, env, true);
  }
}

/** The other agt reads the event from a file without a name, so it may outlive this process. */
export function continueInBackground(call: HookCall, event: HookEvent): void {
  const { tool, env } = call;
  const [program = '', ...args] = [...ownCommand(), 'hook', tool, IN_BACKGROUND];
  const { reading, writing } = namelessFile(JSON.stringify(event));
  const child = spawn(program, args, { env, detached: true, stdio: [reading, 'ignore', 'ignore'] });
  for (const fd of [reading, writing]) closeSync(fd);
  child.on('error', (error) => logEvent(call, event, error));
  child.unref();
}

/**
 * An agent ends a hook that takes longer than it allows: then another agt goes on in the background with the `rest`, if
 * anything is left to do, and hooks.log has the `reason`.
 */
export function goOnWhenEnded<T>(
  call: HookCall,
  event: HookEvent,
  stopped: () => { readonly reason: Error; readonly rest: HookEvent | undefined },
  action: () => Promise<T>,
): Promise<T> {
  return sayWhenInterrupted(() => {
    call.forget();
    const { reason, rest } = stopped();
    logEvent(call, event, reason, rest !== undefined);
    if (rest !== undefined) continueInBackground(call, rest);
  }, action);
}

export function logEvent({ tool, env }: HookCall, event: HookEvent, error: unknown, isPending = false): void {
  logFailure(env, { ...about(event), tool, ...(isPending && { pending: true }) }, error);
}
