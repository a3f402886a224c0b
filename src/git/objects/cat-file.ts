/** Asks one git process about many objects. */
import { AgtError, EXIT } from '../../errors.ts';
import { type Git, gitBytes } from '../run/git.ts';

/** The format must hold the type: git 2.39 crashes at a `contents` command without it. */
export const BATCH_COMMAND = ['cat-file', '--batch-command=%(objectname) %(objecttype) %(objectsize)'];

/**
 * Returns the output of `git cat-file --batch-command` for these commands (`info REV`, `contents REV`). When the function
 * returns its promise, git has been started and has its input, so the caller can do other work in the meantime.
 */
export function runBatchCommand(git: Git, commands: readonly string[]): Promise<Buffer> {
  return gitBytes(git, BATCH_COMMAND, { input: commands.map((command) => `${command}\n`).join('') });
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
