/** Calls hooks as an agent does, and reads what came of it. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestSession } from '../harness/session.ts';
import { AGT, agtOk, run } from '../harness/world.ts';

export const stateDir = () => join(process.env['HOME'] ?? '', '.local/state/agt');

export function hook(cwd: string, event: string, fields: object = {}, env: Record<string, string> = {}) {
  const input = Buffer.from(JSON.stringify({ session_id: 'c1', cwd, hook_event_name: event, ...fields }));
  return run(AGT, ['hook', 'claude-code'], { cwd: '/', input, env });
}

export function say(cwd: string, prompt: string) {
  return hook(cwd, 'UserPromptSubmit', { prompt });
}

export function toolOf(cwd: string, tool: string, input: object, event = 'PostToolUse', id = 'toolu_1') {
  return hook(cwd, event, { tool_name: tool, tool_input: input, tool_use_id: id });
}

export const silent = { exitCode: 0, stdout: '', stderr: '' };

export function log({ repository, id }: TestSession) {
  return JSON.parse(agtOk(repository, 'session', 'log', id, '--json')) as Record<string, unknown>[];
}

export const metadata = ({ repository, id }: TestSession) =>
  JSON.parse(readFileSync(join(repository, '.git/agt/sessions', `${id}.json`), 'utf8'));

export function failures(): { reason: string; cwd: string; event: string }[] {
  const text = existsSync(join(stateDir(), 'hooks.log'))
    ? readFileSync(join(stateDir(), 'hooks.log'), 'utf8')
    : '';
  rmSync(join(stateDir(), 'hooks.log'), { force: true });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

export async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; !condition(); ) {
    if (Date.now() > end) throw new Error('it did not happen within a minute');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export const SIGHUP = 1;

/** Whether a process has a handler for a signal. */
export function catches(pid: number, signal: number): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
