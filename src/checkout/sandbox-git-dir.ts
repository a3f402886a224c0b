/** Restores what a sandbox's git directory holds: the index, HEAD, the work branch and an unfinished merge or rebase. */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError } from '../errors.ts';
import { shortBranch } from '../git/files/ref-files.ts';
import { worktreeGitDir } from '../git/files/worktree-git-dir.ts';
import { listWorktrees } from '../git/files/worktree-registrations.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import {
  type Git,
  gitAnswer,
  gitBytes,
  gitText,
  inDirectory,
  resolveObject,
  runGit,
} from '../git/run/git.ts';
import { haveSameIndex } from '../snapshot/diff.ts';
import { operationPaths, readOperation } from '../snapshot/git-operation.ts';
import type { SnapshotManifest } from '../snapshot/manifest.ts';
import type { SnapshotMetadata } from '../snapshot/metadata.ts';

/** Full names of branches. */
export interface SandboxBranches {
  readonly sandbox: string;
  /** The session's own work branch: the only branch that a restore moves. */
  readonly workBranch: string;
  /** The work branch of the session that made the snapshot: another one if this session is a fork. */
  readonly snapshotWorkBranch: string;
}

/**
 * Restores the index of a snapshot. `current` is the last snapshot of the sandbox: if it has the same index, that index is
 * kept. An older one has the stat data of files that have been replaced, so git would read all of these again.
 */
export async function restoreIndex(
  git: Git,
  current: string | undefined,
  content: SnapshotMetadata,
  sandbox: string,
): Promise<void> {
  const gitDir = requireGitDir(sandbox);
  if (current !== undefined && (await haveSameIndex(git, current, content.commit))) return;
  const index = await runGit(git, ['cat-file', 'blob', `${content.commit}:_/index`]);
  if (index.exitCode !== 0) {
    rmSync(join(gitDir, 'index'), { force: true });
    return;
  }
  const temporary = join(gitDir, `index.agt-${process.pid}.tmp`);
  writeFileSync(temporary, index.stdout);
  failurePoint('sandbox: index written');
  renameSync(temporary, join(gitDir, 'index'));
}

function requireGitDir(sandbox: string): string {
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) throw new AgtError(`"${sandbox}" is not a worktree`);
  return gitDir;
}

/** Puts the sandbox back into the middle of a merge or rebase that the snapshot was in, or ends one that it was not in. */
export async function restoreOperation(
  git: Git,
  content: SnapshotMetadata,
  { sandbox, workBranch, snapshotWorkBranch }: SandboxBranches,
): Promise<void> {
  const gitDir = requireGitDir(sandbox);
  if (readOperation(gitDir) !== undefined)
    for (const path of operationPaths(gitDir)) rmSync(path, { recursive: true });
  if (content.manifest.operation === null) return;
  const tree = `${content.commit}:_/operation`;
  if ((await resolveObject(git, tree)) === undefined) return;
  for (const { path } of await listTree(git, tree, { recurse: 'files' })) {
    mkdirSync(dirname(join(gitDir, path)), { recursive: true });
    const bytes = await gitBytes(git, ['cat-file', 'blob', `${tree}/${path}`]);
    // At its end a rebase moves the branch that is named here. It must be the branch of this session.
    const namesBranch =
      /^rebase-\w+\/head-name$/.test(path) && bytes.toString().trim() === snapshotWorkBranch;
    writeFileSync(join(gitDir, path), namesBranch ? `${workBranch}\n` : bytes);
  }
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
  if (ref === snapshotWorkBranch) {
    await moveBranch(git, workBranch, commit);
    await attachHead(sandboxGit, workBranch);
    return [];
  }
  const obstacle = ref === null ? undefined : await whyBranchIsUnusable(git, ref, commit, sandbox);
  if (ref !== null && obstacle === undefined) {
    await attachHead(sandboxGit, ref);
    return [];
  }
  await gitText(sandboxGit, ['update-ref', '--no-deref', '-m', REFLOG_MESSAGE, 'HEAD', commit]);
  return obstacle === undefined ? [] : [`HEAD is detached at ${commit.slice(0, 10)}: ${obstacle}`];
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

/** Why HEAD cannot be on a branch that is not agt's; undefined if it can. */
async function whyBranchIsUnusable(
  git: Git,
  ref: string,
  commit: string,
  sandbox: string,
): Promise<string | undefined> {
  const branch = `branch "${shortBranch(ref)}"`;
  const current = await resolveObject(git, ref);
  if (current === undefined) return `${branch} was deleted, and agt creates only its own branches`;
  if (current !== commit) return `${branch} has moved since, and agt moves only its own branches`;
  const other = (await listWorktrees(git)).find((entry) => entry.branch === ref && entry.path !== sandbox);
  return other === undefined ? undefined : `${branch} is checked out in ${other.path}`;
}
