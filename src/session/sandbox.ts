/** What git says of a sandbox: where its HEAD is and what is not committed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AgtError } from '../errors.ts';
import { worktreeGitDir } from '../git/files/worktree-git-dir.ts';
import { gitAnswer, gitBytes, inDirectory, resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from './record.ts';

export interface SandboxHead {
  /** Full name of the branch; undefined where HEAD is detached. */
  readonly ref: string | undefined;
  /** Undefined where the branch is unborn. */
  readonly commit: string | undefined;
}

/** True while the sandbox's files and its registration as a worktree are both there. */
export function sandboxExists(record: SessionRecord): boolean {
  const gitDir = worktreeGitDir(record.sandbox);
  return gitDir !== undefined && existsSync(join(gitDir, 'HEAD'));
}

export function requireSandbox(record: SessionRecord): void {
  if (sandboxExists(record)) return;
  throw new AgtError(`the sandbox of "${record.session_id}" is gone: ${record.sandbox}`, {
    hints: ['its states are kept on its shadow branch; see: agt doctor'],
  });
}

export async function sandboxHead(repository: Repository, record: SessionRecord): Promise<SandboxHead> {
  const git = inDirectory(repository.git, record.sandbox);
  return {
    ref: await gitAnswer(git, ['symbolic-ref', '--quiet', 'HEAD']),
    commit: await resolveObject(git, 'HEAD^{commit}'),
  };
}

/** Paths that `git status` would name, ignored files aside. */
export async function uncommittedPaths(repository: Repository, record: SessionRecord): Promise<string[]> {
  const git = inDirectory(repository.git, record.sandbox);
  const output = await gitBytes(git, [
    'status',
    '--porcelain=v1',
    '-z',
    '--no-renames',
    '--untracked-files=normal',
  ]);
  return output
    .toString()
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => entry.slice(3));
}
