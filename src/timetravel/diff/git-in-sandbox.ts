/** How a comparison runs git in the sandbox, where the `.gitattributes` and `.gitignore` files apply. */

import { gitDirOf } from '../../git/files/discover-repository.ts';
import { isReadableHead } from '../../git/files/head-file.ts';
import { type Git, inDirectory } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';

/** In an attached folder without a repository, and for a damaged HEAD, git gets the common directory. */
export function gitInSandbox(git: Git, { commonDir }: Repository, record: SessionRecord): Git {
  const inSandbox = inDirectory(git, record.sandbox);
  const gitDir = gitDirOf(record.sandbox);
  const isUsual = gitDir === undefined ? !isAttached(record) : isReadableHead(gitDir);
  if (isUsual) return inSandbox;
  return { ...inSandbox, env: { ...git.env, GIT_DIR: commonDir, GIT_WORK_TREE: record.sandbox } };
}
