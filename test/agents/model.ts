/**
 * A stand-in for the model of an agent: Anthropic messages, OpenAI chat and Responses, Gemini, all as streams. It keeps
 * no state: the prompt carries the script, `<<stub [step, step, …] stub>>`, or the same in base64 as `<<stub64 … >>`.
 * Step i answers after i rounds of tool calls. A step is a call, several calls at once, or a text. A request without
 * tools, such as one for a title, gets `ok`.
 */
import { execFileSync } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** A person does this in a shell, where the agent works, before the agent hears of the call. */
  readonly meanwhile?: string;
}
export type Step = Call | readonly Call[] | { readonly text: string };

/** One request of the agent, as it came. */
export interface Recorded {
  readonly url: string;
  readonly body: string;
}

export function script(steps: readonly Step[]): string {
  return `<<stub ${JSON.stringify(steps)} stub>>`;
}

/** For agents that quote the prompt or put one into another. */
export function script64(steps: readonly Step[]): string {
  return `<<stub64 ${Buffer.from(JSON.stringify(steps)).toString('base64')} >>`;
}

/** Resolves once it listens on this port of the loopback device. */
export function startModel(port: number, onRequest: (request: Recorded) => void): Promise<Server> {
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const url = request.url ?? '';
    onRequest({ url, body });
    answer(url, body, response);
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function answer(url: string, body: string, response: ServerResponse): void {
  const json = parse(body);
  if (/\/messages(\?|$)/.test(url)) stream(response, anthropicEvents(json, stepFor(json, json.messages)));
  else if (/\/chat\/completions/.test(url)) stream(response, chatEvents(json, stepFor(json, json.messages)));
  else if (/\/responses/.test(url)) stream(response, responsesEvents(stepFor(json, json.input)));
  else if (/:streamGenerateContent/.test(url)) stream(response, geminiEvents(stepFor(json, json.contents)));
  else if (/:generateContent/.test(url)) send(response, geminiEvents(stepFor(json, json.contents))[0]?.data);
  else if (/count_?tokens/i.test(url)) send(response, { input_tokens: 10, totalTokens: 10 });
  else send(response, { data: [], models: [] });
}

// biome-ignore lint/suspicious/noExplicitAny: four protocols of others
type Json = any;

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** The messages that count are those since the last script. */
function stepFor(request: Json, messages: readonly Json[] = []): Step {
  if (!request.tools?.length) return { text: 'ok' };
  const at = messages.findLastIndex((message) => isOfUser(message) && stepsIn(message) !== undefined);
  const steps = stepsIn(messages[at]) ?? [];
  const rounds = countRounds(messages.slice(at + 1));
  return steps[rounds] ?? { text: 'done' };
}

function isOfUser(message: Json): boolean {
  return message?.role === 'user' || message?.role === 'developer';
}

/** A round ends where something else than a call follows. */
function countRounds(messages: readonly Json[]): number {
  const isCall = messages.map((message) =>
    /"(type":"(tool_use|function_call|custom_tool_call|local_shell_call)"|tool_calls":\[\{|functionCall":)/.test(
      JSON.stringify(message),
    ),
  );
  return isCall.filter((call, i) => call && !isCall[i - 1]).length;
}

function stepsIn(message: Json): readonly Step[] | undefined {
  const text = textOf(message?.content ?? message?.parts);
  const plain = [...text.matchAll(/<<stub (.*?) stub>>/gs)].at(-1)?.[1];
  if (plain !== undefined) return parse(plain);
  const coded = [...text.matchAll(/<<stub64 (\S+) >>/g)].at(-1)?.[1];
  return coded === undefined ? undefined : parse(Buffer.from(coded, 'base64').toString());
}

/** Results of tools are no prompts. */
function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part.text === 'string' ? part.text : '')).join('\n');
}

interface ServerEvent {
  readonly event?: string;
  readonly data: Json;
}

function callsOf(step: Step): readonly Call[] {
  const calls = Array.isArray(step) ? (step as readonly Call[]) : 'tool' in step ? [step] : [];
  for (const { meanwhile } of calls) if (meanwhile !== undefined) execFileSync('sh', ['-c', meanwhile]);
  return calls;
}

let calls = 0;
const newId = () => `call_${++calls}`;

function anthropicEvents(request: Json, step: Step): ServerEvent[] {
  const events: Json[] = [];
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: `msg_${newId()}`, type: 'message', role: 'assistant', model: request.model, usage };
  events.push({ type: 'message_start', message: { ...message, content: [], stop_reason: null } });
  const calls = callsOf(step);
  const block = (index: number, content_block: Json, delta: Json) =>
    events.push(
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    );
  for (const [i, { tool, args }] of calls.entries()) {
    const call = { type: 'tool_use', id: `toolu_${newId()}`, name: tool, input: {} };
    block(i, call, { type: 'input_json_delta', partial_json: JSON.stringify(args) });
  }
  if ('text' in step) block(0, { type: 'text', text: '' }, { type: 'text_delta', text: step.text });
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  events.push({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage });
  events.push({ type: 'message_stop' });
  return events.map((data) => ({ event: data.type, data }));
}

function chatEvents(request: Json, step: Step): ServerEvent[] {
  const calls = callsOf(step);
  const base = { id: newId(), object: 'chat.completion.chunk', created: 1, model: request.model };
  const chunk = (delta: Json, finish_reason: string | null = null) => ({
    data: { ...base, choices: [{ index: 0, delta, finish_reason }] },
  });
  const tool_calls = calls.map(({ tool, args }, index) => ({
    index,
    id: newId(),
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  }));
  const delta = 'text' in step ? { content: step.text } : { content: null, tool_calls };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return [
    chunk({ role: 'assistant', ...delta }),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    { data: { ...base, choices: [], usage } },
    { data: '[DONE]' },
  ];
}

function responsesEvents(step: Step): ServerEvent[] {
  const id = `resp_${newId()}`;
  const items = callsOf(step).map(({ tool, args }) => {
    const call_id = newId();
    // A tool of free form gets its text as it is.
    if (typeof args['input'] === 'string' && tool === 'apply_patch')
      return { type: 'custom_tool_call', id: `ctc_${call_id}`, call_id, name: tool, input: args['input'] };
    return {
      type: 'function_call',
      id: `fc_${call_id}`,
      call_id,
      name: tool,
      arguments: JSON.stringify(args),
    };
  });
  const content = [{ type: 'output_text', text: 'text' in step ? step.text : '', annotations: [] }];
  const output =
    'text' in step ? [{ type: 'message', id: `msg_${newId()}`, role: 'assistant', content }] : items;
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const events: Json[] = [
    { type: 'response.created', response: { id } },
    ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { id, output, usage } },
  ];
  return events.map((data) => ({ event: data.type, data }));
}

function geminiEvents(step: Step): ServerEvent[] {
  const parts =
    'text' in step
      ? [{ text: step.text }]
      : callsOf(step).map(({ tool, args }) => ({ functionCall: { id: newId(), name: tool, args } }));
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  const candidate = { content: { role: 'model', parts }, finishReason: 'STOP', index: 0 };
  return [{ data: { candidates: [candidate], usageMetadata } }];
}

function stream(response: ServerResponse, events: readonly ServerEvent[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const { event, data } of events) {
    const name = event === undefined ? '' : `event: ${event}\n`;
    response.write(`${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

function send(response: ServerResponse, data: Json): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(data));
}
