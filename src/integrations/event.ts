/** An event of an agent, as agt understands it. Each tool has a reader that makes it from the tool's own JSON. */

interface EventFields {
  /** Absolute: the directory in which the agent works. */
  readonly cwd: string;
  /** The tool's own name for the event. */
  readonly name: string;
  /** The tool's id of the conversation. */
  readonly conversation?: string | undefined;
  /** The file that the tool writes the conversation to. */
  readonly transcript?: string | undefined;
}

interface AnyEvent<Kind extends string> extends EventFields {
  readonly kind: Kind;
}

interface ProcessEvent<Kind extends string> extends AnyEvent<Kind> {
  /** The process of the agent; undefined if the tool does not tell. */
  readonly pid?: number | undefined;
}

export interface SessionStart extends ProcessEvent<'session-start'> {
  /** The tool runs this file of shell commands before each command of the agent. */
  readonly environmentFile?: string | undefined;
}

export type SessionEnd = ProcessEvent<'session-end'>;

export interface PromptEvent extends AnyEvent<'prompt'> {
  /** Empty if the tool sends the event between two prompts, too. */
  readonly prompt: string;
}

export interface ToolEvent extends AnyEvent<'tool'> {
  readonly tool: string;
  readonly callId?: string | undefined;
  readonly summary?: string | undefined;
  readonly outcome: 'succeeded' | 'failed';
}

/** A tool is about to run. Changes since the last call are not its work. */
export interface BeforeTool extends AnyEvent<'before-tool'> {
  readonly tool: string;
  /** The files that it is about to write. */
  readonly files?: readonly string[];
  /** Its input, if agt does not know which files it writes: a command, or the input of a server's tool. */
  readonly texts?: readonly string[];
  readonly summary?: string | undefined;
  readonly callId?: string | undefined;
}

/** The end of a turn, or of the work of a subagent: the state of the files counts. */
export interface TurnEvent extends AnyEvent<'turn'> {
  /** Why the agent could not end the turn; undefined if it did. */
  readonly failure?: string | undefined;
}

/** The agent waits for a person, who has to allow something or to answer. */
export interface WaitEvent extends AnyEvent<'waits'> {
  /** What it says that it needs. */
  readonly about?: string | undefined;
}

/** The agent wants a worktree of this name, and reads its path from standard output. */
interface WorktreeCreate extends ProcessEvent<'worktree-create'> {
  readonly worktree: string;
}

interface WorktreeRemove extends ProcessEvent<'worktree-remove'> {
  readonly path: string;
}

/** Events that say something about the files of the place where the agent works. */
export type FileEvent =
  | SessionStart
  | PromptEvent
  | BeforeTool
  | ToolEvent
  | TurnEvent
  | WaitEvent
  | SessionEnd;
export type WorktreeEvent = WorktreeCreate | WorktreeRemove;
/** The agent asks for the directory to put first on PATH, so that `git` is agt's. It reads it from standard output. */
export type EnvironmentEvent = AnyEvent<'environment'>;
/** `other`: says nothing about files. */
export type HookEvent = FileEvent | WorktreeEvent | EnvironmentEvent | AnyEvent<'other'>;

/** The JSON of a tool: nobody has checked it. */
export type EventJson = Readonly<Record<string, unknown>>;

export type ReadEvent = (json: EventJson, env: NodeJS.ProcessEnv, cwd: string) => HookEvent;

type WithoutFields<Event> = Event extends unknown ? Omit<Event, keyof EventFields> : never;
/** Reads what only one kind of event has. */
type ReadOwn = (json: EventJson, env: NodeJS.ProcessEnv) => WithoutFields<HookEvent>;

/** `readers`: by the tool's own name of the event. The others are `other` events. */
export function eventReader(
  readers: Readonly<Record<string, ReadOwn>>,
  fieldsOf: (json: EventJson, cwd: string) => EventFields = commonFields,
): ReadEvent {
  return (json, env, cwd) => {
    const fields = fieldsOf(json, cwd);
    const read = Object.hasOwn(readers, fields.name) ? readers[fields.name] : undefined;
    return { ...fields, ...(read?.(json, env) ?? { kind: 'other' }) };
  };
}

