/** Agents that load a program of agt: its events, and the part that calls agt. */
import {
  type EventJson,
  eventReader,
  FILE_INPUTS,
  firstWords,
  objectOf,
  type ReadEvent,
  readTurn,
  readWait,
  summaryOfCall,
  textOf,
  textsIn,
} from './event.ts';

/** Names of tools: those that change no files, and those that write the one file that they are given. */
interface PluginTools {
  readonly reading: RegExp;
  readonly writing: RegExp;
}

export function pluginReader(tools: PluginTools): ReadEvent {
  return eventReader(
    {
      start: () => ({ kind: 'session-start' }),
      prompt: (json) => ({ kind: 'prompt', prompt: withoutQuotes(textOf(json, 'prompt') ?? '') }),
      before: (json) => readTool(json, 'before-tool', tools),
      tool: (json) => readTool(json, 'tool', tools),
      environment: () => ({ kind: 'environment' }),
      waits: readWait,
      idle: readTurn,
    },
    (json, cwd) => ({
      name: textOf(json, 'event') ?? '',
      cwd: textOf(json, 'cwd') ?? cwd,
      conversation: textOf(json, 'session'),
    }),
  );
}

function readTool<Kind extends 'before-tool' | 'tool'>(json: EventJson, kind: Kind, tools: PluginTools) {
  const tool = textOf(json, 'tool') ?? 'tool';
  if (tools.reading.test(tool)) return { kind: 'other' } as const;
  const input = objectOf(json, 'input');
  const files = tools.writing.test(tool) ? FILE_INPUTS.flatMap((name) => textOf(input, name) ?? []) : [];
  return {
    kind,
    tool: firstWords(tool),
    callId: textOf(json, 'call'),
    summary: summaryOfCall(input),
    files,
    texts: textsIn(input, files),
    outcome: json['failed'] === true ? 'failed' : 'succeeded',
  } as const;
}

/** `opencode run` puts its arguments into quotes. */
function withoutQuotes(prompt: string): string {
  return /^"(.*)"$/s.exec(prompt.trim())?.[1] ?? prompt;
}

export const likePlugin = {
  quietEvents: { after: '"event":"tool"', before: '"event":"before"', ends: ',"failed":false}' },
  blockPrompt: (answer: string) => JSON.stringify({ answer }),
  refuseTool: (answer: string) => JSON.stringify({ answer }),
};

/**
 * `callAgt` starts agt with the event on standard input, and returns what it answers. The agent may end right after the
 * last event, and agt goes on then. An agt that fails or takes too long changes nothing for the agent.
 */
export const callingAgt = (command: string) => `import { spawn } from 'node:child_process';

const COMMAND = ${JSON.stringify(command)};
const LONGEST_WAIT_MS = 30_000;
const LONGEST_PROMPT = 2_000;
const REPEAT = 'agt has carried out this prompt already. Repeat its answer word for word, and do nothing else:\\n\\n';

function callAgt(event) {
  return new Promise((resolve) => {
    const script = 'printf %s "$1" | ' + COMMAND;
    const child = spawn('/bin/sh', ['-c', script, 'sh', JSON.stringify(event)], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    child.on('error', () => resolve(''));
    child.on('close', () => resolve(output.trim()));
    setTimeout(() => resolve(''), LONGEST_WAIT_MS).unref?.();
  });
}

function parse(output) {
  try {
    return JSON.parse(output);
  } catch {
    return {}; // agt leaves the prompt to the model, the tool runs, and nothing has gone back
  }
}
const answerIn = (output) => parse(output).answer;
const contextIn = (output) => parse(output).context;

/** The parts of a tool's input that agt reads. */
function inputOf(args) {
  const { command, commands, cmd, filePath, path } = args ?? {};
  const words = [command ?? commands ?? cmd ?? []].flat().join('; ');
  return { command: words.slice(0, LONGEST_PROMPT) || undefined, filePath, path };
}
`;
