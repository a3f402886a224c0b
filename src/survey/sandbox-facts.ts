/** Reads what files alone say about a session: its sandbox, HEAD, the operation in progress and the owner. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { processIsGone } from '../disk/lock-owner.ts';
import { gitDirOf } from '../git/files/discover-repository.ts';
import { type HeadFile, readHeadFile } from '../git/files/head-file.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from '../session/record.ts';
import { renamedFolder } from '../session/relocate.ts';
import { isOutOfSight, sandboxPlace } from '../session/sandbox-place.ts';
import { readOperation } from '../snapshot/git-dir-files.ts';

export interface SandboxFacts {
  readonly record: SessionRecord;
  /** Undefined unless the sandbox is a worktree of this repository. */
  readonly gitDir: string | undefined;
  readonly isOutOfSight: boolean;
  /** The sandbox is not where the metadata say, but beside the repository; or the repository is not where it says. */
  readonly hasMoved: boolean;
  readonly head: HeadFile | undefined;
  /** A merge or rebase in progress. */
  readonly operation: string | undefined;
  /** Whether the owner of the session runs; undefined without an owner. */
  readonly running: boolean | undefined;
}

/** `sessionsDir`: where the folders of sessions are now. */
export function readSandboxFacts(
  repository: Repository,
  record: SessionRecord,
  sessionsDir: string,
): SandboxFacts {
  const place = sandboxPlace(repository, record);
  const gitDir = place === 'here' ? gitDirOf(record.sandbox) : undefined;
  const outOfSight = isOutOfSight(repository, place);
  const isBeside =
    place === 'missing' &&
    (existsSync(join(sessionsDir, record.session_id, 'sandbox')) ||
      renamedFolder(repository, record, sessionsDir) !== undefined);
  return {
    record,
    gitDir,
    isOutOfSight: outOfSight,
    hasMoved: isBeside || (place === 'broken link' && !outOfSight),
    head: gitDir === undefined ? undefined : readHeadFile(gitDir),
    operation: (gitDir === undefined ? undefined : readOperation(gitDir)) ?? undefined,
    running: record.owner === undefined ? undefined : !processIsGone(record.owner),
  };
}
