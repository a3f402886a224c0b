/** Restores HEAD of a sandbox and its work branch. agt moves no other branch. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isReadableHead, readHeadFile } from '../git/files/head-file.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { branchUser } from '../git/files/worktree-registrations.ts';
import { findObject } from '../git/objects/object-reader.ts';
import { type Git, gitText, inDirectory } from '../git/run/git.ts';
import type { RecordedHead } from '../snapshot/manifest.ts';
import type { WorkBranches } from './git-dir-files.ts';
import { requireGitDir } from './sandbox-git-dir.ts';

export interface SandboxBranches extends WorkBranches {
  readonly sandbox: string;
}

const REFLOG_MESSAGE = 'agt: restore';

/** Of what restoreHead does; a preview only shows it. */
export interface HeadPlan {
  /** HEAD goes on this branch, or to this commit; it stays without either. */
  readonly on?: string;
  readonly detachedAt?: string;
  /** The work branch goes there; null: it goes away; undefined: it stays. */
  readonly work?: string | null;
  /** For a HEAD that git does not understand. */
  readonly mended?: string;
  /** HEAD or the work branch cannot be as they were. */
  readonly warnings: readonly string[];
}

/** Returns warnings if HEAD or the work branch cannot be as they were. */
export async function restoreHead(
  git: Git,
  head: RecordedHead,
  branches: SandboxBranches,
): Promise<readonly string[]> {
  const sandboxGit = inDirectory(git, branches.sandbox);
  // The plan asks which worktrees have a branch: for that git reads HEAD.
  if (head.commit !== null && !(await isGone(git, head.commit))) await mendHead(sandboxGit, head.commit);
  const { on, detachedAt, work, mended, warnings } = await planHead(git, head, branches);
  if (mended !== undefined) await mendHead(sandboxGit, mended);
  if (work !== undefined) await moveBranch(git, branches.workBranch, work);
  if (on !== undefined) await attachHead(sandboxGit, on);
  if (detachedAt !== undefined)
    await gitText(sandboxGit, ['update-ref', '--no-deref', '-m', REFLOG_MESSAGE, 'HEAD', detachedAt]);
  return warnings;
}

export async function planHead(git: Git, head: RecordedHead, branches: SandboxBranches): Promise<HeadPlan> {
  const plan = await planHeadAlone(git, head, branches);
  if (head.work === undefined) return plan;
  const work = await planWorkBranch(git, head.work, branches);
  return { ...plan, ...work, warnings: [...plan.warnings, ...work.warnings] };
}

async function planHeadAlone(
  git: Git,
  { ref, commit }: RecordedHead,
  { sandbox, workBranch, snapshotWorkBranch }: SandboxBranches,
): Promise<HeadPlan> {
  const isWorkBranch = ref === snapshotWorkBranch;
  const branch = isWorkBranch ? workBranch : ref;
  if (commit !== null && branch !== null && (await isAt(git, sandbox, branch, commit)))
    return { warnings: [] };
  if (commit !== null && (await isGone(git, commit)))
    return planRewritten(git, inDirectory(git, sandbox), { branch, commit });
  const mended = commit ?? `ref: ${branch}`;
  const obstacle =
    branch === null ? undefined : await whyBranchIsUnusable(git, branch, { sandbox, commit, isWorkBranch });
  if (branch !== null && obstacle === undefined)
    return { mended, on: branch, ...(isWorkBranch ? { work: commit } : {}), warnings: [] };
  if (commit === null) return { mended, warnings: [`HEAD was not restored: ${obstacle}`] };
  // In a fork, whose source keeps the branch.
  const isAsForked =
    workBranch !== snapshotWorkBranch && readHeadFile(requireGitDir(sandbox))?.commit === commit;
  if (obstacle !== undefined && isAsForked) return { warnings: [] };
  const warnings = obstacle === undefined ? [] : [`HEAD is detached at ${commit.slice(0, 10)}: ${obstacle}`];
  return { mended, detachedAt: commit, warnings };
}

/** Whether HEAD is on the branch, and the branch at the commit. */
async function isAt(git: Git, sandbox: string, branch: string, commit: string): Promise<boolean> {
  return isOnBranch(sandbox, branch) && (await findObject(git, `${branch}^{commit}`)) === commit;
}

/** Whether somebody rewrote the history and deleted the commit. */
async function isGone(git: Git, commit: string): Promise<boolean> {
  return (await findObject(git, `${commit}^{commit}`)) === undefined;
}

/** The commit is gone: HEAD goes to the tip of its branch, if it can. */
async function planRewritten(
  git: Git,
  sandboxGit: Git,
  { branch, commit }: { branch: string | null; commit: string },
): Promise<HeadPlan> {
  const tip = branch === null ? undefined : await findObject(git, `${branch}^{commit}`);
  const isFree =
    branch !== null && tip !== undefined && (await branchUser(git, branch, sandboxGit.cwd)) === undefined;
  const head = isFree ? tip : await findObject(sandboxGit, 'HEAD');
  const where = head === undefined ? '' : `; HEAD is at ${head.slice(0, 10)}`;
  return {
    ...(isFree ? { mended: tip, on: branch } : {}),
    warnings: [
      `HEAD was not restored: its commit ${commit.slice(0, 10)} is gone from the repository${where}`,
    ],
  };
}

/** While HEAD was elsewhere. `commit`: null if there was no such branch. */
async function planWorkBranch(
  git: Git,
  commit: string | null,
  { sandbox, workBranch }: SandboxBranches,
): Promise<Pick<HeadPlan, 'work' | 'warnings'>> {
  if ((await findObject(git, workBranch)) === (commit ?? undefined)) return { warnings: [] };
  const kept = `${shortBranch(workBranch)} was not restored`;
  if (commit !== null && (await isGone(git, commit)))
    return { warnings: [`${kept}: its commit ${commit.slice(0, 10)} is gone from the repository`] };
  const other = await branchUser(git, workBranch, sandbox);
  if (other !== undefined) return { warnings: [`${kept}: it is ${other.use} in ${other.worktree}`] };
  return { work: commit, warnings: [] };
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
  if (isOnBranch(sandboxGit.cwd, branch)) return;
  await gitText(sandboxGit, ['symbolic-ref', '-m', REFLOG_MESSAGE, 'HEAD', branch]);
}

function isOnBranch(sandbox: string, branch: string): boolean {
  return readHeadFile(requireGitDir(sandbox))?.ref === branch;
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
  if (!isWorkBranch && isOnBranch(sandbox, ref)) return undefined;
  const other = await branchUser(git, ref, sandbox);
  return other === undefined ? undefined : `${branch} is ${other.use} in ${other.worktree}`;
}
