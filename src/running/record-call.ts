/** `agt session record`: the call of a tool as a snapshot, even if it has changed nothing. */

import type { CaptureResult } from '../autocommit/capture.ts';
import type { Session } from '../session/session.ts';
import type { ToolCall } from '../snapshot/history.ts';
import { autocommit } from '../triggers/autocommit.ts';
import { markFailed } from './mark-failed.ts';

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

/** Whether agt.readOnlyTools names the tool; `*` in a name stands for anything. */
export function isReadOnly(tool: string, names: readonly string[]): boolean {
  return names.some((name) => {
    const parts = name.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`, 's').test(tool);
  });
}
