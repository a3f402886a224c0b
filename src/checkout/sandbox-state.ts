/** What a snapshot says of a sandbox beside its files: the index, HEAD, and where the work branch was. */

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
import { operationPaths, readOperation } from '../snapshot/git-operation.ts';
import { haveSameIndex, type SnapshotContent } from '../snapshot/snapshot.ts';

/**
 * The index as it was. Its stat data may be of other files, so git looks at some files once more; hence one that is the
 * same is left alone. `present` is the snapshot that was captured last.
 */
export async function restoreIndex(
  git: Git,
  present: string | undefined,
  content: SnapshotContent,
  sandbox: string,
): Promise<void> {
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) throw new AgtError(`${sandbox} is no worktree`);
  if (present !== undefined && (await haveSameIndex(git, present, content.commit))) return;
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

export interface HeadWish {
  readonly head: { readonly ref: string | null; readonly commit: string | null };
  readonly sandbox: string;
  /** The session's own work branch: the only one that is ever moved. */
  readonly workBranch: string;
  /** The work branch of the session that the snapshot is of. */
  readonly workBranchThen: string;
}

/** Puts the sandbox back into the middle of the merge or rebase that it was in, or out of one. */
export async function restoreOperation(
  git: Git,
  content: SnapshotContent,
  wish: Omit<HeadWish, 'head'>,
): Promise<void> {
  const { sandbox, workBranch, workBranchThen } = wish;
  const gitDir = worktreeGitDir(sandbox);
  if (gitDir === undefined) throw new AgtError(`${sandbox} is no worktree`);
  if (readOperation(gitDir) !== undefined)
    for (const path of operationPaths(gitDir)) rmSync(path, { recursive: true });
  if (content.manifest.operation === null) return;
  const prefix = `${content.commit}:_/operation`;
  if ((await resolveObject(git, prefix)) === undefined) return;
  for (const { path: name } of await listTree(git, prefix, { recurse: 'files' })) {
    mkdirSync(dirname(join(gitDir, name)), { recursive: true });
    const bytes = await gitBytes(git, ['cat-file', 'blob', `${prefix}/${name}`]);
    // The branch that a rebase moves when it ends must be this session's.
    const isOther = /^rebase-\w+\/head-name$/.test(name) && bytes.toString().trim() === workBranchThen;
    writeFileSync(join(gitDir, name), isOther ? `${workBranch}\n` : bytes);
  }
}

/** Puts HEAD and the work branch where they were. Returns what could not be, in words. */
export async function restoreHead(git: Git, wish: HeadWish): Promise<string[]> {
  const { head, workBranch } = wish;
  const sandbox = inDirectory(git, wish.sandbox);
  const reason = 'agt: restore';
  if (head.commit === null) {
    return [`HEAD stays where it is: it was on ${shortBranch(head.ref ?? '')}, which had no commit yet`];
  }
  const pointTo = async (ref: string) => {
    if ((await gitAnswer(sandbox, ['symbolic-ref', '--quiet', 'HEAD'])) !== ref)
      await gitText(sandbox, ['symbolic-ref', '-m', reason, 'HEAD', ref]);
  };
  if (head.ref === wish.workBranchThen) {
    const now = await resolveObject(git, workBranch);
    if (now !== head.commit) {
      const old = now ?? '0'.repeat(head.commit.length);
      await gitText(git, ['update-ref', '--create-reflog', '-m', reason, workBranch, head.commit, old]);
    }
    await pointTo(workBranch);
    return [];
  }
  if (head.ref !== null && (await isFree(git, head.ref, head.commit, wish.sandbox))) {
    await pointTo(head.ref);
    return [];
  }
  await gitText(sandbox, ['update-ref', '--no-deref', '-m', reason, 'HEAD', head.commit]);
  if (head.ref === null) return [];
  const short = head.commit.slice(0, 10);
  return [
    `HEAD is detached at ${short}: ${shortBranch(head.ref)} has moved since, and agt moves only its own branches`,
  ];
}

/** Whether a branch is still there and no other worktree has it. */
async function isFree(git: Git, ref: string, commit: string, sandbox: string): Promise<boolean> {
  if ((await resolveObject(git, ref)) !== commit) return false;
  return !(await listWorktrees(git)).some(({ branch, path }) => branch === ref && path !== sandbox);
}
