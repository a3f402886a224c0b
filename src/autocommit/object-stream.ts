/** The one `git fast-import` of a capture. It starts only when there is something to store. */
import { failurePoint } from '../disk/failure-point.ts';
import { requireSpace } from '../disk/free-space.ts';
import type { IsInside } from '../disk/is-inside.ts';
import { AgtError, isAgtError } from '../errors.ts';
import { worktreeGitDir } from '../git/files/discover-repository.ts';
import { FastImport } from '../git/objects/fast-import.ts';
import { removeAbandoned } from '../git/objects/fast-import-cleanup.ts';
import { type Git, inDirectory } from '../git/run/git.ts';
import { type Content, streamContent } from './scan/content.ts';

/** In bytes. */
const MOST_ROOM = 1024 * 1024;

export class ObjectStream {
  private stream: FastImport | undefined;
  /** So many bytes are known to fit on the disk. */
  private room = 0;
  private readonly git: Git;
  private readonly commonDir: string;
  private readonly attempt: number;

  /** `commonDir` receives the objects. git leaves crash reports in the git directory of `cwd`. */
  constructor(git: Git, commonDir: string, cwd: string, attempt = 1) {
    this.git = inDirectory(git, cwd);
    this.commonDir = commonDir;
    this.attempt = attempt;
  }

  open(): FastImport {
    try {
      this.stream ??= this.start();
      return this.stream;
    } catch (error) {
      // An AgtError, so that nobody takes it for a problem with the file that was to be stored.
      throw isAgtError(error)
        ? error
        : new AgtError(`cannot store anything: ${(error as Error).message}`, { cause: error });
    }
  }

  private start(): FastImport {
    requireSpace(this.commonDir, 0);
    const gitDir = worktreeGitDir(this.git.cwd) ?? this.commonDir;
    const directories = { commonDir: this.commonDir, gitDir };
    removeAbandoned(directories);
    return new FastImport(this.git, directories, this.attempt);
  }

  /** Stores content as a blob. False if the file changed meanwhile. `path` is absolute, one byte per character. */
  async store(path: string, content: Content, isInside: IsInside): Promise<boolean> {
    const stream = this.open();
    this.requireSpaceFor(content.stat.size);
    if (content.bytes === undefined) return streamContent(path, content, stream, isInside);
    await stream.write('blob\n');
    await stream.data(content.bytes);
    failurePoint('capture: blob written');
    return true;
  }

  /** @throws AgtError if the disk has too little room for so many bytes */
  requireRoom(bytes: number): void {
    requireSpace(this.commonDir, bytes);
  }

  /** Asks the system only now and then: for small files that would take longer than to store them. */
  private requireSpaceFor(bytes: number): void {
    this.room -= bytes;
    if (this.room >= 0) return;
    this.room = Math.min(requireSpace(this.commonDir, bytes) / 2, MOST_ROOM);
  }

  /** Drops everything that is not part of a commit yet. */
  async close(): Promise<void> {
    await this.stream?.close();
  }
}
