/** Asks git about a sandbox: its HEAD and its uncommitted paths. */
import { parseStatus, STATUS } from '../git/objects/status.ts';
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
  const { entries } = parseStatus(await gitBytes(git, [...STATUS, '--untracked-files=normal']));
  return entries.map(({ path }) => Buffer.from(path, 'latin1').toString());
}
