/** `agt session new`: an empty shadow branch, a work branch and a sandbox at the start commit. */

import { rmSync } from 'node:fs';
import { seedStatCache } from '../../autocommit/stat-cache/seed.ts';
import { statCacheFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { checkId, generateId } from '../id.ts';
import { type SessionRecord, sessionFolder } from '../record.ts';
import { createSession } from './create.ts';
import { resolveStart } from './start.ts';
import { copyIncluded } from './worktree-include.ts';

export interface NewRequest {
  readonly id: string | undefined;
  readonly from: string | undefined;
  readonly profile: string | undefined;
  readonly cwd: string;
  readonly now: Date;
  readonly showProgress: boolean;
}

export async function newSession(
  repository: Repository,
  request: NewRequest,
): Promise<{ record: SessionRecord; included: string[] }> {
  const id = request.id === undefined ? generateId(request.now) : checkId(request.id);
  const start = await resolveStart(repository, request.from, request.cwd);
  let included: string[] = [];
  const record = await createSession(repository, {
    id,
    workCommit: start.commit,
    shadowCommit: start.commit,
    userBranch: start.userBranch,
    from: start.session,
    fromSpec: start.spec,
    profile: request.profile,
    now: request.now,
    checkOut: true,
    showProgress: request.showProgress,
    fill: async (record) => {
      await seed(repository, record);
      included = await copyIncluded(repository, record.sandbox);
    },
  });
  return { record, included };
}

/** Spares the first autocommit the reading; where that fails, it reads. */
async function seed(repository: Repository, record: SessionRecord): Promise<void> {
  const statCache = statCacheFile(repository.agtDir, record.session_id);
  const { sandbox, from_commit: commit } = record;
  try {
    const { git, commonDir } = repository;
    await seedStatCache(git, { folder: sessionFolder(record), sandbox, commonDir, statCache, commit });
  } catch {
    rmSync(statCache, { force: true });
  }
}
