/**
 * One `git fast-import`, written to as a stream with back-pressure. The stream ends with `done`: if this process dies
 * in the middle, git sees the end of the input without it and moves no ref. Objects are flushed to disk before refs
 * move.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError, EXIT } from '../../errors.ts';
import { FSYNC_ARGS, type Git } from '../run/git.ts';
import { traceCommand } from '../run/trace.ts';
import { type Places, removeKeepFile, removeTemporaryFiles } from './fast-import-cleanup.ts';

/** Files above this size are streamed into the pack by git without being held in memory or compared for deltas. */
const BIG_FILE = '1m';

/** So much is gathered before it is written: git and this process would wake each other for every line. */
const ENOUGH = 4096;

/** How much earlier the file system's clock may be than this machine's. */
const CLOCK_SKEW_MS = 2000;

const ARGS = [
  ...FSYNC_ARGS,
  '-c',
  `core.bigFileThreshold=${BIG_FILE}`,
  '-c',
  // The fastest: what is kept for long is joined with others and stored as deltas anyway.
  'pack.compression=1',
  '-c',
  'core.hooksPath=/dev/null',
  'fast-import',
  '--quiet',
  '--done',
  '--date-format=raw',
];

/**
 * What others do at the same moment and the next try may find done: a ref that was moved or is locked, and temporary files
 * or objects that nothing referred to yet, taken away by `git gc --prune=now`.
 */
const PASSING =
  /not updating|cannot lock ref|unable to create '.*\.lock'|not found|missing|no such file or directory/i;

/**
 * A pack, however small: while it appears and no ref leads to it, its `.keep` file protects it from `git repack` and
 * `git gc --prune=now`. Nothing protects loose objects, and each would be flushed by itself. In a partial clone, though,
 * packs are not written anew, and only loose objects can ever go again.
 */
const AS_PACK = ['-c', 'fastimport.unpackLimit=0'];

function argumentsFor({ commonDir }: Places): string[] {
  const packs = join(commonDir, 'objects', 'pack');
  const isPartial = existsSync(packs) && readdirSync(packs).some((name) => name.endsWith('.promisor'));
  return isPartial ? ARGS : [...AS_PACK, ...ARGS];
}

export class FastImportFailed extends AgtError {
  /** Whether it may well go the next time. */
  readonly isTransient: boolean;

  constructor(reason: string, hints: string[], stderr: string) {
    super(`git fast-import failed: ${reason}`, { exitCode: EXIT.failed, hints, cause: stderr });
    this.isTransient = PASSING.test(stderr);
  }
}

export class FastImport {
  private readonly child: ChildProcess;
  /** How it ended: 0, or `exit code 128`, `killed by SIGXFSZ`. */
  private readonly ended: Promise<0 | string>;
  private stderr = '';
  /** The first line that git printed; undefined when it ended without one. */
  private readonly answer: Promise<string | undefined>;
  private gathered: Uint8Array[] = [];
  private gatheredBytes = 0;
  private broken = false;
  private finished = false;
  private readonly places: Places;
  private readonly since: number;

  constructor(git: Git, places: Places) {
    this.places = places;
    this.since = Date.now() - CLOCK_SKEW_MS;
    const args = argumentsFor(places);
    traceCommand(git.env, git.path, args);
    this.child = spawn(git.path, args, { cwd: git.cwd, env: git.env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdin?.on('error', () => {
      this.broken = true; // git has ended; finish() gives its reason
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) =>
        resolve(code === 0 ? 0 : code === null ? `killed by ${signal}` : `exit code ${code}`),
      );
      this.child.on('error', (error) => {
        this.stderr = error.message;
        resolve('not started');
      });
    });
    this.answer = new Promise((resolve) => {
      let text = '';
      this.child.stdout?.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.endsWith('\n')) resolve(text.trimEnd());
      });
      this.ended.then(() => resolve(undefined));
    });
  }

  /** Commands or data, which must not change any more; resolves when git keeps up. @throws AgtError when git has ended. */
  async write(chunk: string | Uint8Array): Promise<void> {
    this.gather(chunk);
    if (this.gatheredBytes >= ENOUGH) await this.send();
  }

  private gather(chunk: string | Uint8Array): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    this.gathered.push(bytes);
    this.gatheredBytes += bytes.length;
  }

  /** Before it returns, git has what the pipe takes. */
  private async send(): Promise<void> {
    const { stdin } = this.child;
    if (this.broken || stdin === null || stdin === undefined) return this.fail();
    stdin.cork();
    for (const chunk of this.gathered) stdin.write(chunk);
    stdin.uncork();
    this.gathered = [];
    this.gatheredBytes = 0;
    if (!stdin.writableNeedDrain) return;
    const drained = once(stdin, 'drain').catch(() => this.ended); // git has ended: the next write gives its reason
    await Promise.race([drained, this.ended]);
  }

  /** The name of what was written as `:1`. @throws AgtError when git has ended. */
  async oidOfFirstMark(): Promise<string> {
    this.gather('get-mark :1\n');
    await this.send();
    return (await this.answer) ?? this.fail();
  }

  /** A length-prefixed block, as `data` wants it. */
  async data(bytes: Uint8Array): Promise<void> {
    await this.write(`data ${bytes.length}\n`);
    await this.write(bytes);
    await this.write('\n');
  }

  /** @throws AgtError when git did not take everything; no ref has moved then. */
  async finish(): Promise<void> {
    this.gather('done\n');
    await this.send();
    this.child.stdin?.end();
    if ((await this.ended) !== 0) await this.fail();
    this.finished = true;
  }

  /** Ends git, unless it has finished: no ref moves, and nothing of what was written stays. */
  async abandon(): Promise<void> {
    if (this.finished) return;
    this.child.kill('SIGKILL');
    await this.ended;
    removeTemporaryFiles(this.places, this.child.pid, this.since);
  }

  private async fail(): Promise<never> {
    const ending = await this.ended;
    removeTemporaryFiles(this.places, this.child.pid, this.since);
    removeKeepFile(this.places, this.stderr);
    const reason =
      this.stderr.split('\n').find((line) => /^(fatal|error|warning):/.test(line)) ?? this.stderr.trim();
    const full = /no space left|quota exceeded/i.test(this.stderr) ? ['free some space: df -h'] : [];
    const locked = /cannot lock ref/i.test(this.stderr) ? ['see: agt doctor'] : [];
    const hints = ['the capture is not finished; the last state stands', ...full, ...locked];
    throw new FastImportFailed(reason.replace(/^\w+: /, '') || String(ending), hints, this.stderr);
  }
}

/** A path as fast-import reads it; `path` holds one byte per character. */
export function fastImportPath(path: string): Buffer {
  const plain = !/[\n"\\]/.test(path);
  if (plain) return Buffer.from(path, 'latin1');
  const quoted = path.replace(/[\n"\\]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));
  return Buffer.from(`"${quoted}"`, 'latin1');
}
