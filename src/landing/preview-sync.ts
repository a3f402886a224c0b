/** `agt session sync --dry-run`: merges or rebases in memory, and changes nothing. */
import { gitText, inDirectory } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from '../session/record.ts';
import { type Merged, mergeInMemory, mergeWithBase, plainCommit } from './merge-in-memory.ts';
import { refuseOverlap } from './overlap.ts';
import { diffTrees } from './sandbox-content.ts';
import { type Workbench, withWorkbench } from './workbench.ts';

interface PlannedSync {
  readonly operation: 'merge' | 'rebase';
  readonly branch: string;
  /** HEAD of the sandbox. */
  readonly head: string;
}

/** Returns the paths in conflict. @throws AgtError if uncommitted files of the sandbox would be in the way. */
export async function conflictsOfSync(
  repository: Repository,
  record: SessionRecord,
  { operation, branch, head }: PlannedSync,
): Promise<readonly string[]> {
  const sandbox = inDirectory(repository.git, record.sandbox);
  const tip = await gitText(sandbox, ['rev-parse', '--verify', `${branch}^{commit}`]);
  return withWorkbench(repository, { ref: record.work_branch, dryRun: true }, async (bench) => {
    const merged =
      operation === 'merge' ? await mergeInMemory(bench, head, tip) : await rebase(bench, head, tip);
    // git looks for files in the way before it shows a conflict.
    await refuseOverlap(sandbox, await diffTrees(bench.git, head, merged.tree));
    return (merged.conflicts ?? []).map(({ path }) => path);
  });
}

/** Copies the commits of `head` that `onto` lacks, as `git rebase` does: no merges, and none that `onto` has as a copy. */
async function rebase(bench: Workbench, head: string, onto: string): Promise<Merged> {
  const { git } = bench;
  const args = ['rev-list', '--reverse', '--topo-order', '--no-merges', '--right-only', '--cherry-pick'];
  const listed = await gitText(git, [...args, `${onto}...${head}`, '--']);
  let tip = onto;
  for (const commit of listed.split('\n').filter((line) => line !== '')) {
    const merged = await mergeWithBase(bench, { base: `${commit}^`, ours: tip, theirs: commit });
    if (merged.conflicts !== undefined) return merged;
    tip = await plainCommit(git, merged.tree, [tip]);
  }
  return { tree: await gitText(git, ['rev-parse', '--verify', `${tip}^{tree}`]) };
}
