/**
 * `agt hook`: an agent has called. Whatever fails here, the agent goes on: agt ends with 0 and writes the reason to
 * hooks.log. Standard output reaches the model, so agt prints nothing but an answer that the agent asked for.
 */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { hooksBin, stateDirectory } from '../../disk/state-home.ts';
import { AgtError, attempt, EXIT, formatError, usageError } from '../../errors.ts';
import { reviewRef } from '../../filter/agent-refs.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import {
  type EnvironmentEvent,
  type FileEvent,
  type HookEvent,
  parseEventJson,
  type WorktreeEvent,
} from '../../integrations/event.ts';
import { logFailure, noteRunning, writeLastEvent } from '../../integrations/hooks-log.ts';
import type { Integration } from '../../integrations/integration.ts';
import { isOfSubagent } from '../../integrations/note-state.ts';
import type { Place } from '../../integrations/place.ts';
import { recordEvent } from '../../integrations/record-event.ts';
import { findIntegration } from '../../integrations/tools.ts';
import { createWorktree, removeWorktree } from '../../integrations/worktrees.ts';
import { newSessionInPlace } from '../../lifecycle/in-place/begin.ts';
import { startAgt } from '../../process/invocation.ts';
import { isTerminal, readStandardInput } from '../../process/streams.ts';
import { isAnswered } from '../../triggers/watch/questions.ts';
import type { Context } from '../context.ts';
import { renewHooksFront, usesHooksFront } from '../front/write-front.ts';
import { runSetup } from '../setup.ts';
import { gitDirectory, renewShimOnPath } from '../shim.ts';
import { answerPrompt, runAgt } from './answer-prompt.ts';
import {
  about,
  continueInBackground,
  goOnWhenEnded,
  type HookCall,
  IN_BACKGROUND,
  logEvent,
  openTolerantly,
  placeOf,
  whyEnded,
  withoutProjectVariables,
} from './call.ts';
import { parsePrompt } from './prompts.ts';
import { keepFence } from './strays.ts';
import { whatWentBack } from './tell-model.ts';

export async function answerHook([tool = '', ...words]: readonly string[]): Promise<number> {
  if (isTerminal(0)) {
    throw usageError(
      'agt hook reads an event of an agent from standard input',
      'the settings of the agent call it: agt hooks install',
    );
  }
  const env = withoutProjectVariables(process.env, tool);
  const call: HookCall = { tool, env, isInBackground: words.includes(IN_BACKGROUND), forget: () => {} };
  try {
    return await answer(call, readStandardInput());
  } catch (error) {
    const cwd = attempt(() => process.cwd()) ?? '';
    logFailure(env, { at: new Date().toISOString(), tool, event: '', cwd }, error);
    return EXIT.done;
  }
}

async function answer(call: HookCall, input: string): Promise<number> {
  const { tool, env, isInBackground } = call;
  const integration = findIntegration(tool);
  if (integration === undefined) throw new Error(`agt knows no agent "${tool}"`);
  const json = parseEventJson(input);
  const event = isInBackground
    ? (json as unknown as HookEvent)
    : integration.readEvent(json, env, attempt(() => process.cwd()) ?? '/'); // it may be gone
  if (!isInBackground) writeLastEvent(env, tool, about(event));
  const forget = noteRunning(env, { ...about(event), tool });
  try {
    await act({ ...call, forget }, integration, event);
    return EXIT.done;
  } catch (error) {
    logEvent(call, event, error);
    if (event.kind !== 'worktree-create') return EXIT.done;
    // Without a worktree the agent cannot begin, and it shows the reason.
    process.stderr.write(formatError(error, false));
    return EXIT.failed;
  } finally {
    forget();
  }
}

async function act(call: HookCall, integration: Integration, event: HookEvent): Promise<void> {
  if (event.kind === 'other') return;
  if (event.kind === 'worktree-create') return createSession(call, integration, event);
  if (event.kind === 'worktree-remove') {
    if (!isAbsolute(event.path) || !existsSync(event.path)) return; // it is gone already
    process.chdir(event.path);
    const context = await openTolerantly(call, event);
    return removeWorktree(await context.repository(), event.path, event.pid, context.now());
  }
  if (!isAbsolute(event.cwd)) return;
  const present = nearestPresent(event.cwd);
  process.chdir(present);
  return record(call, integration, event, present !== event.cwd);
}

