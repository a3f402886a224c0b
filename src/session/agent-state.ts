/**
 * The agents of a session or a folder, and what they do right now, by the events of their hooks: a small file
 * for each conversation. The front answers calls of tools without agt; its note of them (calls-at-work.ts)
 * says that one who waited works again.
 */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { attempt } from '../errors.ts';
import { agentStates, callsDirectory } from '../layout.ts';

/** The first one counts if several conversations are at work. */
export const AGENT_STATES = ['waits', 'works', 'failed', 'done'] as const;

export interface AgentState {
  /** `waits`: for a person, who has to allow something or to answer. */
  readonly state: (typeof AGENT_STATES)[number];
  readonly since: string;
  /** Its program. */
  readonly agent: string | null;
  /** The first words of the prompt; null if no hook has told agt. */
  readonly prompt: string | null;
  /** The words of the agent: why it waits, or has failed. */
  readonly for: string | null;
}

export type AgentChange = Pick<AgentState, 'state' | 'agent'> & {
  readonly prompt?: string;
  readonly for?: string | undefined;
};

/** Returns the new state of the conversation, or undefined if it is as before. */
export function noteAgentState(
  agtDir: string,
  id: string,
  conversation: string,
  { state, agent, prompt: words, for: reason }: AgentChange,
  now: Date,
): AgentState | undefined {
  const directory = agentStates(agtDir, id);
  const before = read(agtDir, id, conversation);
  const isSame = words === undefined || words === before?.prompt;
  const isKnown = reason === undefined || before?.for !== null;
  if (before?.state === state && isSame && isKnown) return undefined;
  const next = {
    state,
    since: now.toISOString(),
    agent,
    prompt: words ?? before?.prompt ?? null,
    for: reason ?? null,
  };
  for (const other of conversations(agtDir, id)) {
    const isOver = !['waits', 'works'].includes(read(agtDir, id, other)?.state ?? '');
    if (other !== conversation && isOver) rmSync(join(directory, other), { force: true });
  }
  writeFileAtomic(join(directory, conversation), JSON.stringify(next), { cache: true });
  return next;
}

/** A program that has run since then has ended, perhaps in the middle of a turn: its conversations are over. */
export function endAgentStates(agtDir: string, id: string, since: Date, now: Date): void {
  for (const name of conversations(agtDir, id)) {
    const told = read(agtDir, id, name);
    if (told !== undefined && ['waits', 'works'].includes(told.state) && new Date(told.since) >= since)
      noteAgentState(agtDir, id, name, { state: 'done', agent: told.agent }, now);
  }
}

/** Of several in the same state, the one that came into it last. */
export function readAgentState(agtDir: string, id: string): AgentState | undefined {
  const found = conversations(agtDir, id).flatMap((name) => read(agtDir, id, name) ?? []);
  const rank = ({ state }: AgentState) => AGENT_STATES.indexOf(state);
  return found.toSorted((a, b) => rank(a) - rank(b) || (a.since > b.since ? -1 : 1))[0];
}

const conversations = (agtDir: string, id: string) =>
  (attempt(() => readdirSync(agentStates(agtDir, id))) ?? []).filter((name) => !name.endsWith('.tmp'));

function read(agtDir: string, id: string, conversation: string): AgentState | undefined {
  const file = join(agentStates(agtDir, id), conversation);
  const noted = attempt((): AgentState => ({ for: null, ...JSON.parse(readFileSync(file, 'utf8')) }));
  if (noted === undefined || noted.state === 'works') return noted;
  const called = attempt(() => statSync(join(callsDirectory(agtDir, id), conversation)).mtime);
  return called !== undefined && called > new Date(noted.since)
    ? { ...noted, state: 'works', for: null, since: called.toISOString() }
    : noted;
}
