/** The user's uncommitted work: `session new` names it, or takes it along. agt only reads that worktree. */
import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError, errorCode } from '../errors.ts';
import { takenRef } from '../filter/agent-refs.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { type FoundHead, headWithoutGit } from '../git/files/head-file.ts';
import { HEADS } from '../git/files/ref-files.ts';
import { diffIndex, editsOf } from '../git/objects/raw-diff.ts';
import { addAll, copyIndex, editIndex, plainCommit, writeTree } from '../git/objects/scratch-index.ts';
import { withScratchObjects } from '../git/objects/scratch-objects.ts';
import { readStatus, type StatusEntry } from '../git/objects/status.ts';
import { inDirectory, resolveObject, updateRefs } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { sessionContaining } from '../session/find-session.ts';
import type { Session } from '../session/session.ts';

/** All paths are relative to the worktree, one byte per character. */
export interface UserChanges {
  readonly worktree: string;
  readonly paths: readonly string[];
  /** Those that git has conflicts in. */
  readonly unmerged: readonly string[];
}

/** From files, without a look at the worktree. Undefined if git must be asked, and where there is no such worktree. */
export function readUserHead(repository: Repository, cwd: string): FoundHead | undefined {
  const { worktree, commonDir, git } = repository;
  if (worktree === undefined || sessionContaining(repository, cwd) !== undefined) return undefined;
  const gitDir = gitDirOf(worktree);
  return gitDir === undefined ? undefined : headWithoutGit({ gitDir, commonDir }, git.env);
}

/** Undefined if nothing stays behind: without a worktree, in a sandbox, or if the session does not start at HEAD. */
export async function readUserChanges(repository: Repository, start: string, cwd: string) {
  const { worktree, git } = repository;
  if (worktree === undefined) return undefined;
  if ((await resolveObject(inDirectory(git, worktree), 'HEAD^{commit}')) !== start) return undefined;
  return (await readCheckout(repository, cwd))?.changes;
}

/**
 * HEAD of the worktree in which the user works, and what is not committed there, by one git. Undefined
 * without a worktree, in a sandbox, and if HEAD has no commit or names no branch.
 */
export async function readCheckout(repository: Repository, cwd: string) {
  const { worktree, git } = repository;
  if (worktree === undefined || sessionContaining(repository, cwd) !== undefined) return undefined;
  const { commit, head, entries } = await readStatus(inDirectory(git, worktree), '--untracked-files=all');
  if (commit === undefined || /^(\(unknown\)|refs\/.*|)$/s.test(head)) return undefined;
  const pathsOf = (...kinds: StatusEntry['kind'][]) =>
    entries.filter(({ kind }) => kinds.includes(kind)).map(({ path }) => path);
  const tracked = pathsOf('tracked', 'unmerged').sort();
  return {
    branch: head === '(detached)' ? undefined : `${HEADS}${head}`,
    commit,
    changes: { worktree, paths: [...tracked, ...pathsOf('untracked')], unmerged: pathsOf('unmerged') },
  };
}

/** @throws AgtError if agt cannot take the changes along. */
export function requirePortable(changes: UserChanges | undefined, from: string | undefined): UserChanges {
  if (changes === undefined) {
    const where = from === undefined ? 'this directory' : `"${from}"`;
    const reason = `a session from ${where} does not start at your HEAD`;
    throw new AgtError(`there are no changes to take along: ${reason}`, {
      hints: ['leave out --with-changes, or --from'],
    });
  }
  if (changes.unmerged.length > 0) {
    throw new AgtError(`cannot take along conflicts (${changes.unmerged.map(displayPath).join(', ')})`, {
      hints: ['resolve them first, or leave out --with-changes'],
    });
  }
  return changes;
}

/** Makes files and index of the sandbox as they are in the worktree. Returns the paths that it could not take along. */
export async function takeAlong(session: Session, { worktree, paths }: UserChanges): Promise<string[]> {
  const { repository, record } = session;
  const { sandbox, from_commit } = record;
  const source = inDirectory(repository.git, worktree);
  const staged = await diffIndex(source, 'HEAD');
  const from = Buffer.from(`${worktree}/`).toString('latin1');
  const to = Buffer.from(`${sandbox}/`).toString('latin1');
  // First those that are gone: a file may be in the place of a directory, or the other way round.
  const isGone = (path: string) => {
    const stat = statOf(from + path);
    return stat === undefined || (stat.isDirectory() && statOf(to + path)?.isDirectory() === false);
  };
  const gone = new Set(paths.filter(isGone));
  for (const path of gone) rmSync(Buffer.from(to + path, 'latin1'), { force: true });
  const left = paths.filter((path) => !gone.has(path) && !copyFile(from + path, to + path, sandbox));
  // The repository has the blobs already.
  const edits = editsOf(staged, 'after');
  await editIndex(inDirectory(repository.git, sandbox), edits, from_commit.length);
  await keepTaken(session);
  return left;
}

/** An acceptance must tell the user's work from the agent's. Without the ref it takes all for the agent's. */
export async function keepTaken({ repository, id, sandboxGit, record: { sandbox, from_commit } }: Session) {
  await withScratchObjects(repository, async ({ dir }) => {
    const index = await copyIndex(sandboxGit, gitDirOf(sandbox), join(dir, 'index'));
    if ((await addAll(index)).exitCode !== 0) return;
    const taken = await plainCommit(repository.git, await writeTree(index), [from_commit]);
    await updateRefs(repository.git, [`update ${takenRef(id)} ${taken}`]);
  });
}

function statOf(path: string) {
  try {
    return lstatSync(Buffer.from(path, 'latin1'), { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** False for something that is neither a file nor a link: another repository, a submodule, a named pipe. */
function copyFile(from: string, to: string, sandbox: string): boolean {
  const stat = statOf(from);
  if (stat === undefined || !(stat.isFile() || stat.isSymbolicLink())) return false;
  const [source, target] = [Buffer.from(from, 'latin1'), Buffer.from(to, 'latin1')];
  const parent = Buffer.from(dirname(to), 'latin1');
  const existing = statOf(to);
  if (existing?.isDirectory()) rmSync(target, { recursive: true });
  else if (existing !== undefined) rmSync(target);
  mkdirSync(parent, { recursive: true });
  if (!`${realpathSync(parent)}/`.startsWith(`${realpathSync(sandbox)}/`)) return false;
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(source, 'buffer'), target);
  else copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  return true;
}