/** A worktree of the agent is a session. Standard output gets the path of a new one, and nothing else. */
async function createSession(
  call: HookCall,
  { name: profile, program: agent, worktrees }: Integration,
  event: WorktreeEvent & { readonly kind: 'worktree-create' },
) {
  const { cwd, pid, worktree: name } = event;
  if (!isAbsolute(cwd) || !existsSync(cwd))
    throw new AgtError(`cannot make a worktree: the agent is in "${cwd}", which is not there`);
  process.chdir(cwd);
  const context = await openTolerantly(call, event);
  const request = { name, cwd, now: context.now(), profile, prefix: worktrees?.prefix ?? '', pid, agent };
  const { record, isNew } = await createWorktree(await context.repository(), request);
  // If it fails, the sandbox is there all the same, and the reason is on standard error.
  if (isNew) await runSetup(context, record);
  context.out(`${record.sandbox}\n`);
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
  const command = event.kind === 'prompt' ? parsePrompt(event.prompt) : undefined;
  const { blockPrompt } = integration;
  if (command !== undefined && blockPrompt !== undefined && event.kind === 'prompt') {
    const text = await answerPrompt(context, command, call, event, isAbove);
    if (text !== undefined) context.out(blockPrompt(text));
    return;
  }
  /** The agent goes on as without this, and agt too. */
  const orLog = <T>(action: () => Promise<T>) =>
    action().catch((error: unknown) => logEvent(call, event, error));
  const found = await placeOf(context, isAbove);
  const { addContext, refuseTool } = integration;
  if (found === undefined) {
    if (event.kind !== 'before-tool' || refuseTool === undefined || call.isInBackground) return;
    const reason = await orLog(() => whyEnded(context, event.cwd));
    if (typeof reason === 'string') context.out(refuseTool(reason));
    return;
  }
  const isStart = event.kind === 'session-start' && !call.isInBackground;
  const begins = isStart && (await orLog(() => beginInPlace(found, integration, context.now())));
  const place = begins === true ? ((await placeOf(context, false)) ?? found) : found;
  if (event.kind === 'environment') {
    const directory = place.user === undefined ? undefined : await gitDirectoryFor(context, place);
    return void context.out(directory === undefined ? '' : `${directory}\n`);
  }
  if (event.kind === 'session-start') {
    await orLog(async () => renewHooksFront(context));
    renewShimOnPath(context);
  }
  if (event.kind === 'session-start' || event.kind === 'prompt')
    await orLog(async () => keepAnswering(context, integration, place));
  const acting = { context, place, integration };
  const isWaiting = event.kind === 'waits';
  const refusal = call.isInBackground || isWaiting ? undefined : await orLog(() => keepFence(acting, event));
  if (typeof refusal === 'string') return void context.out(refuseTool?.(refusal) ?? '');
  const isPrompt = event.kind === 'prompt' && event.prompt !== '' && !call.isInBackground;
  if (isPrompt && addContext !== undefined) {
    const wentBack = await orLog(() => whatWentBack(context, event.conversation));
    const rejected = await orLog(() => settleReview(context, place, event));
    const told = [wentBack, rejected].filter((text) => typeof text === 'string');
    if (told.length > 0) context.out(addContext(told.join('\n\n')));
  }
  const request = {
    event,
    integration,
    access: context.folderAccess(),
    now: context.now(),
    isInBackground: call.isInBackground,
    leaveToBackground: () => continueInBackground(call, event),
    gitDirectory: () => gitDirectoryFor(context, place),
  };
  const recordAndSettle = async () => {
    await recordEvent(place, request);
    if (event.kind !== 'prompt') await orLog(() => settleReview(context, place, event));
  };
  if (call.isInBackground) return recordAndSettle();
  const ended = 'the agent ended agt before its snapshot was complete; agt goes on in the background';
  await goOnWhenEnded(call, event, () => ({ reason: new Error(ended), rest: event }), recordAndSettle);
}

/** Nothing is written into a repository without sessions. */
function gitDirectoryFor(context: Context, { record }: Place): Promise<string | undefined> {
  const stateDir = record === undefined ? stateDirectory(context.env) : undefined;
  return gitDirectory(context, stateDir && hooksBin(stateDir));
}

/** An agent that goes on after longer has its hooks start agt once. */
const IDLE_S = 600;

/** As agt.watch says. Only the front asks the process. */
function keepAnswering(context: Context, integration: Integration, { user, record }: Place): void {
  if (user === undefined || record === undefined || !user.settings.watch) return;
  if (!usesHooksFront(context, integration) || isAnswered(user.agtDir)) return;
  // If it fails, the hooks start agt.
  startAgt(['watch', '--idle', String(IDLE_S)], user.commonDir, context.env);
}

/** As agt.autoSession says. Returns whether a session has begun. */
async function beginInPlace({ user, record }: Place, { name: profile }: Integration, now: Date) {
  if (user?.worktree === undefined || record !== undefined || user.settings.autoSession !== 'in-place')
    return false;
  await newSessionInPlace(user, { id: undefined, profile, now, replace: false, withChanges: false });
  return true;
}

/**
 * Hunks that a person has rejected in agt review go back at the end of a turn, or are told with the next prompt. Returns what
 * the model is to hear. Another agt does it: this one starts with every call of an agent.
 */
async function settleReview(context: Context, { user, record }: Place, event: FileEvent) {
  const when = event.kind === 'prompt' ? 'prompt' : 'turn';
  const isEnd = event.kind === 'session-end' || (event.kind === 'turn' && !isOfSubagent(event));
  if (user === undefined || record === undefined || (when === 'turn' && !isEnd)) return undefined;
  if ((await findObject(user.git, reviewRef(record.session_id))) === undefined) return undefined;
  const { exitCode, text } = await runAgt(['review', record.session_id, '--settle', when], context);
  if (exitCode !== EXIT.done) throw new AgtError(text.trimEnd().replace(/^error: /, ''));
  return text === '' ? undefined : text;
}
