/** `agt session new`: creates a session with an empty history and a sandbox at the start commit. */

import { rmSync } from 'node:fs';
import { seedStatCache } from '../../autocommit/stat-cache/seed.ts';
import { statCacheFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { checkId, generateId } from '../id.ts';
import type { LockedSession } from '../lock.ts';
import { type SessionRecord, sessionFolder } from '../record.ts';
import { createSession } from './create.ts';
import { resolveStartPoint } from './start-point.ts';
import { copyIncludedFiles } from './worktree-include.ts';

interface NewRequest {
  readonly id: string | undefined;
  readonly from: string | undefined;
  readonly profile: string | undefined;
  readonly cwd: string;
  readonly now: Date;
  readonly showProgress: boolean;
}

/** `included`: the files that agt copied into the sandbox, because `.worktreeinclude` names them. */
export async function newSession(
  repository: Repository,
  request: NewRequest,
): Promise<{ record: SessionRecord; included: string[] }> {
  const id = request.id === undefined ? generateId(request.now) : checkId(request.id);
  const start = await resolveStartPoint(repository, request.from, request.cwd);
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
    fill: async (record, session) => {
      await seed(session, record);
      included = await copyIncludedFiles(session, record);
    },
  });
  return { record, included };
}

/** With a seeded stat cache the first autocommit need not read the files. If seeding fails, it reads them. */
async function seed({ repository }: LockedSession, record: SessionRecord): Promise<void> {
  const statCache = statCacheFile(repository.agtDir, record.session_id);
  const { sandbox, from_commit: commit } = record;
  try {
    const { git, commonDir } = repository;
    await seedStatCache(git, { folder: sessionFolder(record), sandbox, commonDir, statCache, commit });
  } catch {
    rmSync(statCache, { force: true });
  }
}
