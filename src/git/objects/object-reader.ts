/**
 * Answers many questions about objects with one git process. It starts with the first question and ends with agt; a git
 * for each question would take ten times as long. The process sees refs as they are now. It may still know an object
 * that somebody has deleted since: `resolveObject` in run/git.ts, which asks a git of its own, does not.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { AgtError, EXIT } from '../../errors.ts';
import { type Git, requireDescriptors, resolveObject } from '../run/git.ts';
import { traceCommand } from '../run/trace.ts';
import { BATCH_COMMAND, StreamReader } from './cat-file.ts';

export interface ReadObject {
  readonly oid: string;
  readonly type: string;
  readonly content: Buffer;
}

/** `name` is a revision such as `COMMIT:path`, without a line break. Undefined if there is no such object. */
export async function readObject(git: Git, name: string): Promise<ReadObject | undefined> {
  return (await ask(git, 'contents', name)) as ReadObject | undefined;
}

/** The object name; undefined if there is no such object. */
export async function findObject(git: Git, name: string): Promise<string | undefined> {
  // The questions are lines.
  if (name.includes('\n')) return resolveObject(git, name);
  return (await ask(git, 'info', name))?.oid;
}

type Question = 'info' | 'contents';

type Answer = Omit<ReadObject, 'content'> & { readonly content?: Buffer };

/** In place of an answer: git has ended. */
const ENDED = Symbol('git has ended');

/** By directory and object store: what a name means may depend on both. */
const processes = new Map<string, BatchProcess>();

/** If somebody kills git, as Ctrl-C of a terminal does, another git answers. */
async function ask(git: Git, question: Question, name: string): Promise<Answer | undefined> {
  for (let attempt = 1; attempt <= 2; attempt++) {
    const answer = await runningProcess(git).ask(question, name);
    if (answer !== ENDED) return answer;
  }
  throw new AgtError(`cannot read "${name}": git ended without an answer`, { exitCode: EXIT.git });
}

function runningProcess(git: Git): BatchProcess {
  const key = `${git.cwd}\0${git.env['GIT_OBJECT_DIRECTORY'] ?? ''}\0${git.env['GIT_DIR'] ?? ''}`;
  let running = processes.get(key);
  if (running === undefined || running.hasEnded) {
    running = new BatchProcess(git);
    processes.set(key, running);
  }
  return running;
}

class BatchProcess {
  hasEnded = false;
  private readonly child: ChildProcessByStdio<Writable, Readable, null>;
  private readonly reader: StreamReader;
  private last: Promise<unknown> = Promise.resolve();

  constructor(git: Git) {
    traceCommand(git.env, git.path, BATCH_COMMAND);
    requireDescriptors(git);
    this.child = spawn(git.path, BATCH_COMMAND, {
      cwd: git.cwd,
      env: git.env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.child.on('error', () => {
      this.hasEnded = true;
    });
    this.child.on('exit', () => {
      this.hasEnded = true;
    });
    this.child.stdin.on('error', () => undefined); // git has ended: the missing answer is reported below
    this.child.unref();
    (this.child.stdin as Socket).unref();
    this.reader = new StreamReader(this.child.stdout);
    this.keepsAgtAlive(false);
  }

  /** One question after the other. */
  ask(question: Question, name: string): Promise<Answer | typeof ENDED | undefined> {
    const answer = this.last.then(() => this.answer(question, name));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private async answer(question: Question, name: string): Promise<Answer | typeof ENDED | undefined> {
    this.keepsAgtAlive(true);
    try {
      this.child.stdin.write(`${question} ${name}\n`);
      const header = await this.reader.readLine();
      if (header === undefined) {
        this.hasEnded = true;
        return ENDED;
      }
      const [, oid, type, size] = /^([0-9a-f]{40,64}) (\w+)(?: (\d+))?$/.exec(header) ?? [];
      if (oid === undefined || type === undefined) return undefined;
      if (question === 'info') return { oid, type };
      const parts: Buffer[] = [];
      for await (const part of this.reader.take(Number(size))) parts.push(part);
      await this.reader.readLine();
      return { oid, type, content: Buffer.concat(parts) };
    } finally {
      this.keepsAgtAlive(false);
    }
  }

  private keepsAgtAlive(does: boolean): void {
    const pipe = this.child.stdout as Socket;
    if (does) pipe.ref();
    else pipe.unref();
  }
}
