/** Predicts `agt session sync --rebase`. */
import { AgtError } from '../errors.ts';
import { plainCommit } from '../git/objects/scratch-index.ts';
import { parseStatus, STATUS } from '../git/objects/status.ts';
import { gitBytes, gitLines, gitText } from '../git/run/git.ts';
import type { Session } from '../session/session.ts';
import { commitFirst } from './message.ts';
import { type Merged, mergeWithBase, type Workbench } from './workbench.ts';

/** git rebases no worktree with uncommitted changes of tracked files, wherever they are. */
export async function refuseUncommitted(
  session: Session,
  { branch, commits }: { readonly branch: string; readonly commits: number },
): Promise<void> {
  const tracked = [...STATUS, '--untracked-files=no', '--ignore-submodules=all'];
  const { entries } = parseStatus(await gitBytes(session.sandboxGit, tracked));
  if (entries.length === 0) return;
  const { session_id: id } = session.record;
  throw new AgtError(
    `git does not rebase the sandbox of "${id}" with uncommitted changes; nothing has changed`,
    {
      hints: [
        await commitFirst(
          session,
          entries.map(({ path }) => path),
        ),
        ...(commits > 0 ? [`or merge "${branch}": agt sync ${id}`] : []),
      ],
    },
  );
}

/**
 * Copies the commits of `head` that `onto` lacks, as `git rebase` does: no merges, and none that `onto` has as a copy.
 * `without`: nor those that this commit has.
 */
export async function rebaseInMemory(
  bench: Workbench,
  head: string,
  onto: string,
  without?: string,
): Promise<Merged> {
  const { git } = bench;
  const args = ['rev-list', '--reverse', '--topo-order', '--no-merges', '--right-only', '--cherry-pick'];
  let tip = onto;
  for (const commit of await gitLines(git, [
    ...args,
    `${onto}...${head}`,
    ...(without === undefined ? [] : [`^${without}`]),
    '--',
  ])) {
    const merged = await mergeWithBase(bench, { base: `${commit}^`, ours: tip, theirs: commit });
    if (merged.conflicts !== undefined) return merged;
    tip = await plainCommit(git, merged.tree, [tip]);
  }
  return { tree: await gitText(git, ['rev-parse', '--verify', `${tip}^{tree}`]) };
}
