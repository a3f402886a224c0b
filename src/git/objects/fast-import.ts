/**
 * Writes to one `git fast-import` as a stream, and waits when git is slower. If agt dies before the final `done`, git
 * moves no ref. git flushes objects to disk before it moves refs.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { AgtError, EXIT } from '../../errors.ts';
import type { GitDirectories } from '../files/discover-repository.ts';
import { forOwnerAlone } from '../run/environment.ts';
import { endOf, FSYNC_ARGS, type Git, type GitEnd, spawnGit } from '../run/git.ts';
import { forgetImport, noteImport, removeKeepFile, removeTemporaryFiles } from './fast-import-cleanup.ts';
import { hasPromisorPacks } from './object-store.ts';

/** git streams larger files into the pack: it neither holds them in memory nor looks for deltas. */
const BIG_FILE = '1m';

/** Bytes that are collected before they are written: otherwise git and agt would wake each other for every line. */
const WRITE_BUFFER = 32 * 1024;

/**
 * With `core.ignoreCase`, which git sets on macOS, fast-import takes `readme` for `README` that is there, and keeps the old
 * name. A snapshot has the names as the disk has them.
 */
export const EXACT_NAMES = ['-c', 'core.ignoreCase=false'];

/** How far the clock of the file system may be behind the clock of this machine. */
const CLOCK_SKEW_MS = 2000;

const ARGS = [
  ...FSYNC_ARGS,
  ...EXACT_NAMES,
  '-c',
  `core.bigFileThreshold=${BIG_FILE}`,
  'fast-import',
  '--quiet',
  '--done',
  '--date-format=raw',
];

/**
 * Makes fast-import write a pack, however few objects there are. Its `.keep` file protects the pack from `git repack`
 * and `git gc --prune=now` until a ref leads to it. Nothing protects loose objects, and git would flush each of them.
 * A partial clone is the exception: agt does not rewrite its packs, so only loose objects can ever be deleted again.
 */
const NO_LOOSE_OBJECTS = 'fastimport.unpackLimit=0';
const AS_PACK = ['-c', NO_LOOSE_OBJECTS];

/**
 * Levels of compression, by attempt. The first is the fastest: objects that are kept for long become deltas anyway,
 * when a later repack joins packs. Each gives the same objects other bytes, so that their pack has another name: a
 * killed fast-import leaves a `.keep` file, and git refuses to write a pack of that name again.
 */
const COMPRESSION = [1, 2, 6, 9, 0] as const;

/** `attempt` counts from 1. */
function importArgs({ commonDir }: GitDirectories, attempt: number): string[] {
  const compression = ['-c', `pack.compression=${COMPRESSION[(attempt - 1) % COMPRESSION.length]}`];
  return [...(hasPromisorPacks(commonDir) ? [] : AS_PACK), ...compression, ...ARGS];
}

/**
 * Failures that other processes cause and that a second attempt may not meet: another process moved or locked a ref,
 * a killed one left a `.keep` file, or `git gc --prune=now` deleted temporary files or objects that no ref led to
 * yet.
 */
const TRANSIENT =
  /not updating|cannot lock ref|unable to create '.*\.lock'|cannot create keep file: file exists|not found|missing|no such file or directory/i;

/** The stream names a commit that git cannot find. */
const LOST = /not a valid commit/i;

export class FastImportFailed extends AgtError {
  /** A second attempt may succeed. */
  readonly isTransient: boolean;
  /** The repository has lost a commit that agt took for granted. */
  readonly isLostCommit: boolean;

  constructor(reason: string, hints: string[], stderr: string, signal?: NodeJS.Signals) {
    super(`git fast-import failed: ${reason}`, { exitCode: EXIT.failed, hints, cause: stderr, signal });
    this.isTransient = TRANSIENT.test(stderr);
    this.isLostCommit = LOST.test(stderr);
  }
}

export class FastImport {
  private readonly child: ChildProcess;
  private readonly ended: Promise<GitEnd>;
  /** The first two lines that git printed; undefined if it ended without them. */
  private readonly firstLines: Promise<string[] | undefined>;
  private collected: Uint8Array[] = [];
  private collectedBytes = 0;
  private isBroken = false;
  private isFinished = false;
  private readonly directories: GitDirectories;
  private readonly startedAt: number;

