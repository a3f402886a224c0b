/** An event of an agent, as agt understands it. Each tool has a reader that makes it from the tool's own JSON. */

interface AnyEvent {
  /** Absolute: the directory in which the agent works. */
  readonly cwd: string;
  /** The tool's own name for the event. */
  readonly name: string;
  /** The tool's id of the conversation. */
  readonly conversation?: string | undefined;
  /** The file that the tool writes the conversation to. */
  readonly transcript?: string | undefined;
}

export interface SessionStart extends AnyEvent {
  readonly kind: 'session-start';
  /** The process of the agent; undefined if the tool does not tell. */
  readonly pid?: number | undefined;
  /** The tool runs this file of shell commands before each command of the agent. */
  readonly environmentFile?: string | undefined;
}

export interface PromptEvent extends AnyEvent {
  readonly kind: 'prompt';
  /** Empty if the tool sends the event between two prompts, too. */
  readonly prompt: string;
}

export interface ToolEvent extends AnyEvent {
  readonly kind: 'tool';
  readonly tool: string;
  readonly callId?: string | undefined;
  readonly summary?: string | undefined;
  readonly outcome: 'succeeded' | 'failed';
}

/** The end of a turn, or of the work of a subagent, or the moment before a tool: the state of the files counts. */
export interface TurnEvent extends AnyEvent {
  readonly kind: 'turn';
  /** Why the agent could not end the turn; undefined if it did. */
  readonly failure?: string | undefined;
}

export interface SessionEnd extends AnyEvent {
  readonly kind: 'session-end';
  readonly pid?: number | undefined;
}

/** The agent wants a worktree of this name, and reads its path from standard output. */
export interface WorktreeCreate extends AnyEvent {
  readonly kind: 'worktree-create';
  readonly worktree: string;
  readonly pid?: number | undefined;
}

export interface WorktreeRemove extends AnyEvent {
  readonly kind: 'worktree-remove';
  readonly path: string;
  readonly pid?: number | undefined;
}

/** An event that says nothing about files. */
export interface OtherEvent extends AnyEvent {
  readonly kind: 'other';
}

/** The agent asks for the directory to put first on PATH, so that `git` is agt's. It reads it from standard output. */
export interface EnvironmentEvent extends AnyEvent {
  readonly kind: 'environment';
}

/** Events that say something about the files of the place where the agent works. */
export type FileEvent = SessionStart | PromptEvent | ToolEvent | TurnEvent | SessionEnd;
export type WorktreeEvent = WorktreeCreate | WorktreeRemove;
export type HookEvent = FileEvent | WorktreeEvent | EnvironmentEvent | OtherEvent;

/** The JSON of a tool: nobody has checked it. */
export type EventJson = Readonly<Record<string, unknown>>;

export type ReadEvent = (json: EventJson, env: NodeJS.ProcessEnv, cwd: string) => HookEvent;

/** @throws Error if it is no JSON object. */
export function parseEventJson(text: string): EventJson {
  const json: unknown = JSON.parse(text);
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new Error('the event is no JSON object');
  return json as EventJson;
}

export function textOf(json: EventJson, name: string): string | undefined {
  const value = json[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The fields that every event of Claude Code, and of agents with its form of JSON, has. */
export function commonFields(json: EventJson, cwd: string) {
  return {
    name: textOf(json, 'hook_event_name') ?? '',
    cwd: textOf(json, 'cwd') ?? cwd,
    conversation: textOf(json, 'session_id'),
    transcript: textOf(json, 'transcript_path'),
  };
}

export function objectOf(json: EventJson, name: string): EventJson {
  const value = json[name];
  return typeof value === 'object' && value !== null ? (value as EventJson) : {};
}

/** So many characters of a command or a prompt stand in a list. */
const LONGEST_SUMMARY = 60;

/** The first words of the first line that has some. */
export function firstWords(text: string): string {
  const line = text.split('\n').find((line) => line.trim() !== '') ?? '';
  const words = line.replace(/\s+/g, ' ').trim();
  if (words.length <= LONGEST_SUMMARY) return words;
  const cut = words.slice(0, LONGEST_SUMMARY).toWellFormed();
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), LONGEST_SUMMARY / 2))} …`;
}

/** The command of a shell, the file of an edit, or the like: the first of these inputs that the call has. */
export function summaryOfCall(input: EventJson): string | undefined {
  const names = ['command', 'cmd', 'file_path', 'path', 'filePath', 'notebook_path', 'absolute_path'];
  const value = names.map((name) => input[name]).find((value) => value !== undefined);
  if (Array.isArray(value)) return firstWords(value.join(' '));
  return typeof value === 'string' ? firstWords(value) || undefined : undefined;
}
