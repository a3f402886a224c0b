/** The call of a tool as a snapshot, even if it has changed nothing: `agt session record`, and `agt session exec`. */
import type { CaptureResult } from '../autocommit/capture.ts';
import { isAgtError } from '../errors.ts';
import { noteCommand, ownerOf } from '../session/owner.ts';
import type { Session } from '../session/session.ts';
import type { ToolCall } from '../snapshot/history.ts';
import { autocommit } from '../triggers/autocommit.ts';
import { type CommandEnd, type CommandLine, withCommand } from './command.ts';
import { markFailed } from './marks.ts';

export interface CallToRecord {
  readonly tool: string;
  readonly call: ToolCall;
  readonly onlyIfChanged: boolean;
  /** So long agt waits for another agt that works on the session. */
  readonly waitMs: number;
  readonly now: Date;
}

/** @throws the error of agt or git, after it has marked the session as failed. */
export async function recordCall(
  session: Session,
  { tool, call, onlyIfChanged, waitMs, now }: CallToRecord,
): Promise<CaptureResult> {
  try {
    return await autocommit(session, { now, tool, call, onlyIfChanged, waitMs });
  } catch (error) {
    await markFailed(session, error, now);
    throw error;
  }
}

export interface ExecRequest extends Omit<CallToRecord, 'call' | 'now'> {
  readonly line: CommandLine;
  readonly callId: string | undefined;
  readonly summary: string | undefined;
  /** The tool changes nothing: there is nothing to record. */
  readonly isReadOnly: boolean;
  readonly now: () => Date;
}

interface ExecResult {
  readonly end: CommandEnd;
  /** Why the command could not be started. */
  readonly startError?: unknown;
  readonly recorded?: CaptureResult;
  readonly recordError?: unknown;
}

/** Runs a tool and records its call. If the tool fails, the snapshot is marked with that and the session stays as it is. */
export async function execTool(session: Session, request: ExecRequest): Promise<ExecResult> {
  // A call that fails has changed only what came after this.
  const { tool, callId: id } = request;
  const options = { now: request.now(), before: { tool, id }, onlyIfChanged: true };
  if (!request.isReadOnly) await autocommit(session, options).catch(() => undefined); // it runs all the same
  return withCommand(request.line, async (command) => {
    const name = (request.line.words[0] ?? '').replace(/^.*\//s, '');
    const ended =
      command.pid === undefined
        ? undefined
        : noteCommand(session.repository, session.id, ownerOf(command.pid, name, request.now()));
    const result = await command.ended.then((end): ExecResult => ({ end }), startFailure).finally(ended);
    if (request.isReadOnly) return result;
    const outcome = result.end.exitCode === 0 ? 'succeeded' : 'failed';
    const call = { outcome, id: request.callId, summary: request.summary } as const;
    try {
      const recorded = await recordCall(session, { ...request, call, now: request.now() });
      return { ...result, recorded };
    } catch (recordError) {
      return { ...result, recordError };
    }
  });
}

function startFailure(startError: unknown): ExecResult {
  if (!isAgtError(startError)) throw startError;
  return { end: { exitCode: startError.exitCode, signal: undefined }, startError };
}
