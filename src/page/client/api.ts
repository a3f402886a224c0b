/** Asks the server, which answers with commands of agt. A saved page has the answers inside. */
import type { Landing } from '../../survey/landing-place.ts';

export interface Row {
  /** Of a folder without a session: its path. */
  readonly session_id: string;
  readonly repository?: string;
  readonly state: string;
  readonly working_copy: string;
  readonly agent_state: {
    state: 'works' | 'waits' | 'done' | 'failed';
    since: string;
    prompt: string | null;
    /** Why it waits, or has failed. */
    for: string | null;
  } | null;
  readonly last_prompt: string | null;
  /** It came from another repository, of which not all prompts may be known here. */
  readonly moved?: object | null;
  readonly agent?: string | null;
  readonly running: boolean | null;
  readonly operation: string | null;
  readonly ahead: number | null;
  readonly behind: number | null;
  readonly dirty: number | null;
  readonly diff: { files: number; insertions: number; deletions: number; in_part: boolean } | null;
  readonly merge: 'clean' | 'conflict' | 'refused' | null;
  readonly merged: boolean;
  readonly merged_on: string | null;
  readonly landed: (Landing & { readonly at: string; readonly in_part: boolean }) | null;
  readonly created_at: string;
  /** When it ended, or came into another state. */
  readonly state_at?: string | null;
  readonly last_autocommit: string | null;
  readonly last_autocommit_at: string | null;
  readonly user_branch?: string | null;
  readonly from?: string | null;
  readonly from_spec?: string | null;
  readonly work_branch: string;
  readonly checkout?: string | null;
  readonly pulse?: readonly number[];
  /** Null until somebody has marked something. */
  readonly new_hunks: number | null;
}

export interface Change {
  readonly path: string;
  readonly status: string;
  readonly insertions?: number | null;
  readonly deletions?: number | null;
  /** As git prints it; null if it is secret or too long. */
  readonly patch?: string | null;
  readonly hidden?: true;
}

export interface Step {
  readonly commit: string;
  readonly at: string;
  readonly label: string | null;
  readonly tool: string | null;
  readonly summary: string | null;
  readonly outcome: string | null;
  readonly restored: string | null;
  readonly author: 'agent' | 'other' | 'restore' | 'unknown';
  readonly turn: number | null;
  readonly files: readonly Change[];
  /** Of the oldest one of all: words for it. */
  readonly begins?: string;
}

export interface Turn {
  readonly number: number;
  readonly prompt: string | null;
  readonly agent: string | null;
  readonly began_at: string;
  readonly at: string;
  readonly calls: number;
  readonly failed_calls: number;
  readonly insertions: number;
  readonly deletions: number;
  /** False if it was taken back. */
  readonly stands: boolean;
  readonly files: readonly Change[];
}

export interface Answer<T> {
  readonly exitCode: number;
  readonly json?: T;
  readonly err?: string;
}

interface Saved {
  readonly rows: readonly Row[];
  readonly answers: Readonly<Record<string, Answer<unknown>>>;
}

const element = document.getElementById('saved');
const saved = element === null ? undefined : (JSON.parse(element.textContent ?? '') as Saved);
export const isSaved = saved !== undefined;

export interface Asked {
  readonly inSandbox?: boolean;
  readonly secrets?: boolean;
}

/** Gets the line that a terminal would show meanwhile. */
type OnProgress = (line: string) => void;

/** @throws Error with one line for a person. */
export async function ask<T>(
  row: Pick<Row, 'session_id' | 'repository'> | undefined,
  words: readonly string[],
  asked: Asked = {},
  onProgress: OnProgress = () => undefined,
): Promise<Answer<T>> {
  if (saved !== undefined) {
    const answer = saved.answers[words.join(' ')];
    if (answer === undefined) throw new Error('this file does not have it: run agt ui in the repository');
    return answer as Answer<T>;
  }
  const { session_id: session, repository } = row ?? {};
  const body = JSON.stringify({ session, repository, words, ...asked });
  const response = await fetch('run', { method: 'POST', body }).catch(() => {
    throw new Error('agt ui has ended; start it again');
  });
  const answer = JSON.parse(await lastLine(response, onProgress)) as Answer<T> & { error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

/** Those before it say how far an act is. */
async function lastLine({ body }: Response, onProgress: OnProgress): Promise<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  const parts: string[] = [];
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    const [first = '', ...lines] = read.value.split('\n');
    parts.push(first);
    for (const line of lines) {
      onProgress((JSON.parse(parts.splice(0).join('')) as { progress: string }).progress);
      parts.push(line);
    }
  }
  return parts.join('');
}

export function withJson(words: readonly string[]): string[] {
  const end = words.indexOf('--');
  const at = end < 0 ? words.length : end;
  return [...words.slice(0, at), '--json', ...words.slice(at)];
}

/** The JSON of a command that has to succeed. */
export async function askJson<T>(row: Row | undefined, words: readonly string[], asked?: Asked): Promise<T> {
  const { json, err, exitCode } = await ask<T & { error?: string }>(row, withJson(words), asked);
  if (json === undefined || json.error !== undefined) throw new Error(reason(err, exitCode));
  return json;
}

const reason = (err = '', exitCode = 1) =>
  err.replace(/^error: /, '').trim() || `agt ended with exit code ${exitCode}`;

/** Calls `onRows` whenever the list changes. */
export function watchRows(
  onRows: (rows: readonly Row[]) => void,
  onEnd: (isGone: boolean) => void,
): () => void {
  if (saved !== undefined) {
    onRows(saved.rows);
    return () => undefined;
  }
  const source = new EventSource('events');
  source.addEventListener('sessions', ({ data }) => onRows(JSON.parse(data) as Row[]));
  source.onerror = () => onEnd(true);
  source.onopen = () => onEnd(false);
  return () => source.close();
}

export function fileAddress(row: Row, snapshot: string, path: string): string {
  const { session_id: session, repository } = row;
  return `file?${new URLSearchParams({ session, snapshot, path, ...(repository && { repository }) })}`;
}
