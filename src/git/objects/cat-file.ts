/** Asks one git process about many objects, and reads many blobs without holding a large one in memory. */
import { spawn } from 'node:child_process';
import { AgtError, EXIT } from '../../errors.ts';
import { type Git, gitFailed, requireDescriptors } from '../run/git.ts';
import { startGit } from '../run/start-git.ts';
import { traceCommand } from '../run/trace.ts';

/** The format must hold the type: git 2.39 crashes at a `contents` command without it. */
export const BATCH_COMMAND = ['cat-file', '--batch-command=%(objectname) %(objecttype) %(objectsize)'];

/**
 * Returns the output of `git cat-file --batch-command` for these commands (`info REV`, `contents REV`). When the function
 * returns its promise, git has been started and has its input, so the caller can do other work in the meantime.
 */
export async function runBatchCommand(git: Git, commands: readonly string[]): Promise<Buffer> {
  const run = await startGit(git, BATCH_COMMAND, commands.map((command) => `${command}\n`).join(''));
  if (run.exitCode !== 0) throw gitFailed(BATCH_COMMAND, run);
  return run.stdout;
}

const BATCH = ['cat-file', '--batch', '--buffer'];

/**
 * `visit` must read all chunks before it returns. Without `onMissing`, an object that is missing is an error.
 * @throws AgtError
 */
export async function readBlobs(
  git: Git,
  oids: readonly string[],
  visit: (index: number, chunks: AsyncGenerator<Buffer>) => Promise<void>,
  onMissing?: (index: number) => void,
): Promise<void> {
  if (oids.length === 0) return;
  traceCommand(git.env, git.path, BATCH);
  requireDescriptors(git);
  const child = spawn(git.path, BATCH, { cwd: git.cwd, env: git.env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => resolve());
    child.on('error', () => resolve());
  });
  child.stdin.on('error', () => undefined); // git has ended: the missing answer is reported below
  child.stdin.end(oids.map((oid) => `${oid}\n`).join(''));
  const reader = new StreamReader(child.stdout);
  try {
    for (const [index, oid] of oids.entries()) {
      const header = await reader.readLine();
      const size = /^[0-9a-f]+ blob (\d+)$/.exec(header ?? '')?.[1];
      if (onMissing !== undefined && header?.endsWith(' missing') === true) {
        onMissing(index);
        continue;
      }
      if (size === undefined) throw unreadable(oid, header);
      await visit(index, reader.take(Number(size)));
      await reader.readLine();
    }
  } finally {
    // git would wait for ever to write answers that nobody reads.
    child.stdout.destroy();
    child.kill();
    await ended;
  }
}

function unreadable(oid: string, header: string | undefined): AgtError {
  const reason = header === undefined ? 'git ended without an answer' : `git answered "${header}"`;
  return new AgtError(`cannot read object ${oid}: ${reason}`, { exitCode: EXIT.git });
}

const LINE_BREAK = 10;

/** Reads a stream of bytes by lines and by counts. */
export class StreamReader {
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
