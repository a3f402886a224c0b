/** The worktrees that git has registered, from its own porcelain listing. */
import { type Git, gitText } from '../git/git.ts';

export interface WorktreeEntry {
  readonly path: string;
  readonly bare: boolean;
  /** Full name of the branch; undefined where HEAD is detached. */
  readonly branch: string | undefined;
  /** Why `git worktree prune` would remove it, if it would. */
  readonly prunable: string | undefined;
}

export async function listWorktrees(git: Git): Promise<WorktreeEntry[]> {
  return parseWorktrees(await gitText(git, ['worktree', 'list', '--porcelain', '-z']));
}

export function parseWorktrees(output: string): WorktreeEntry[] {
  const records = output.split('\0\0').filter((record) => record !== '');
  return records.map((record) => {
    const fields = record.split('\0');
    const value = (name: string) =>
      fields.find((field) => field === name || field.startsWith(`${name} `))?.slice(name.length + 1);
    return {
      path: value('worktree') ?? '',
      bare: value('bare') !== undefined,
      branch: value('branch'),
      prunable: value('prunable'),
    };
  });
}
