/**
 * Answers many questions about objects with one git process. It starts with the first question and ends with agt; a
 * git for each question would take ten times as long. The process sees refs as they are now. It may still know an
 * object that somebody has deleted since: `resolveObject` in run/git.ts, which asks a git of its own, does not.
 */
import type { ChildProcessByStdio, StdioOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { AgtError, EXIT } from '../../errors.ts';
import { asLines, type Git, gitBytes, requireUsable, resolveObject, runGit, spawnGit } from '../run/git.ts';

export interface FoundObject {
  readonly oid: string;
  readonly type: string;
  /** In bytes. */
  readonly size: number;
}

export interface ReadObject extends FoundObject {
  readonly content: Buffer;
}

/** `name` is a revision such as `COMMIT:path`, without a line break. Undefined if there is no such object. */
export function readObject(git: Git, name: string): Promise<ReadObject | undefined> {
  return ask(git, `contents ${name}\n`, readWhole);
}

/** In the order of `oids`. git gets all questions before the first answer is read. */
export function readObjects(git: Git, oids: readonly string[]): Promise<(ReadObject | undefined)[]> {
  return askEach(git, 'contents', oids, readWhole);
}

async function readWhole(reader: StreamReader): Promise<ReadObject | undefined> {
  const found = await readHeader(reader);
  if (found === undefined) return undefined;
  const parts: Buffer[] = [];
  for await (const part of reader.take(found.size)) parts.push(part);
  await reader.readLine();
  return { ...found, content: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts) };
}

/** The object name; undefined if there is no such object. */
export async function findObject(git: Git, name: string): Promise<string | undefined> {
  // The questions are lines.
  if (name.includes('\n')) return resolveObject(git, name);
  return (await ask(git, `info ${name}\n`, readHeader))?.oid;
}

/** In the order of `names`, which hold one byte per character. */
export function findObjects(git: Git, names: readonly string[]): Promise<(FoundObject | undefined)[]> {
  return askEach(git, 'info', names, readHeader);
}

async function askEach<Answer>(
  git: Git,
  command: 'contents' | 'info',
  names: readonly string[],
  read: (reader: StreamReader) => Promise<Answer>,
): Promise<Answer[]> {
  if (names.length === 0) return [];
  // The questions are lines, so a git of its own finds a name with a line break.
  const oidOf = async (name: string) =>
    (await resolveObject(git, Buffer.from(name, 'latin1').toString())) ?? MISSING;
  const asked = await Promise.all(names.map((name) => (name.includes('\n') ? oidOf(name) : name)));
  const questions = Buffer.from(asked.map((name) => `${command} ${name}\n`).join(''), 'latin1');
  return ask(git, questions, async (reader) => {
    const answers: Answer[] = [];
    for (const _ of names) answers.push(await read(reader));
    return answers;
  });
}

const MISSING = '0'.repeat(40);

/**
 * Reads objects without holding a large one in memory. `visit` may leave chunks, and must ask nothing else here. Without
 * `onMissing`, an object that is missing is an error. @throws AgtError
 */
export async function readContents(
  git: Git,
  oids: readonly string[],
  visit: (index: number, chunks: AsyncGenerator<Buffer>, type: string) => Promise<void>,
  onMissing?: (index: number) => void,
): Promise<void> {
  if (oids.length === 0) return;
  const questions = oids.map((oid) => `contents ${oid}\n`).join('');
  await runningProcess(git).ask(questions, async (reader) => {
    for (const [index, oid] of oids.entries()) {
      const header = await reader.readLine();
      const [, type = '', size] = /^[0-9a-f]+ (\w+) (\d+)$/.exec(header ?? '') ?? [];
      if (onMissing !== undefined && header?.endsWith(' missing') === true) {
        onMissing(index);
        continue;
      }
      if (size === undefined) throw unreadable(oid, header);
      const chunks = reader.take(Number(size));
      await visit(index, nextOf(chunks), type);
      for await (const _ of chunks); // the next answer comes after them
      await reader.readLine();
    }
  });
}

/** Who stops in the middle of it does not end the other one. */
async function* nextOf(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
}

function unreadable(oid: string, header: string | undefined): AgtError {
  const reason = header === undefined ? 'git ended without an answer' : `git answered "${header}"`;
  return new AgtError(`cannot read object ${oid}: ${reason}`, { exitCode: EXIT.git });
}

class NoAnswer extends AgtError {
  constructor() {
    super('git ended without an answer', { exitCode: EXIT.git });
  }
}

