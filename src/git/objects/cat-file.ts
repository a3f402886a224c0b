/** Questions about objects, many to one process: what they are, or many blobs without holding a large one in memory. */
import { spawn } from 'node:child_process';
import { AgtError, EXIT } from '../../errors.ts';
import { cannotRun, type Git, gitFailed } from '../run/git.ts';
import { traceCommand } from '../run/trace.ts';

// Without the type in it, git 2.39 dies of contents.
const ASK = ['cat-file', '--batch-command=%(objectname) %(objecttype)'];

/**
 * What `git cat-file --batch-command` answers. It has been started, and has its questions, when this returns: the caller
 * may be busy meanwhile.
 */
export function runBatchCommand(git: Git, questions: readonly string[]): Promise<Buffer> {
  traceCommand(git.env, git.path, ASK);
  const child = spawn(git.path, ASK, { cwd: git.cwd, env: git.env });
  const answered = new Promise<Buffer>((resolve, reject) => {
    const answers: Buffer[] = [];
    let stderr = '';
    child.on('error', (error) => reject(cannotRun(git, error)));
    // One that could not be started has no streams.
    child.stdout?.on('data', (chunk: Buffer) => answers.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on('close', (code) => {
      const stdout = Buffer.concat(answers);
      if (code === 0) resolve(stdout);
      else reject(gitFailed(ASK, { exitCode: code ?? -1, stdout, stderr }));
    });
  });
  child.stdin?.on('error', () => undefined); // git has ended: its exit code tells
  child.stdin?.end(questions.map((question) => `${question}\n`).join(''));
  return answered;
}

const ARGS = ['cat-file', '--batch', '--buffer'];

/** `visit` must take all of the chunks before it returns. @throws AgtError for an object that is missing. */
export async function readBlobs(
  git: Git,
  oids: readonly string[],
  visit: (index: number, chunks: AsyncGenerator<Buffer>) => Promise<void>,
): Promise<void> {
  if (oids.length === 0) return;
  traceCommand(git.env, git.path, ARGS);
  const child = spawn(git.path, ARGS, { cwd: git.cwd, env: git.env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => resolve());
    child.on('error', () => resolve());
  });
  child.stdin.on('error', () => undefined); // git has ended: the missing answer is reported below
  child.stdin.end(oids.map((oid) => `${oid}\n`).join(''));
  const source = new ByteSource(child.stdout);
  try {
    for (const [index, oid] of oids.entries()) {
      const header = await source.line();
      const match = /^[0-9a-f]+ blob (\d+)$/.exec(header ?? '');
      if (match === null) {
        throw new AgtError(`object ${oid} cannot be read: git says '${header ?? 'nothing'}'`, {
          exitCode: EXIT.git,
        });
      }
      await visit(index, source.take(Number(match[1])));
      await source.line();
    }
  } finally {
    // With answers that nobody takes it would never be at its end.
    child.stdout.destroy();
    child.kill();
    await ended;
  }
}

/** A stream of bytes, read by lines and by counts. */
class ByteSource {
  private readonly chunks: AsyncIterator<Buffer>;
  private pending: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.chunks = stream[Symbol.asyncIterator]();
  }

  /** Without its line break; undefined at the end. */
  async line(): Promise<string | undefined> {
    let end = this.pending.indexOf(10);
    while (end < 0) {
      const more = await this.chunks.next();
      if (more.done === true) return undefined;
      this.pending = Buffer.concat([this.pending, more.value]);
      end = this.pending.indexOf(10);
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
