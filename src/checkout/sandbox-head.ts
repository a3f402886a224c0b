/** Restores HEAD of a sandbox and its work branch. agt moves no other branch. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isReadableHead, readHeadFile } from '../git/files/head-file.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { branchUser } from '../git/files/worktree-registrations.ts';
import { findObject } from '../git/objects/object-reader.ts';
import { type Git, gitAnswer, gitText, inDirectory } from '../git/run/git.ts';
import type { RecordedHead } from '../snapshot/manifest.ts';
import type { WorkBranches } from './git-dir-files.ts';
import { requireGitDir } from './sandbox-git-dir.ts';

export interface SandboxBranches extends WorkBranches {
  readonly sandbox: string;
}

const REFLOG_MESSAGE = 'agt: restore';

/** Returns warnings if HEAD or the work branch cannot be as they were. */
export async function restoreHead(
  git: Git,
  head: RecordedHead,
  branches: SandboxBranches,
): Promise<string[]> {
  const warnings = await putHead(git, head, branches);
  return head.work === undefined
    ? warnings
    : [...warnings, ...(await restoreWorkBranch(git, head.work, branches))];
}

async function putHead(
  git: Git,
  { ref, commit }: RecordedHead,
  { sandbox, workBranch, snapshotWorkBranch }: SandboxBranches,
): Promise<string[]> {
  const isWorkBranch = ref === snapshotWorkBranch;
  const branch = isWorkBranch ? workBranch : ref;
  const sandboxGit = inDirectory(git, sandbox);
  if (commit !== null && branch !== null && (await isAt(git, sandbox, branch, commit))) return [];
  if (commit !== null && (await isGone(git, commit)))
    return keepRewrittenHead(git, sandboxGit, { branch, commit });
  await mendHead(sandboxGit, commit ?? `ref: ${branch}`);
  const obstacle =
    branch === null ? undefined : await whyBranchIsUnusable(git, branch, { sandbox, commit, isWorkBranch });
  if (branch !== null && obstacle === undefined) {
    if (isWorkBranch) await moveBranch(git, workBranch, commit);
    await attachHead(sandboxGit, branch);
    return [];
  }
  if (commit === null) return [`HEAD was not restored: ${obstacle}`];
  await gitText(sandboxGit, ['update-ref', '--no-deref', '-m', REFLOG_MESSAGE, 'HEAD', commit]);
  return obstacle === undefined ? [] : [`HEAD is detached at ${commit.slice(0, 10)}: ${obstacle}`];
}

/** Whether HEAD is on the branch, and the branch at the commit. */
async function isAt(git: Git, sandbox: string, branch: string, commit: string): Promise<boolean> {
  if (readHeadFile(requireGitDir(sandbox))?.ref !== branch) return false;
  return (await findObject(git, `${branch}^{commit}`)) === commit;
}

/** Whether somebody rewrote the history and deleted the commit. */
async function isGone(git: Git, commit: string): Promise<boolean> {
  return (await findObject(git, `${commit}^{commit}`)) === undefined;
}

/** Returns a warning. */
async function keepRewrittenHead(
  git: Git,
  sandboxGit: Git,
  { branch, commit }: { branch: string | null; commit: string },
): Promise<string[]> {
  const tip = branch === null ? undefined : await findObject(git, `${branch}^{commit}`);
  if (branch !== null && tip !== undefined && (await branchUser(git, branch, sandboxGit.cwd)) === undefined) {
    await mendHead(sandboxGit, tip);
    await attachHead(sandboxGit, branch);
  }
  const head = await findObject(sandboxGit, 'HEAD');
  const where = head === undefined ? '' : `; HEAD is at ${head.slice(0, 10)}`;
  return [`HEAD was not restored: its commit ${commit.slice(0, 10)} is gone from the repository${where}`];
}

/** While HEAD was elsewhere. `commit`: null if there was no such branch. */
async function restoreWorkBranch(
  git: Git,
  commit: string | null,
  { sandbox, workBranch }: SandboxBranches,
): Promise<string[]> {
  if ((await findObject(git, workBranch)) === (commit ?? undefined)) return [];
  const kept = `${shortBranch(workBranch)} was not restored`;
  if (commit !== null && (await isGone(git, commit)))
    return [`${kept}: its commit ${commit.slice(0, 10)} is gone from the repository`];
  const other = await branchUser(git, workBranch, sandbox);
  if (other !== undefined) return [`${kept}: it is ${other.use} in ${other.worktree}`];
  await moveBranch(git, workBranch, commit);
  return [];
}

/** With a HEAD that git does not understand, it takes the sandbox for no worktree. */
async function mendHead(sandboxGit: Git, content: string): Promise<void> {
  const gitDir = requireGitDir(sandboxGit.cwd);
  if (isReadableHead(gitDir)) return;
  const temporary = join(gitDir, `HEAD.agt-${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${content}\n`, { flag: 'wx' });
  renameSync(temporary, join(gitDir, 'HEAD'));
}

/** `commit`: null if there was no such branch. */
async function moveBranch(git: Git, branch: string, commit: string | null): Promise<void> {
  const current = await findObject(git, branch);
  if (current === (commit ?? undefined)) return;
  if (commit === null) {
    await gitText(git, ['update-ref', '-m', REFLOG_MESSAGE, '-d', branch, current ?? '']);
    return;
  }
  const expected = current ?? '0'.repeat(commit.length);
  await gitText(git, ['update-ref', '--create-reflog', '-m', REFLOG_MESSAGE, branch, commit, expected]);
}

async function attachHead(sandboxGit: Git, branch: string): Promise<void> {
  if (await isOnBranch(sandboxGit, branch)) return;
  await gitText(sandboxGit, ['symbolic-ref', '-m', REFLOG_MESSAGE, 'HEAD', branch]);
}

async function isOnBranch(sandboxGit: Git, branch: string): Promise<boolean> {
  return (await gitAnswer(sandboxGit, ['symbolic-ref', '--quiet', 'HEAD'])) === branch;
}

/** Why HEAD cannot be on a branch; undefined if it can. `commit`: null if the branch had none yet. */
async function whyBranchIsUnusable(
  git: Git,
  ref: string,
  { sandbox, commit, isWorkBranch }: { sandbox: string; commit: string | null; isWorkBranch: boolean },
): Promise<string | undefined> {
  const branch = `branch "${shortBranch(ref)}"`;
  const current = await findObject(git, ref);
  if (!isWorkBranch && current !== (commit ?? undefined)) {
    if (commit === null) return `${branch} had no commit in the snapshot, and has some now`;
    return current === undefined
      ? `${branch} was deleted, and agt creates only its own branches`
      : `${branch} has moved since, and agt moves only its own branches`;
  }
  if (!isWorkBranch && (await isOnBranch(inDirectory(git, sandbox), ref))) return undefined;
  const other = await branchUser(git, ref, sandbox);
  return other === undefined ? undefined : `${branch} is ${other.use} in ${other.worktree}`;
}
