/** The part of a session's metadata that every room relies on. src/session/record.ts knows the rest. */
import { jsonNamesIn } from '../disk/folder-entries.ts';
import { readRegularFile } from '../disk/read-file.ts';
import { attempt } from '../errors.ts';
import { recordFile, recordsDirectory } from '../layout.ts';

export interface SessionFile {
  readonly session_id: string;
  /** Full names; every version of agt has written them. */
  readonly branch?: string;
  readonly work_branch?: string;
  /** Absolute path of the worktree that the agent works in. */
  readonly sandbox: string;
  /** The user's own checkout, if the session works there. */
  readonly checkout?: string;
  readonly state: string;
  /** Present if only commands that a person gives capture the session (fs.snapshots=disable). */
  readonly captures?: string;
  /** The token of the session folder, if a provider has made it. */
  readonly token?: string;
  /** An operation that is not complete. */
  readonly intent?: { readonly operation: string };
}

/** The folder of such a session is there, and agt captures it. src/session/state.ts has all states. */
export function isActive({ state }: { readonly state: string }): boolean {
  return state === 'active' || state === 'failed' || state === 'away';
}

/** Whether triggers capture such a session: hooks, the guard, agt watch, cron, agt session run. */
export function isCapturedByItself(session: Pick<SessionFile, 'state' | 'captures'>): boolean {
  return isActive(session) && session.captures === undefined;
}

/** Undefined for text that is not a session's metadata. Fields that are not named here are kept. */
export function parseSessionFile(text: string): SessionFile | undefined {
  const parsed: Partial<SessionFile> | null | undefined = attempt(() => JSON.parse(text));
  if (parsed === undefined) return undefined;
  const isComplete = [parsed?.session_id, parsed?.sandbox, parsed?.state].every(
    (value) => typeof value === 'string',
  );
  return isComplete ? (parsed as SessionFile) : undefined;
}

/** Undefined for a session without readable metadata. */
export function readSessionFile(agtDir: string, sessionId: string): SessionFile | undefined {
  return attempt(() => parseSessionFile(readRegularFile(recordFile(agtDir, sessionId)).toString()));
}

/** Every session whose metadata can be read; `agt doctor` reports the others. */
export function readSessionFiles(agtDir: string): SessionFile[] {
  const ids = attempt(() => jsonNamesIn(recordsDirectory(agtDir))) ?? [];
  return ids.flatMap((id) => readSessionFile(agtDir, id) ?? []);
}
