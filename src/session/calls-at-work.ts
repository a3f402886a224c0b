/**
 * Which conversations are in the middle of a call: a snapshot names them, so that nobody takes their changes for those of
 * somebody else. A file for each conversation has a letter for each call that has begun or ended since its last prompt.
 * The front writes them too (agtmode/front/front-events.ts).
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt } from '../errors.ts';
import { callsDirectory } from '../layout.ts';

export const CALL_LETTERS = { begins: 'b', ends: 'e' } as const;

/** An agent that was killed in a call never ends it. */
const LONGEST_MS = 3_600_000;

/** The name of a conversation in a snapshot, `claude-code.5f3c1a`, and of its file. */
export function conversationName(agent: string, conversation = ''): string | undefined {
  return /^[A-Za-z0-9._-]*$/.test(conversation) ? `${agent}.${conversation}` : undefined;
}

/** The conversation in such a name; the name itself if it has none. */
export function conversationIn(name: string): string {
  return name.slice(name.indexOf('.') + 1) || name;
}

export function noteCall(agtDir: string, sessionId: string, name: string, does: keyof typeof CALL_LETTERS) {
  const file = join(callsDirectory(agtDir, sessionId), name);
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, CALL_LETTERS[does]);
}

/** A prompt or the end of a turn: whatever did not end was interrupted. */
export function forgetCalls(agtDir: string, sessionId: string, name: string): void {
  rmSync(join(callsDirectory(agtDir, sessionId), name), { force: true });
}

export function callsAtWork(agtDir: string, sessionId: string, now: Date): string[] {
  const directory = callsDirectory(agtDir, sessionId);
  const names = attempt(() => readdirSync(directory)) ?? [];
  return names.filter((name) => {
    const file = join(directory, name);
    let open = 0;
    for (const letter of attempt(() => readFileSync(file, 'latin1')) ?? '')
      open = Math.max(0, open + (letter === CALL_LETTERS.begins ? 1 : -1));
    return open > 0 && now.getTime() - (attempt(() => statSync(file).mtimeMs) ?? 0) < LONGEST_MS;
  });
}
