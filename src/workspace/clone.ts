/**
 * Makes a sandbox of a clone: the files are there already, git and agt need only know them. The clone gets its own name
 * when it is complete, so that nobody takes its files for the work of an agent.
 */
import { linkSync, readFileSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../disk/atomic-file.ts';
import { failurePoint } from '../disk/failure-point.ts';
import { makeDirectories } from '../disk/make-directories.ts';
import { AgtError } from '../errors.ts';
import { worktreeGitDir } from '../git/files/discover-repository.ts';
import { withStatOfCopy } from '../git/files/index-stat.ts';
import { gitText, spawnGit } from '../git/run/git.ts';
import { statCacheFile } from '../layout.ts';
import { providerOf } from '../providers/choose.ts';
import { makingPath, type Token } from '../providers/token.ts';
import { dropWorkspace, makeWorkspace, settleWorkspace, type WorkspaceFields } from '../session/provider.ts';
import type { Session } from '../session/session.ts';

/** A folder to clone, with what is known of it. */
export interface CloneSource {
  readonly folder: string;
  readonly index: ClonedIndex | undefined;
  /** The file with the stat cache of the folder. */
  readonly statCache: string;
  /** The commit that git has checked out there. */
  readonly commit: string;
}

export interface ClonedIndex {
  readonly mtimeMs: number;
  /** Writes it to a path. */
  readonly copyTo: (path: string) => void;
}

export interface ClonedFolder {
  readonly workspace: Token;
  readonly source: CloneSource;
}

/** The folder to clone for a session with such metadata; undefined for nothing. */
export type ChooseSource = (record: WorkspaceFields) => Promise<CloneSource | undefined>;

/** Undefined if there is nothing to clone, or if the provider cannot: then agt fills an empty folder. */
export async function cloneFolder(session: Session, choose: ChooseSource | undefined) {
  const { repository, record } = session;
  const source = record.token === undefined ? undefined : await choose?.(record);
  if (source === undefined) return undefined;
  try {
    const workspace = await makeWorkspace(session, source.folder);
    return workspace && { workspace, source };
  } catch {
    await dropWorkspace(repository, record);
    return undefined;
  }
}

export async function makeFolder(session: Session): Promise<void> {
  const workspace = await makeWorkspace(session);
  if (workspace !== undefined) await settleWorkspace(workspace);
  for (const name of ['xdg', 'config']) makeDirectories(join(session.folder, name));
}

/** `record.sandbox` is a registered worktree without files. */
export async function moveIntoWorktree(session: Session, workspace: Token, source: CloneSource) {
  const { sandbox, from_commit: commit } = session.record;
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) throw new AgtError(`git did not register "${sandbox}" as a worktree`);
  const clone = join(makingPath(workspace), 'sandbox');
  const { newInodes } = providerOf(workspace.kind);
  if (source.index !== undefined) {
    writeClonedIndex(gitDir, source.index);
    if (newInodes) followInodes(gitDir, clone, commit);
    if (source.commit !== commit) {
      const env = { GIT_DIR: gitDir, GIT_WORK_TREE: clone };
      await gitText(session.git, ['read-tree', '-m', '-u', source.commit, commit], { env });
    }
  }
  failurePoint('clone: at its commit');
  rmSync(join(clone, '.git'), { force: true, recursive: true });
  // A rename would cross the border of a subvolume.
  writeFileSync(join(clone, '.git'), readFileSync(join(sandbox, '.git')), { flag: 'wx' });
  rmSync(join(sandbox, '.git'));
  for (const empty of [sandbox, session.folder]) rmdirSync(empty);
  await settleWorkspace(workspace);
  if (newInodes && source.index !== undefined) followInodes(gitDir, sandbox, commit);
}

/** The index holds for a clone, with its own time: under a newer one git would trust files of its last second. */
function writeClonedIndex(gitDir: string, { copyTo, mtimeMs }: ClonedIndex): void {
  const path = join(gitDir, 'index');
  copyTo(path);
  const seconds = Math.floor(mtimeMs / 1000);
  utimesSync(path, seconds, seconds);
}

/** Gives the entries of the index the inode numbers of a new mount. The index keeps its time. */
function followInodes(gitDir: string, folder: string, commit: string): void {
  const path = join(gitDir, 'index');
  const { mtimeMs } = statSync(path);
  const bytes = withStatOfCopy(readFileSync(path), commit.length / 2, folder);
  if (bytes === undefined) return;
  const copyTo = () => writeFileAtomic(path, bytes, { cache: true });
  writeClonedIndex(gitDir, { mtimeMs, copyTo });
}

/** From here on the kernel takes seconds to read the inodes of a clone: about 10,000 files. */
const LARGE_INDEX = 1_000_000;

/** Lets the kernel read the inodes of a clone, so that the agent's first `git status` need not. It takes no lock of git. */
export async function warmUp(session: Session): Promise<void> {
  const index = join(worktreeGitDir(session.record.sandbox) ?? '', 'index');
  if ((statSync(index, { throwIfNoEntry: false })?.size ?? 0) < LARGE_INDEX) return;
  const args = ['--no-optional-locks', 'status', '--porcelain'];
  const child = spawnGit(session.sandboxGit, args, { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined).unref(); // nobody waits for it
}

/** It holds for the clone as well. A capture replaces the file and never writes into it. */
export function copyStatCache({ repository, record }: Session, { statCache }: CloneSource): void {
  const file = statCacheFile(repository.agtDir, record.session_id);
  rmSync(file, { force: true });
  makeDirectories(dirname(file));
  linkSync(statCache, file);
}
