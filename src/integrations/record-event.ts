/** Brings an event of an agent into the history of the place that the agent works in. */
import { appendFileSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { isNamed } from '../config/values.ts';
import { readIfThere } from '../disk/read-file.ts';
import { attempt } from '../errors.ts';
import type { FolderAccess } from '../folders/store.ts';
import { slowCaptureFile } from '../layout.ts';
import { isTidyDue, PRUNE_FOLDERS_BEFORE, tidyFolders } from '../maintenance/retention/folders.ts';
import { once } from '../once.ts';
import { shellQuote } from '../process/shell-quote.ts';
import type { Repository } from '../repository/repository.ts';
import { endOwnership, takeOwnership } from '../running/marks.ts';
import { sweep } from '../running/sweep.ts';
import { callsAtWork, conversationName, forgetCalls, noteCall } from '../session/calls-at-work.ts';
import { unlessBusy } from '../session/lock.ts';
import { ownerOf } from '../session/owner.ts';
import { Session } from '../session/session.ts';
import { copyTranscriptInto, noteTranscript } from '../session/transcript-copy.ts';
import { promptLabel } from '../snapshot/format.ts';
import type { AutocommitOptions } from '../workspace/capture-session.ts';
import {
  type BeforeTool,
  type FileEvent,
  firstWords,
  type PromptEvent,
  type SessionEnd,
  type SessionStart,
  summaryIn,
  type ToolEvent,
  type TurnEvent,
} from './event.ts';
import type { Integration } from './integration.ts';
import { noteState } from './note-state.ts';
import type { Place } from './place.ts';
import { sweepWorktrees } from './worktrees.ts';

export interface RecordRequest {
  readonly event: FileEvent;
  readonly integration: Integration;
  readonly now: Date;
  readonly access: FolderAccess;
  /** This process of an agent is about to end. */
  readonly ending?: number | undefined;
  /** The event comes from another agt, which has left it to this process. */
  readonly isInBackground: boolean;
  /** Starts such a process. */
  readonly leaveToBackground: () => void;
  /** The directory to put first on PATH so that `git` is agt's; undefined if it is already. */
  readonly gitDirectory: () => Promise<string | undefined>;
}

/** Once two captures in a row take longer, the agent does not wait for those of its tools. */
const SLOW_MS = 1_000;
const SLOW_IN_A_ROW = 2;

/** @throws the error of agt or git. The session is marked then. */
export async function recordEvent(place: Place, request: RecordRequest): Promise<void> {
  const { event, integration, access, now, isInBackground } = request;
  const note = () => isInBackground || attempt(() => noteState(place, integration, event, access.env, now));
  const hasStore = existsSync(place.agtDir);
  if (hasStore) note();
  if (event.kind === 'waits') return;
  const noteCallsNow = once(() => noteCalls(place, request));
  try {
    await record(place, request, noteCallsNow);
  } finally {
    noteCallsNow();
    if (!hasStore) note(); // the first event of a folder makes its store
  }
}

async function record(place: Place, request: RecordRequest, noteCallsNow: () => void): Promise<void> {
  const { event } = request;
  switch (event.kind) {
    case 'session-start':
      return begin(place, event, request);
    case 'prompt':
      return capture(place, request, labelOf(event));
    case 'before-tool':
      return recordBefore(place, event, request);
    case 'tool':
      return recordTool(place, event, request, noteCallsNow);
    case 'waits':
      return;
    case 'turn':
      return endTurn(place, event, request);
    case 'session-end':
      return end(place, event, request);
  }
}

/** Every snapshot names the calls at work. A prompt ends all of its conversation. A folder without a store notes none. */
function noteCalls({ agtDir, id }: Place, { event, integration, isInBackground }: RecordRequest): void {
  const name = conversationName(integration.name, event.conversation);
  if (isInBackground || name === undefined || !existsSync(agtDir)) return;
  if (event.kind === 'before-tool') noteCall(agtDir, id, name, 'begins');
  else if (event.kind === 'tool') noteCall(agtDir, id, name, 'ends');
  else forgetCalls(agtDir, id, name);
}

function callOf({ agtDir, id }: Place, { event, integration, now }: RecordRequest): string | undefined {
  const name = conversationName(integration.name, event.conversation);
  const isInCall = name !== undefined && callsAtWork(agtDir, id, now).includes(name);
  return isInCall ? 'the agent is in a call already' : undefined;
}

async function begin(place: Place, event: SessionStart, request: RecordRequest): Promise<void> {
  if (request.isInBackground) {
    // The prompt may have come meanwhile, and a call, whose work this would take for a person's.
    await capture(place, request, { reasonToWait: () => callOf(place, request) });
    if (place.user !== undefined) await sweepAll(place.user, request);
    // Snapshots of folders that are older than their time, once a day.
    const { access, now } = request;
    const tidying = { thin: false, now, pruneBefore: PRUNE_FOLDERS_BEFORE, dryRun: false };
    if (isTidyDue(access, now)) await tidyFolders(access, tidying);
    return;
  }
  const { pid, environmentFile } = event;
  if (pid !== undefined) {
    // A command that runs in the session already stays its owner: it has started the agent.
    const owner = ownerOf(pid, request.integration.program, request.now);
    await ofSession(place, (session) => takeOwnership(session, owner));
  }
  request.leaveToBackground();
  if (environmentFile === undefined || place.user === undefined) return;
  const directory = await request.gitDirectory();
  if (directory !== undefined) putFirstOnPath(environmentFile, directory);
}

async function endTurn(place: Place, { failure }: TurnEvent, request: RecordRequest): Promise<void> {
  await captureTurn(place, request);
  if (failure === undefined) return;
  await place.failTurn(`a turn of ${request.integration.program} failed: ${failure}`, request.now);
}

/** A conversation that cannot be copied does not keep agt from the files. */
async function captureTurn(place: Place, request: RecordRequest): Promise<void> {
  try {
    keepConversation(place, request);
  } finally {
    await capture(place, request);
  }
}

/** Only in a session that has been made for this kind of agent. */
function keepConversation({ agtDir, user, record }: Place, { event, integration }: RecordRequest): void {
  const { transcript } = event;
  const { name, copiesTranscript } = integration;
  if (user === undefined || record?.profile !== name || copiesTranscript !== true) return;
  if (transcript !== undefined && isAbsolute(transcript)) noteTranscript(agtDir, record, transcript);
  copyTranscriptInto(user, record);
}

async function sweepAll(user: Repository, { integration: { worktrees }, ending, now }: RecordRequest) {
  await sweep(user, now);
  if (worktrees !== undefined) await sweepWorktrees(user, worktrees.subagentPrefix, ending, now);
}

async function end(place: Place, { pid }: SessionEnd, request: RecordRequest): Promise<void> {
  if (request.isInBackground) {
    if (place.user !== undefined) await sweepAll(place.user, { ...request, ending: pid });
    return;
  }
  try {
    await captureTurn(place, request);
  } finally {
    if (pid !== undefined) await ofSession(place, (session) => endOwnership(session, pid));
  }
  if (request.integration.worktrees !== undefined && place.user !== undefined) request.leaveToBackground();
}

async function ofSession(place: Place, change: (session: Session) => Promise<void>): Promise<void> {
  const { user, record } = place;
  if (user !== undefined && record !== undefined) await unlessBusy(() => change(new Session(user, record)));
}

/** The tool empties the file for each conversation, but may send the event several times. */
function putFirstOnPath(environmentFile: string, directory: string): void {
  const line = `export PATH=${shellQuote(directory)}:"$PATH"\n`;
  if (!readIfThere(environmentFile).includes(line)) appendFileSync(environmentFile, line);
}

/** The prompt comes again, empty, between the calls of some tools: then it is no step of the user. */
function labelOf({ prompt }: PromptEvent): { label?: string } {
  const words = firstWords(prompt);
  return words === '' ? {} : { label: promptLabel(words) };
}

/** The agent waits for it, however slow: what the tool destroys is not anywhere else. */
async function recordBefore(place: Place, { tool, callId: id }: BeforeTool, request: RecordRequest) {
  if (isNamed(tool, place.readOnlyTools)) return;
  const before = { tool, id };
  return capture(place, request, { before, onlyIfChanged: true, isAskedByFront: true });
}

/** A call that failed is recorded even if it changed nothing: a person may look for it. */
async function recordTool(place: Place, event: ToolEvent, request: RecordRequest, noteEnd: () => void) {
  const { tool, outcome, callId: id } = event;
  if (isNamed(tool, place.readOnlyTools)) return;
  if (!request.isInBackground && isSlowPlace(place)) return request.leaveToBackground();
  const onlyIfChanged = outcome === 'succeeded';
  const folders = [place.record?.sandbox, place.record?.checkout].filter((one) => one !== undefined);
  const call = { outcome, id, summary: summaryIn(folders, event.summary) };
  // Until then, whoever captures the change sees that the call is at work.
  return capture(place, request, { tool, call, onlyIfChanged, isAskedByFront: true, onLocked: noteEnd });
}

async function capture(
  place: Place,
  { integration: { program: agent }, event: { kind, conversation }, now }: RecordRequest,
  options: Partial<AutocommitOptions> = {},
): Promise<void> {
  const start = performance.now();
  await place.capture({
    now,
    agent,
    agentGoesOn: ['prompt', 'before-tool', 'tool', 'turn'].includes(kind),
    ...(conversation === undefined ? {} : { conversation }),
    ...options,
  });
  rememberSpeed(slowFileOf(place), performance.now() - start > SLOW_MS);
}

/** A byte for each slow capture in a row: after one large file the next capture is quick again. */
function rememberSpeed(slowFile: string, isSlow: boolean): void {
  if (isSlow) {
    mkdirSync(dirname(slowFile), { recursive: true });
    appendFileSync(slowFile, '.');
  } else rmSync(slowFile, { force: true });
}

const slowFileOf = ({ agtDir, id }: Place) => slowCaptureFile(agtDir, id);

function isSlowPlace(place: Place): boolean {
  return (statSync(slowFileOf(place), { throwIfNoEntry: false })?.size ?? 0) >= SLOW_IN_A_ROW;
}
