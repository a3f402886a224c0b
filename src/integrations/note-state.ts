/** An event says that the agent works, waits for a person, is done or has failed. agt.notify tells a person. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type AgentChange, type AgentState, noteAgentState, readAgentState } from '../session/agent-state.ts';
import { conversationName } from '../session/calls-at-work.ts';
import type { Session } from '../session/session.ts';
import { type FileEvent, firstWords } from './event.ts';
import type { Integration } from './integration.ts';
import type { Place } from './place.ts';

/** A folder without a store notes none. */
export function noteState(
  place: Place,
  by: Integration,
  event: FileEvent,
  env: NodeJS.ProcessEnv,
  now: Date,
) {
  const name = conversationName(by.name, event.conversation);
  const change = changeOf(event);
  if (name === undefined || change === undefined || !existsSync(place.agtDir)) return;
  const next = noteAgentState(place.agtDir, place.id, name, { ...change, agent: by.program }, now);
  if (next !== undefined && next.state !== 'works') notify(place, next, env);
}

/** No event has said so: the system has killed the agent, or a harness gives it up. */
export function tellFailure({ repository, id }: Session, env: NodeJS.ProcessEnv) {
  const { prompt = null } = readAgentState(repository.agtDir, id) ?? {};
  notify({ id, notify: repository.settings.notify }, { state: 'failed', prompt }, env);
}

/** Its end is no end of the turn. */
export const isOfSubagent = ({ name }: FileEvent) => /^subagent/i.test(name);

function changeOf(event: FileEvent): Omit<AgentChange, 'agent'> | undefined {
  switch (event.kind) {
    case 'session-start':
      return undefined;
    case 'prompt':
      return { state: 'works', ...(event.prompt !== '' && { prompt: firstWords(event.prompt) }) };
    case 'before-tool':
    case 'tool':
      return { state: 'works' };
    case 'waits':
      return { state: 'waits', for: event.about };
    case 'turn':
      if (isOfSubagent(event)) return undefined;
      return { state: event.failure === undefined ? 'done' : 'failed', for: event.failure };
    case 'session-end':
      return { state: 'done' };
  }
}

const SAYS = { waits: 'waits for you', done: 'is done', failed: 'has failed', works: 'works' } as const;

/** Nobody waits for the program. */
function notify(
  { id, notify: command }: Pick<Place, 'id' | 'notify'>,
  { state, prompt }: Pick<AgentState, 'state' | 'prompt'>,
  env: NodeJS.ProcessEnv,
): void {
  if (command === '') return;
  const title = `agt: ${id} ${SAYS[state]}`;
  const [program, ...args] = command === 'desktop' ? desktop(title, prompt ?? '') : ['sh', '-c', command];
  const own = { AGT_SESSION: id, AGT_STATE: state, AGT_PROMPT: prompt ?? '' };
  spawn(program as string, args, { detached: true, stdio: 'ignore', env: { ...env, ...own } })
    .on('error', () => undefined)
    .unref();
}

/** The words are arguments, and part of no script. */
function desktop(title: string, words: string): string[] {
  if (process.platform !== 'darwin') return ['notify-send', '--app-name=agt', '--', title, words];
  const script = [
    'on run argv',
    'display notification (item 2 of argv) with title (item 1 of argv)',
    'end run',
  ];
  return ['osascript', ...script.flatMap((line) => ['-e', line]), title, words];
}