export const readTurn = () => ({ kind: 'turn' }) as const;
export function readWait(json: EventJson) {
  const tool = textOf(json, 'tool_name');
  const call = summaryIn([textOf(json, 'cwd') ?? ''], summaryOfCall(objectOf(json, 'tool_input')));
  const wanted = tool && `wants to use ${tool}${call === undefined ? '' : `: ${call}`}`;
  const about = textOf(json, 'message') ?? wanted;
  return { kind: 'waits', about: about && firstWords(about) } as const;
}

/** An agent that says no type says it in words. */
const WAITS = /permission|elicitation|approv/i;

/** Other notifications are about the end of a turn, which has an event of its own. */
export function readNotification(json: EventJson) {
  const about = textOf(json, 'notification_type') ?? textOf(json, 'message') ?? '';
  return WAITS.test(about) ? readWait(json) : ({ kind: 'other' } as const);
}

export function readPrompt(json: EventJson) {
  return { kind: 'prompt', prompt: textOf(json, 'prompt') ?? '' } as const;
}

/** The same before and after a call, in the form of Claude Code. */
const nameCall = (json: EventJson) => ({
  tool: firstWords(textOf(json, 'tool_name') ?? 'tool'),
  callId: textOf(json, 'tool_use_id'),
  summary: summaryOfCall(objectOf(json, 'tool_input')),
});

export function readBefore(json: EventJson) {
  const files = filesOf(json);
  const texts = textsIn(objectOf(json, 'tool_input'), files);
  return { kind: 'before-tool', ...nameCall(json), files, texts } as const;
}

/** None for a tool that writes `files`: it does nothing else. */
export function textsIn(input: unknown, files: readonly string[]): string[] {
  if (files.length > 0) return [];
  if (typeof input === 'string') return [input];
  return typeof input === 'object' && input !== null
    ? Object.values(input).flatMap((one) => textsIn(one, []))
    : [];
}

/** Inputs of tools that write one file. Nobody knows what a tool of a server (mcp__…) does with it. */
export const FILE_INPUTS = ['file_path', 'filePath', 'absolute_path', 'notebook_path', 'path'];

/** A patch names its files in lines. */
const FILE_OF_PATCH = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;

function filesOf(json: EventJson): string[] {
  const input = objectOf(json, 'tool_input');
  const tool = textOf(json, 'tool_name') ?? '';
  if (/__|-|^mcp/i.test(tool)) return [];
  const named = FILE_INPUTS.flatMap((name) => textOf(input, name) ?? []);
  if (tool !== 'apply_patch') return named;
  const texts = Object.values(input).filter((value) => typeof value === 'string');
  return texts.flatMap((text) => [...text.matchAll(FILE_OF_PATCH)].map(([, path = '']) => path));
}

export function readCall(json: EventJson, hasSucceeded: boolean) {
  return { kind: 'tool', ...nameCall(json), outcome: hasSucceeded ? 'succeeded' : 'failed' } as const;
}

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
function commonFields(json: EventJson, cwd: string) {
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

/** `words`, and what an exit code other than 0 begins with. */
export function beforeFailure(words: string): string[] {
  return [...'-123456789'].map((first) => `${words}${first}`);
}

/** The command of a shell, the file of an edit, or the like: the first of these inputs that the call has; see summaryIn. */
export function summaryOfCall(input: EventJson): string | undefined {
  const names = ['command', 'cmd', 'file_path', 'path', 'filePath', 'notebook_path', 'absolute_path'];
  const value = names.map((name) => input[name]).find((value) => value !== undefined);
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'string' ? value : undefined;
}

/** The first words of it; the path of a file below one of `folders` is as people name it there. */
export function summaryIn(folders: readonly string[], summary: string | undefined): string | undefined {
  if (summary === undefined) return undefined;
  const folder = folders.find((one) => summary.startsWith(`${one}/`));
  return firstWords(folder === undefined ? summary : summary.slice(folder.length + 1)) || undefined;
}
