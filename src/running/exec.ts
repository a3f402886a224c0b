/**
 * `agt session exec`: runs a tool and records its call. If the tool fails, the snapshot is marked with that and the session
 * stays as it is. If agt fails, the session is marked.
 */

import type { CaptureResult } from '../autocommit/capture.ts';
import { isAgtError } from '../errors.ts';
import type { Session } from '../session/session.ts';
import { type CommandEnd, type CommandLine, withCommand } from './command.ts';
import { type CallToRecord, recordCall } from './record-call.ts';

export interface ExecRequest extends Omit<CallToRecord, 'call' | 'now'> {
  readonly line: CommandLine;
  readonly callId: string | undefined;
  readonly summary: string | undefined;
  /** The tool changes nothing: there is nothing to record. */
  readonly isReadOnly: boolean;
  readonly now: () => Date;
}

export interface ExecResult {
  readonly end: CommandEnd;
  /** Why the command could not be started. */
  readonly startError?: unknown;
  readonly recorded?: CaptureResult;
  readonly recordError?: unknown;
}

export async function execTool(session: Session, request: ExecRequest): Promise<ExecResult> {
  return withCommand(request.line, async (command) => {
    const result = await command.ended.then((end): ExecResult => ({ end }), startFailure);
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
