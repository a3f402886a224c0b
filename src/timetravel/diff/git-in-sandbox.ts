/** How a comparison runs git in the sandbox, where the `.gitattributes` and `.gitignore` files apply. */
import { gitDirOf } from '../../git/files/worktree-git-dir.ts';
import { type Git, inDirectory } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';

/** In an attached folder without a repository, git takes the store for the repository. */
export function gitInSandbox(git: Git, { commonDir }: Repository, record: SessionRecord): Git {
  const inSandbox = inDirectory(git, record.sandbox);
  if (!isAttached(record) || gitDirOf(record.sandbox) !== undefined) return inSandbox;
  return { ...inSandbox, env: { ...git.env, GIT_DIR: commonDir, GIT_WORK_TREE: record.sandbox } };
}