  /** `attempt` counts from 1. */
  constructor(git: Git, directories: GitDirectories, attempt: number) {
    this.directories = directories;
    this.startedAt = Date.now() - CLOCK_SKEW_MS;
    noteImport(directories.gitDir, this.startedAt);
    const args = importArgs(directories, attempt);
    // A pack holds files that only their owner may read. Loose objects share directories with those of the user.
    const start = () => spawnGit(git, args);
    this.child = args.includes(NO_LOOSE_OBJECTS) ? forOwnerAlone(start) : start();
    this.child.stdin?.on('error', () => {
      this.isBroken = true; // git has ended; finish() reports its reason
    });
    const { promise, resolve } = Promise.withResolvers<string[] | undefined>();
    this.firstLines = promise;
    let text = '';
    const onOutput = (chunk: Buffer) => {
      text += chunk.toString();
      const [first, second, ...rest] = text.split('\n');
      if (first !== undefined && second !== undefined && rest.length > 0) resolve([first, second]);
    };
    const notStarted = { exitCode: null, signal: null, stdout: Buffer.alloc(0) };
    this.ended = endOf(this.child, undefined, onOutput)
      .catch((error: Error) => ({ ...notStarted, stderr: error.message }))
      .finally(() => resolve(undefined));
  }

  /** The caller must not change the bytes afterwards. Resolves when git can take more. @throws AgtError */
  async write(chunk: string | Uint8Array): Promise<void> {
    this.collect(chunk);
    if (this.collectedBytes >= WRITE_BUFFER) await this.flush();
  }

  private collect(chunk: string | Uint8Array): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    this.collected.push(bytes);
    this.collectedBytes += bytes.length;
  }

  /** When it returns its promise, the pipe holds as much as fits. */
  private async flush(): Promise<void> {
    const { stdin } = this.child;
    if (this.isBroken || stdin === null || stdin === undefined) return this.fail();
    stdin.cork();
    for (const chunk of this.collected) stdin.write(chunk);
    stdin.uncork();
    this.collected = [];
    this.collectedBytes = 0;
    if (!stdin.writableNeedDrain) return;
    const drained = once(stdin, 'drain').catch(() => this.ended); // git has ended: the next write reports its reason
    await Promise.race([drained, this.ended]);
  }

  /** The commit with mark `:1`, and its tree. @throws AgtError if git has ended. */
  async describeFirstMark(): Promise<{ commit: string; tree: string }> {
    this.collect('get-mark :1\nls :1 ""\n');
    await this.flush();
    const [commit = '', listed = ''] = (await this.firstLines) ?? (await this.fail());
    return { commit, tree: /^040000 tree ([0-9a-f]+)\t/.exec(listed)?.[1] ?? '' };
  }

  /** Writes a `data` command with its length. */
  async data(bytes: Uint8Array): Promise<void> {
    await this.write(`data ${bytes.length}\n`);
    await this.write(bytes);
    await this.write('\n');
  }

  /** @throws AgtError if git did not accept the whole stream; no ref has moved then. */
  async finish(): Promise<void> {
    this.collect('done\n');
    await this.flush();
    this.child.stdin?.end();
    if ((await this.ended).exitCode !== 0) await this.fail();
    this.isFinished = true;
  }

  /** Ends the work with git. Unless it has finished, agt kills it: no ref moves, and agt deletes what git has written. */
  async close(): Promise<void> {
    if (!this.isFinished) {
      this.child.kill('SIGKILL');
      await this.ended;
      removeTemporaryFiles(this.directories, this.child.pid, this.startedAt);
    }
    forgetImport(this.directories.gitDir);
  }

  private async fail(): Promise<never> {
    const { exitCode, signal, stderr } = await this.ended;
    removeTemporaryFiles(this.directories, this.child.pid, this.startedAt);
    removeKeepFile(this.directories, stderr);
    const reason = stderr.split('\n').find((line) => /^(fatal|error|warning):/.test(line)) ?? stderr.trim();
    const isFull = /no space left|quota exceeded/i.test(stderr);
    const isLocked = /cannot lock ref/i.test(stderr);
    const hints = [
      'nothing was captured; the last snapshot is unchanged',
      ...(isFull ? ['free some disk space; see: df -h'] : []),
      ...(isLocked ? ['see: agt doctor'] : []),
    ];
    const ending = signal === null ? `exit code ${exitCode}` : `killed by ${signal}`;
    throw new FastImportFailed(reason.replace(/^\w+: /, '') || ending, hints, stderr, signal ?? undefined);
  }
}

/** A path in the syntax of fast-import. `path` holds one byte per character. */
export function fastImportPath(path: string): Buffer {
  const needsQuotes = /[\n"\\]/.test(path);
  if (!needsQuotes) return Buffer.from(path, 'latin1');
  const escaped = path.replace(/[\n"\\]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));
  return Buffer.from(`"${escaped}"`, 'latin1');
}