/** Undefined if git has no such object. */
async function readHeader(reader: StreamReader): Promise<FoundObject | undefined> {
  const header = await reader.readLine();
  if (header === undefined) throw new NoAnswer();
  const [, oid, type, size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(header) ?? [];
  return oid === undefined || type === undefined ? undefined : { oid, type, size: Number(size) };
}

/** Lets a git of its own write a blob into an open file, which it then closes here. Resolves when the file is complete. */
export function writeBlob(git: Git, oid: string, fd: number): Promise<boolean> {
  const run = runGit(git, ['cat-file', 'blob', oid], { stdout: fd });
  closeSync(fd);
  return run.then(
    ({ exitCode }) => exitCode === 0,
    () => false,
  );
}

/** By directory and object store: what a name means may depend on both. */
const processes = new Map<string, BatchProcess>();

/** If somebody kills git, as Ctrl-C of a terminal does, another git answers. */
async function ask<Answer>(
  git: Git,
  questions: string | Buffer,
  read: (reader: StreamReader) => Promise<Answer>,
): Promise<Answer> {
  for (const isLast of [false, true]) {
    try {
      return await runningProcess(git).ask(questions, read);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      if (isLast) await requireUsable(git);
    }
  }
  const asked = questions.toString().trimEnd().replace(/^\w+ /, '');
  throw new AgtError(`cannot read "${asked}": git ended without an answer`, { exitCode: EXIT.git });
}

const PLACES = ['GIT_OBJECT_DIRECTORY', 'GIT_ALTERNATE_OBJECT_DIRECTORIES', 'GIT_DIR'];

function runningProcess(git: Git): BatchProcess {
  const key = [git.cwd, ...PLACES.map((name) => git.env[name])].join('\0');
  let running = processes.get(key);
  if (running === undefined || running.hasEnded) {
    running = new BatchProcess(git);
    processes.set(key, running);
  }
  return running;
}

/** The format must hold the type: git 2.39 crashes at a `contents` command without it. */
const BATCH_COMMAND = ['cat-file', '--batch-command=%(objectname) %(objecttype) %(objectsize)'];

/** It answers after each `flush`, and writes no object in pieces. */
const COMMAND = [...BATCH_COMMAND, '--buffer'];

class BatchProcess {
  hasEnded = false;
  private readonly child: ChildProcessByStdio<Writable, Readable, null>;
  private readonly reader: StreamReader;
  private last: Promise<unknown> = Promise.resolve();
  private unanswered = 0;
  /** Somebody stopped in the middle of an answer, so nobody knows where the next one begins. */
  private isLost = false;

  constructor(git: Git) {
    const stdio: StdioOptions = ['pipe', 'pipe', 'ignore'];
    this.child = spawnGit(git, COMMAND, { stdio }) as ChildProcessByStdio<Writable, Readable, null>;
    const end = () => {
      this.hasEnded = true;
    };
    this.child.on('error', end).on('exit', end);
    this.child.stdin.on('error', () => undefined); // git has ended: the missing answer is reported
    this.child.unref();
    (this.child.stdin as Socket).unref();
    this.reader = new StreamReader(this.child.stdout);
    this.keepsAgtAlive(false);
  }

  /** Each question is a line. git answers the questions of one call after those of the calls before. */
  ask<Answer>(questions: string | Buffer, read: (reader: StreamReader) => Promise<Answer>): Promise<Answer> {
    if (this.unanswered++ === 0) this.keepsAgtAlive(true);
    const { stdin } = this.child;
    stdin.cork();
    stdin.write(questions);
    stdin.write('flush\n');
    stdin.uncork();
    const answer = this.last.then(() => this.readAnswer(read));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private async readAnswer<Answer>(read: (reader: StreamReader) => Promise<Answer>): Promise<Answer> {
    try {
      if (this.isLost) throw new NoAnswer();
      return await read(this.reader);
    } catch (error) {
      this.isLost = true;
      this.hasEnded = true;
      this.child.kill();
      this.child.stdout.destroy();
      throw error;
    } finally {
      if (--this.unanswered === 0) this.keepsAgtAlive(false);
    }
  }

  private keepsAgtAlive(does: boolean): void {
    const pipe = this.child.stdout as Socket;
    if (does) pipe.ref();
    else pipe.unref();
  }
}

/** The output for commands such as `info REV`. When the promise is returned, git has its input. */
export function runBatchCommand(git: Git, commands: readonly string[]): Promise<Buffer> {
  return gitBytes(git, BATCH_COMMAND, { input: asLines(commands) });
}

const LINE_BREAK = 10;

/** Reads a stream of bytes by lines and by counts. */
class StreamReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private pending: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.chunks = stream[Symbol.asyncIterator]();
  }

  /** Without its line break; undefined at the end of the stream. */
  async readLine(): Promise<string | undefined> {
    let end = this.pending.indexOf(LINE_BREAK);
    while (end < 0) {
      const more = await this.chunks.next();
      if (more.done === true) return undefined;
      this.pending = Buffer.concat([this.pending, more.value]);
      end = this.pending.indexOf(LINE_BREAK);
    }
    const text = this.pending.toString('latin1', 0, end);
    this.pending = this.pending.subarray(end + 1);
    return text;
  }

  async *take(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.pending.length === 0) {
        const more = await this.chunks.next();
        if (more.done === true)
          throw new AgtError('git ended in the middle of an object', { exitCode: EXIT.git });
        this.pending = more.value;
      }
      const part = this.pending.subarray(0, left);
      this.pending = this.pending.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }
}
