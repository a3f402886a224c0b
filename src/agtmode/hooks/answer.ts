/**
 * `agt hook`: an agent has called. Whatever fails here, the agent goes on: agt ends with 0 and writes the reason to
 * hooks.log. Standard output reaches the model, so agt prints nothing but an answer that the agent asked for.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { AgtError, EXIT, formatError, usageError } from '../../errors.ts';
import { isActive } from '../../filter/session-file.ts';
import {
  type EnvironmentEvent,
  type FileEvent,
  type HookEvent,
  type PromptEvent,
  parseEventJson,
} from '../../integrations/event.ts';
import { logFailure, writeLastEvent } from '../../integrations/hooks-log.ts';
import type { Integration } from '../../integrations/integration.ts';
import { folderPlace, type Place, sessionPlace } from '../../integrations/place.ts';
import { type PromptCommand, parsePromptCommand } from '../../integrations/prompt-command.ts';
import { type RecordRequest, recordEvent } from '../../integrations/record-event.ts';
import { noteRunning } from '../../integrations/running-hooks.ts';
import { findIntegration } from '../../integrations/tools.ts';
import { sayWhenInterrupted } from '../../process/interrupts.ts';
import { ownCommand } from '../../process/invocation.ts';
import { readStandardInput } from '../../process/standard-input.ts';
import { isTerminal } from '../../process/terminal.ts';
import { hasStore } from '../../session/attached/store.ts';
import { refuseMoved, sessionContaining } from '../../session/find-session.ts';
import { type Context, openContext } from '../context.ts';
import { renewHooksFront } from '../front/write-front.ts';
import { folderHere } from '../session-here.ts';
import { gitDirectory } from '../write-shim.ts';
import {
  answerPrompt,
  interruptedPrompt,
  isUnfinished,
  nearMiss,
  type PromptRun,
  promptOf,
} from './answer-prompt.ts';
import { answerWorktree } from './answer-worktree.ts';
import { deletedFolder, inFolderMadeAgain, unanswered } from './deleted-folder.ts';

/** agt calls itself with this word for work that the agent does not wait for. */
const IN_BACKGROUND = '--background';

export async function answerHook([tool = '', ...words]: readonly string[]): Promise<number> {
  if (isTerminal(0)) {
    throw usageError(
      'agt hook reads an event of an agent from standard input',
      'the settings of the agent call it: agt hooks install',
    );
  }
  const env = withoutProjectVariables(process.env);
  const call: HookCall = { tool, env, isInBackground: words.includes(IN_BACKGROUND), forget: () => {} };
  try {
    return await answer(call, readStandardInput());
  } catch (error) {
    logFailure(env, { at: new Date().toISOString(), tool, event: '', cwd: '' }, error);
    return EXIT.done;
  }
}

interface HookCall {
  readonly tool: string;
  readonly env: NodeJS.ProcessEnv;
  readonly isInBackground: boolean;
  /** Removes the file that tells of this hook if it is killed. */
  readonly forget: () => void;
}

/**
 * Gemini and Qwen Code put the variables of a project's .env file into the environment of hooks. So agt goes by none that
 * could come from there: neither by its own and git's, nor by a place for settings that is part of a repository.
 */
export function withoutProjectVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  for (const name of Object.keys(env)) if (/^(AGT|GIT)_/.test(name)) delete env[name];
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

async function answer(call: HookCall, input: string): Promise<number> {
  const { tool, env, isInBackground } = call;
  const integration = findIntegration(tool);
  if (integration === undefined) throw new Error(`agt knows no agent "${tool}"`);
  const json = parseEventJson(input);
  const event = isInBackground
    ? (json as unknown as HookEvent)
    : integration.readEvent(json, env, currentDirectory());
  if (!isInBackground) writeLastEvent(env, tool, about(event));
  const forget = noteRunning(env, { ...about(event), tool });
  try {
    await act({ ...call, forget }, integration, event);
    return EXIT.done;
  } catch (error) {
    logFailure(env, { ...about(event), tool }, error);
    if (event.kind !== 'worktree-create') return EXIT.done;
    // Without a worktree the agent cannot begin, and it shows the reason.
    process.stderr.write(formatError(error, false));
    return EXIT.failed;
  } finally {
    forget();
  }
}

function about({ name, cwd }: HookEvent) {
  return { at: new Date().toISOString(), event: name, cwd };
}

/** An agent that removes a worktree may have removed the directory that it starts hooks in. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}

async function act(call: HookCall, integration: Integration, event: HookEvent): Promise<void> {
  if (event.kind === 'other') return;
  if (event.kind === 'worktree-remove' || event.kind === 'worktree-create') {
    const isRemoval = event.kind === 'worktree-remove';
    const cwd = isRemoval ? event.path : event.cwd;
    if (!isAbsolute(cwd) || !existsSync(cwd)) {
      // An agent may remove a worktree that is gone already.
      if (isRemoval) return;
      throw new AgtError(`cannot make a worktree: the agent is in "${cwd}", which is not there`);
    }
    process.chdir(cwd);
    return answerWorktree(await openTolerantly(call, event), integration, event);
  }
  if (!isAbsolute(event.cwd)) return;
  const present = nearestPresent(event.cwd);
  process.chdir(present);
  return record(call, integration, event, present !== event.cwd);
}

/** An agent may delete the directory that it works in. */
function nearestPresent(path: string): string {
  return existsSync(path) ? path : nearestPresent(dirname(path));
}

