/**
 * `agt session sync` after `accept --keep`. The branch has the work of the sandbox, but not as the commits and files that
 * the sandbox has; a merge of git would find each change twice. Here the sandbox goes on from the tip of the branch, and
 * only the work that came since stays: uncommitted.
 */
import { join } from 'node:path';
import { failurePoint } from '../disk/failure-point.ts';
import { type Git, gitText, inDirectory, resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from '../session/record.ts';
import { mergeWithBase } from './merge-in-memory.ts';
import { refuseInTheWay } from './overlap.ts';
import { landedSource } from './plan-landing.ts';
import { diffTrees, readSandbox } from './sandbox-content.ts';
import { type Workbench, withWorkbench } from './workbench.ts';

interface PlannedSync {
  /** The user branch; a full name. */
  readonly ref: string;
  readonly tip: string;
  /** HEAD of the sandbox. */
  readonly head: string;
  readonly dryRun: boolean;
}

/** Whether this was the way to sync. If not, nothing has changed. @throws AgtError if ignored files are in the way. */
export async function syncLanded(
  repository: Repository,
  record: SessionRecord,
  { ref, tip, head, dryRun }: PlannedSync,
): Promise<boolean> {
  const { git } = repository;
  const landed = await landedSource(git, record, { ref, tip }, head);
  if (landed === undefined || !(await hasNoCommitsSince(git, landed, head))) return false;
  return withWorkbench(repository, { ref, dryRun: true }, async (bench) => {
    const { tree: content } = await readSandbox(repository, record, bench, false);
    const merged = await mergeWithBase(bench, { base: landed, ours: content, theirs: tip });
    if (merged.conflicts !== undefined) return false;
    const sandbox = inDirectory(git, record.sandbox);
    refuseInTheWay(sandbox, await diffTrees(sandbox, content, merged.tree, bench));
    if (!dryRun) await goOnFrom(sandbox, bench, { content, merged: merged.tree, tip });
    return true;
  });
}

/** The content that landed is a commit on top of the HEAD of then, or that HEAD itself. */
async function hasNoCommitsSince(git: Git, landed: string, head: string): Promise<boolean> {
  return landed === head || (await resolveObject(git, `${landed}^`)) === head;
}

interface Trees {
  /** Has the files as they are. */
  readonly content: string;
  readonly merged: string;
  readonly tip: string;
}

async function goOnFrom(sandbox: Git, { dir, objects }: Workbench, trees: Trees): Promise<void> {
  // The index in which agt has just added the files: git knows them as unchanged.
  const env = { ...objects, GIT_INDEX_FILE: join(dir, 'sandbox-index') };
  await gitText(sandbox, ['read-tree', '-m', '-u', trees.content, trees.merged], { env });
  failurePoint('sync: files brought along');
  await gitText(sandbox, ['reset', '--quiet', '--mixed', trees.tip, '--']);
}
