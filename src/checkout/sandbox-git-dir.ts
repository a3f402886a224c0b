/** Restores what git has of a sandbox: the index, HEAD, the work branch and the files that are the sandbox's alone. */

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { readNoFollow } from '../disk/read-no-follow.ts';
import { AgtError } from '../errors.ts';
import { branchUser } from '../git/files/branch-user.ts';
import { isReadableHead } from '../git/files/head-file.ts';
import { summarizeIndex } from '../git/files/index-file.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { worktreeGitDir } from '../git/files/worktree-git-dir.ts';
import { type Git, gitAnswer, gitText, inDirectory, resolveObject, runGit } from '../git/run/git.ts';
import type { SnapshotManifest } from '../snapshot/manifest.ts';
import type { SnapshotMetadata } from '../snapshot/metadata.ts';
import type { WorkBranches } from './git-dir-files.ts';

export interface SandboxBranches extends WorkBranches {
  readonly sandbox: string;
}

/**
 * Restores the index of a snapshot. If the sandbox has an equal one, that one is kept: the snapshot's has the stat data of
 * files that have been replaced, so git would read all of these again.
 */
export async function restoreIndex(git: Git, content: SnapshotMetadata, sandbox: string): Promise<void> {
  const gitDir = requireGitDir(sandbox);
  const index = await runGit(git, ['cat-file', 'blob', `${content.commit}:_/index`]);
  const oidLength = content.commit.length / 2;
  if (
    index.exitCode === 0 &&
    digestOnDisk(gitDir, oidLength) === summarizeIndex(index.stdout, oidLength).digest
  )
    return;
  if (index.exitCode !== 0) {
    rmSync(join(gitDir, 'index'), { recursive: true, force: true });
    return;
  }
  const temporary = join(gitDir, `index.agt-${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  writeFileSync(temporary, index.stdout, { flag: 'wx' });
  failurePoint('sandbox: index written');
  renameSync(temporary, join(gitDir, 'index'));
}

/** Undefined if there is no index that git could read as it is. */
function digestOnDisk(gitDir: string, oidLength: number): string | undefined {
  try {
    const bytes = readNoFollow(join(Buffer.from(gitDir).toString('latin1'), 'index'));
    const summary = bytes === undefined || bytes.length === 0 ? undefined : summarizeIndex(bytes, oidLength);
    return summary?.split === false ? summary.digest : undefined;
  } catch {
    return undefined;
  }
}

export function requireGitDir(sandbox: string): string {
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) throw new AgtError(`"${sandbox}" is not a worktree`);
  return gitDir;
}

const REFLOG_MESSAGE = 'agt: restore';

/** Restores HEAD and the work branch. Returns a warning if HEAD cannot be as it was. */
export async function restoreHead(
  git: Git,
  { ref, commit }: SnapshotManifest['head'],
  { sandbox, workBranch, snapshotWorkBranch }: SandboxBranches,
): Promise<string[]> {
  if (commit === null) {
    return [
      `HEAD was not restored: in the snapshot it is on branch "${shortBranch(ref ?? '')}", which had no commit yet`,
    ];
  }
  const sandboxGit = inDirectory(git, sandbox);
  const isWorkBranch = ref === snapshotWorkBranch;
  const branch = isWorkBranch ? workBranch : ref;
  if ((await resolveObject(git, `${commit}^{commit}`)) === undefined)
    return keepRewrittenHead(git, sandboxGit, { branch, commit });
  await mendHead(sandboxGit, commit);
  const obstacle =
    branch === null ? undefined : await whyBranchIsUnusable(git, branch, { sandbox, commit, isWorkBranch });
  if (branch !== null && obstacle === undefined) {
    if (isWorkBranch) await moveBranch(git, workBranch, commit);
    await attachHead(sandboxGit, branch);
    return [];
  }
  await gitText(sandboxGit, ['update-ref', '--no-deref', '-m', REFLOG_MESSAGE, 'HEAD', commit]);
  return obstacle === undefined ? [] : [`HEAD is detached at ${commit.slice(0, 10)}: ${obstacle}`];
}

/** Somebody rewrote the history and deleted the commit. Returns a warning. */
async function keepRewrittenHead(
  git: Git,
  sandboxGit: Git,
  { branch, commit }: { branch: string | null; commit: string },
): Promise<string[]> {
  const tip = branch === null ? undefined : await resolveObject(git, `${branch}^{commit}`);
  if (branch !== null && tip !== undefined && (await branchUser(git, branch, sandboxGit.cwd)) === undefined) {
    await mendHead(sandboxGit, tip);
    await attachHead(sandboxGit, branch);
  }
  const head = await resolveObject(sandboxGit, 'HEAD');
  const where = head === undefined ? '' : `; HEAD is at ${head.slice(0, 10)}`;
  return [`HEAD was not restored: its commit ${commit.slice(0, 10)} is gone from the repository${where}`];
}

/** With a HEAD that git does not understand, it takes the sandbox for no worktree. */
async function mendHead(sandboxGit: Git, commit: string): Promise<void> {
  const gitDir = requireGitDir(sandboxGit.cwd);
  if (isReadableHead(gitDir)) return;
  const temporary = join(gitDir, `HEAD.agt-${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${commit}\n`, { flag: 'wx' });
  renameSync(temporary, join(gitDir, 'HEAD'));
}

async function moveBranch(git: Git, branch: string, commit: string): Promise<void> {
  const current = await resolveObject(git, branch);
  if (current === commit) return;
  const expected = current ?? '0'.repeat(commit.length);
  await gitText(git, ['update-ref', '--create-reflog', '-m', REFLOG_MESSAGE, branch, commit, expected]);
}

async function attachHead(sandboxGit: Git, branch: string): Promise<void> {
  if ((await gitAnswer(sandboxGit, ['symbolic-ref', '--quiet', 'HEAD'])) === branch) return;
  await gitText(sandboxGit, ['symbolic-ref', '-m', REFLOG_MESSAGE, 'HEAD', branch]);
}

interface BranchUse {
  readonly sandbox: string;
  readonly commit: string;
  /** agt moves no other branch. */
  readonly isWorkBranch: boolean;
}

/** Why HEAD cannot be on a branch; undefined if it can. */
async function whyBranchIsUnusable(
  git: Git,
  ref: string,
  { sandbox, commit, isWorkBranch }: BranchUse,
): Promise<string | undefined> {
  const branch = `branch "${shortBranch(ref)}"`;
  const current = await resolveObject(git, ref);
  if (!isWorkBranch && current === undefined)
    return `${branch} was deleted, and agt creates only its own branches`;
  if (!isWorkBranch && current !== commit)
    return `${branch} has moved since, and agt moves only its own branches`;
  const other = await branchUser(git, ref, sandbox);
  return other === undefined ? undefined : `${branch} is ${other.use} in ${other.worktree}`;
}
