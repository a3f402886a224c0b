/** Asks git about a sandbox: its HEAD and its uncommitted paths. */
import { gitAnswer, gitBytes, inDirectory, resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from './record.ts';
import { requireReadableSandbox } from './sandbox-place.ts';

export interface SandboxHead {
  /** Full name of the branch; undefined if HEAD is detached. */
  readonly ref: string | undefined;
  /** Undefined if the branch has no commit yet. */
  readonly commit: string | undefined;
}

export async function sandboxHead(repository: Repository, record: SessionRecord): Promise<SandboxHead> {
  requireReadableSandbox(repository, record);
  const git = inDirectory(repository.git, record.sandbox);
  return {
    ref: await gitAnswer(git, ['symbolic-ref', '--quiet', 'HEAD']),
    commit: await resolveObject(git, 'HEAD^{commit}'),
  };
}

/** The paths that `git status` lists; ignored files are not among them. */
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
