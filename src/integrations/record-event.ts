/** Brings an event of an agent into the history of the session that the agent works in. */
import { appendFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readIfThere } from '../disk/lock-owner.ts';
import { shellQuote } from '../git/run/trace.ts';
import { slowCaptureFile } from '../repository/layout.ts';
import type { Repository } from '../repository/repository.ts';
import { changeOwner } from '../running/change-owner.ts';
import { markFailed } from '../running/mark-failed.ts';
import { isReadOnly, recordCall } from '../running/record-call.ts';
import { sweep } from '../running/sweep.ts';
import { ownerIsGone, ownerOf } from '../session/owner.ts';
import type { SessionRecord } from '../session/record.ts';
import { isBusy, retryWhileBusy } from '../session/retry.ts';
import { promptLabel } from '../snapshot/own-labels.ts';
import { autocommit } from '../triggers/autocommit.ts';
import {
  firstWords,
  type HookEvent,
  type PromptEvent,
  type SessionEnd,
  type SessionStart,
  type ToolEvent,
} from './event.ts';

export interface RecordRequest {
  readonly event: HookEvent;
  /** The name of the agent's command, such as `claude`. */
  readonly agent: string;
  readonly now: Date;
  /** The event comes from this agt, which has left it to a process of its own. */
  readonly isInBackground: boolean;
  /** Starts such a process. */
  readonly leaveToBackground: () => Promise<void>;
  /** The directory to put first on PATH so that `git` is agt's; undefined if it is already. */
  readonly gitDirectory: () => Promise<string | undefined>;
}

/** Two tools of an agent may end at once. The next event captures what this one leaves. */
const LONGEST_WAIT_MS = 10_000;

/** Once a capture takes longer, the agent does not wait for those of its tools. */
const SLOW_MS = 1_000;

/** @throws the error of agt or git. The session is marked then. */
export async function recordEvent(
  repository: Repository,
  record: SessionRecord,
  request: RecordRequest,
): Promise<void> {
  const { event } = request;
  switch (event.kind) {
    case 'session-start':
      return begin(repository, record, event, request);
    case 'prompt':
      return capture(repository, record, request, labelOf(event));
    case 'tool':
      return recordTool(repository, record, event, request);
    case 'turn':
      return capture(repository, record, request);
    case 'session-end':
      await capture(repository, record, request);
      return end(repository, record, event);
    case 'other':
      return;
  }
}

async function begin(
  repository: Repository,
  record: SessionRecord,
  event: SessionStart,
  request: RecordRequest,
): Promise<void> {
  if (request.isInBackground) {
    await sweep(repository, request.now);
    return capture(repository, record, request);
  }
  if (event.pid !== undefined) await own(repository, record, event.pid, request);
  await request.leaveToBackground();
  if (event.environmentFile === undefined) return;
  const directory = await request.gitDirectory();
  if (directory !== undefined) putFirstOnPath(event.environmentFile, directory);
}

/** A command that runs in the session already stays its owner: it has started the agent. */
async function own(
  repository: Repository,
  record: SessionRecord,
  pid: number,
  { agent, now }: RecordRequest,
): Promise<void> {
  const owner = ownerOf(pid, agent, now);
  const change = (present: typeof record.owner) =>
    present === undefined || ownerIsGone(present) ? owner : present;
  await leaveIfBusy(() => changeOwner(repository, record.session_id, change, LONGEST_WAIT_MS));
}

async function end(repository: Repository, record: SessionRecord, { pid }: SessionEnd): Promise<void> {
  if (pid === undefined) return;
  const change = (present: typeof record.owner) => (present?.pid === pid ? undefined : present);
  await leaveIfBusy(() => changeOwner(repository, record.session_id, change, LONGEST_WAIT_MS));
}

/** The tool empties the file for each conversation, but may send the event several times. */
function putFirstOnPath(environmentFile: string, directory: string): void {
  const line = `export PATH=${shellQuote(directory)}:"$PATH"\n`;
  if (!readIfThere(environmentFile).includes(line)) appendFileSync(environmentFile, line);
}

/** The prompt comes again, empty, between the calls of some tools: then it is no step of the user. */
function labelOf({ prompt }: PromptEvent): string | undefined {
  const words = firstWords(prompt);
  return words === '' ? undefined : promptLabel(words);
}

async function recordTool(
  repository: Repository,
  record: SessionRecord,
  event: ToolEvent,
  request: RecordRequest,
): Promise<void> {
  const { tool, outcome, callId: id, summary } = event;
  if (isReadOnly(tool, repository.settings.readOnlyTools)) return;
  const { agtDir } = repository;
  if (!request.isInBackground && isSlow(agtDir, record)) return request.leaveToBackground();
  const call = { tool, call: { outcome, id, summary }, onlyIfChanged: outcome === 'succeeded' };
  await timed(agtDir, record, () =>
    recordCall(repository, record, { ...call, waitMs: LONGEST_WAIT_MS, now: request.now }),
  );
}

async function capture(
  repository: Repository,
  record: SessionRecord,
  { now }: RecordRequest,
  label?: string,
): Promise<void> {
  const options = label === undefined ? { now } : { now, label };
  try {
    await timed(repository.agtDir, record, () =>
      retryWhileBusy(LONGEST_WAIT_MS, () => autocommit(repository, record, options)),
    );
  } catch (error) {
    await markFailed(repository, record, error, now);
    throw error;
  }
}

async function leaveIfBusy(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

function isSlow(agtDir: string, { session_id: id }: SessionRecord): boolean {
  return statSync(slowCaptureFile(agtDir, id), { throwIfNoEntry: false }) !== undefined;
}

/** Remembers for the next event whether this capture was slow. */
async function timed(agtDir: string, record: SessionRecord, action: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await leaveIfBusy(action);
  const file = slowCaptureFile(agtDir, record.session_id);
  const wasSlow = isSlow(agtDir, record);
  if (performance.now() - start > SLOW_MS === wasSlow) return;
  if (wasSlow) rmSync(file, { force: true });
  else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
  }
}
