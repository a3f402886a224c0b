/** Talks with `codex app-server`: one JSON message a line, over standard input and output. */
import { spawn } from 'node:child_process';
import { AgtError } from '../errors.ts';

const TIMEOUT_MS = 30_000;

interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

export type Call = (method: string, params: unknown) => Promise<unknown>;

/** @throws AgtError if it cannot be started, refuses a call, or takes too long. */
export async function withAppServer<T>(
  env: NodeJS.ProcessEnv,
  action: (call: Call) => Promise<T>,
): Promise<T> {
  const server = spawn('codex', ['app-server'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number, (message: Message) => void>();
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = (error) => reject(new AgtError(`codex app-server ${error.message}`));
  });
  failed.catch(() => {});
  const timer = setTimeout(() => fail(new Error('does not answer')), TIMEOUT_MS);
  server.on('error', (error) => fail(new Error(`cannot be started: ${error.message}`)));
  server.on('exit', () => fail(new Error('has ended')));
  server.stdin.on('error', () => {});
  let rest = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) receive(line, waiting);
  });
  let last = 0;
  const send = (message: object) => server.stdin.write(`${JSON.stringify(message)}\n`);
  const call: Call = async (method, params) => {
    last += 1;
    const answer = new Promise<Message>((resolve) => waiting.set(last, resolve));
    send({ id: last, method, params });
    const { result, error } = await Promise.race([answer, failed]);
    if (error !== undefined) throw new AgtError(`codex app-server refuses ${method}: ${error.message}`);
    return result;
  };
  try {
    await call('initialize', { clientInfo: { name: 'agt', version: '1' } });
    send({ method: 'initialized' });
    return await action(call);
  } finally {
    clearTimeout(timer);
    server.kill();
  }
}

function receive(line: string, waiting: Map<number, (message: Message) => void>): void {
  let message: Message;
  try {
    message = JSON.parse(line) as Message;
  } catch {
    return;
  }
  if (message.id !== undefined) waiting.get(message.id)?.(message);
}
