/** Answers many questions about objects at once: one git process gets them all before the first answer is read. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { AgtError, EXIT } from '../../errors.ts';
import { type Git, requireDescriptors } from '../run/git.ts';
import { traceCommand } from '../run/trace.ts';
import { BATCH_COMMAND, StreamReader } from './cat-file.ts';

const BUFFERED = [...BATCH_COMMAND, '--buffer'];

export interface ObjectAnswer {
  readonly type: string;
  readonly size: number;
  /** Undefined if only the size was asked for. */
  readonly content: Buffer | undefined;
}

/** One git for as long as somebody asks. If it ends, the next question starts another. */
export class ObjectPipe {
  private readonly git: Git;
  private running: GitProcess | undefined;

  constructor(git: Git) {
    this.git = git;
  }

  /** Types and sizes, in the order of `oids`; undefined for an object that is missing. */
  sizes(oids: readonly string[]): Promise<(ObjectAnswer | undefined)[]> {
    return oids.length === 0 ? Promise.resolve([]) : this.ask('info', oids);
  }

  /** Objects as a whole. */
  async contents(oids: readonly string[]): Promise<(Buffer | undefined)[]> {
    const answers = await this.ask('contents', oids);
    return answers.map((answer) => answer?.content);
  }

  end(): void {
    this.running?.end();
  }

  private ask(question: 'info' | 'contents', oids: readonly string[]): Promise<(ObjectAnswer | undefined)[]> {
    if (this.running === undefined || this.running.hasEnded) this.running = new GitProcess(this.git);
    return this.running.ask(question, oids);
  }
}

class GitProcess {
  hasEnded = false;
  private readonly child: ChildProcessByStdio<Writable, Readable, null>;
  private readonly reader: StreamReader;
  private last: Promise<unknown> = Promise.resolve();

  constructor(git: Git) {
    traceCommand(git.env, git.path, BUFFERED);
    requireDescriptors(git);
    const stdio: ['pipe', 'pipe', 'ignore'] = ['pipe', 'pipe', 'ignore'];
    this.child = spawn(git.path, BUFFERED, { cwd: git.cwd, env: git.env, stdio });
    const ended = () => {
      this.hasEnded = true;
    };
    this.child.on('error', ended);
    this.child.on('exit', ended);
    this.child.stdin.on('error', ended);
    this.reader = new StreamReader(this.child.stdout);
  }

  end(): void {
    this.child.stdin.end();
  }

  /** git gets the questions now, and answers them after those before. */
  ask(question: string, oids: readonly string[]): Promise<(ObjectAnswer | undefined)[]> {
    this.child.stdin.write(`${oids.map((oid) => `${question} ${oid}\n`).join('')}flush\n`);
    const answers = this.last.then(() => this.read(question === 'contents', oids.length));
    this.last = answers.catch(() => undefined);
    return answers;
  }

  private async read(hasContent: boolean, count: number): Promise<(ObjectAnswer | undefined)[]> {
    const answers: (ObjectAnswer | undefined)[] = [];
    while (answers.length < count) {
      const header = await this.reader.readLine();
      if (header === undefined) {
        this.hasEnded = true;
        throw new AgtError('git ended without an answer', { exitCode: EXIT.git });
      }
      const [, type, digits] = /^[0-9a-f]{40,64} (\w+) (\d+)$/.exec(header) ?? [];
      answers.push(type === undefined ? undefined : await this.answer(type, Number(digits), hasContent));
    }
    return answers;
  }

  private async answer(type: string, size: number, hasContent: boolean): Promise<ObjectAnswer> {
    if (!hasContent) return { type, size, content: undefined };
    const parts: Buffer[] = [];
    for await (const part of this.reader.take(size)) parts.push(part);
    await this.reader.readLine();
    return { type, size, content: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) };
  }
}

/** Lets a git of its own write a blob into an open file, which it then closes here. Resolves when the file is complete. */
export function writeBlob(git: Git, oid: string, fd: number): Promise<boolean> {
  const args = ['cat-file', 'blob', oid];
  traceCommand(git.env, git.path, args);
  requireDescriptors(git);
  const child = spawn(git.path, args, { cwd: git.cwd, env: git.env, stdio: ['ignore', fd, 'ignore'] });
  closeSync(fd);
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}