async function record(
  call: HookCall,
  integration: Integration,
  event: FileEvent | EnvironmentEvent,
  isAbove: boolean,
): Promise<void> {
  const context = await openTolerantly(call, event);
  const command = event.kind === 'prompt' ? commandIn(event) : undefined;
  const { blockPrompt } = integration;
  if (command !== undefined && blockPrompt !== undefined) {
    const run = { command, isComplete: false };
    const answerIn = async (here: Context, above: boolean) => {
      if ((await placeOf(here, above)) !== undefined) return answerPrompt(here, run);
      const reason = await unanswered(here, event.cwd);
      return reason && formatError(reason, false).trimEnd();
    };
    const answerHere = async () => {
      const deleted = isAbove ? await deletedFolder(context, event.cwd) : undefined;
      if (deleted === undefined) return answerIn(context, isAbove);
      return inFolderMadeAgain(deleted, async () => answerIn(await openTolerantly(call, event), false));
    };
    const text = await answerWhateverHappens(answerHere, run, event, call);
    if (text !== undefined) context.out(blockPrompt(text));
    return;
  }
  const place = await placeOf(context, isAbove);
  if (place === undefined) return;
  if (event.kind === 'environment') {
    const directory = place.record === undefined ? undefined : await gitDirectory(context);
    return context.out(directory === undefined ? '' : `${directory}\n`);
  }
  if (event.kind === 'session-start') renewFront(context, call, event);
  const request = {
    event,
    integration,
    access: context.folderAccess(),
    now: context.now(),
    isInBackground: call.isInBackground,
    leaveToBackground: () => continueInBackground(call, event),
    gitDirectory: () => gitDirectory(context),
  };
  await recordWhateverHappens(place, request, call);
}

function commandIn({ prompt }: PromptEvent): PromptCommand | undefined {
  return parsePromptCommand(prompt) ?? nearMiss(prompt);
}

/** The present one goes on working. */
function renewFront(context: Context, { tool, env }: HookCall, event: HookEvent): void {
  try {
    renewHooksFront(context);
  } catch (error) {
    logFailure(env, { ...about(event), tool }, error);
  }
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
    return isAbove && !isKnown ? undefined : folderPlace(access, folder, user, settings.readOnlyTools);
  }
  return isActive(session) ? sessionPlace(user, session) : undefined;
}

/** A wrong setting must not keep agt from capturing: it goes on with the default, and logs the problem. */
async function openTolerantly({ tool, env }: HookCall, { name: event }: HookEvent): Promise<Context> {
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
function continueInBackground({ tool, env }: HookCall, event: HookEvent): void {
  const [program = '', ...args] = [...ownCommand(), 'hook', tool, IN_BACKGROUND];
  const directory = mkdtempSync(join(tmpdir(), 'agt-'));
  const path = join(directory, 'event');
  writeFileSync(path, JSON.stringify(event), { mode: 0o600 });
  const input = openSync(path, 'r');
  rmSync(directory, { recursive: true });
  const child = spawn(program, args, {
    cwd: process.cwd(),
    env,
    detached: true,
    stdio: [input, 'ignore', 'ignore'],
  });
  closeSync(input);
  child.on('error', (error) => logFailure(env, { ...about(event), tool }, error));
  child.unref();
}

/** An agent ends a hook that takes longer than it allows, and its snapshot must not be lost. */
function recordWhateverHappens(place: Place, request: RecordRequest, call: HookCall): Promise<void> {
  if (call.isInBackground) return recordEvent(place, request);
  const { event } = request;
  const goOn = () => {
    call.forget();
    const reason = new Error(
      'the agent ended agt before its snapshot was complete; agt goes on in the background',
    );
    logFailure(call.env, { ...about(event), tool: call.tool, pending: true }, reason);
    continueInBackground(call, event);
  };
  return sayWhenInterrupted(goOn, () => recordEvent(place, request));
}

/** An agent ends a hook that takes longer than it allows, and its person must not be left with half of a restore. */
async function answerWhateverHappens(
  answerHere: () => Promise<string | undefined>,
  run: PromptRun,
  event: FileEvent | EnvironmentEvent,
  call: HookCall,
): Promise<string | undefined> {
  if (call.isInBackground) {
    await answerHere();
    if (run.failure !== undefined) throw run.failure;
    return undefined;
  }
  const goOn = () => {
    call.forget();
    const goesOn = isUnfinished(run) ? ({ pending: true } as const) : {};
    logFailure(call.env, { ...about(event), tool: call.tool, ...goesOn }, interruptedPrompt(run, event.cwd));
    if (isUnfinished(run)) continueInBackground(call, { ...event, kind: 'prompt', prompt: promptOf(run) });
  };
  return sayWhenInterrupted(goOn, answerHere).catch((error: unknown) => formatError(error, false).trimEnd());
}
