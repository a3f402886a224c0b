/** A sync by git's own merge, after a part of the session has landed and the user has changed lines of it. */
import { shortBranch } from '../git/files/ref-files.ts';
import { type Git, gitText, runGit } from '../git/run/git.ts';
import type { Session } from '../session/session.ts';
import { landedSource } from '../survey/merged.ts';
import { mergeWithBase, withWorkbench } from './workbench.ts';

interface MergedBranch {
  readonly operation: 'merge' | 'rebase';
  readonly branch: string;
  /** HEAD of the sandbox before the merge. */
  readonly head: string;
}

/**
 * Of the paths that a merge of git leaves in conflict, those that conflict as well if what landed is the base, as it is for
 * the next acceptance. The others are solved: the branch has changed lines that came from here.
 */
export async function withoutLanded(
  { repository, git, sandboxGit, record }: Session,
  { operation, branch, head }: MergedBranch,
  conflicts: readonly string[],
  dryRun: boolean,
): Promise<readonly string[]> {
  const { user_branch: ref } = record;
  if (conflicts.length === 0 || operation !== 'merge' || ref === undefined || shortBranch(ref) !== branch)
    return conflicts;
  const tip = await gitText(git, ['rev-parse', '--verify', `${ref}^{commit}`]);
  const landed = await landedSource(git, record, head, { onto: ref, from: tip });
  if (landed === undefined) return conflicts;
  return withWorkbench(repository, { ref: record.work_branch, dryRun: true }, async (bench) => {
    const merged = await mergeWithBase(bench, { base: landed, ours: head, theirs: tip });
    const left = new Set(merged.conflicts?.map(({ path }) => path));
    const solved = conflicts.filter((path) => !left.has(path)).map((path) => `:(top,literal)${path}`);
    if (!dryRun && solved.length > 0) {
      const source = `--source=${merged.tree}`;
      await gitText(sandboxGit, ['restore', source, '--worktree', '--', ...solved], { env: bench.objects });
      await gitText(sandboxGit, ['add', '--all', '--', ...solved]);
    }
    return conflicts.filter((path) => left.has(path));
  });
}

/** As `git merge --continue` does. Returns the exit code. */
export async function commitMerge(git: Git): Promise<number> {
  const env = { GIT_EDITOR: ':' };
  return (await runGit(git, ['commit', '--quiet', '--no-edit', '--cleanup=strip'], { env })).exitCode;
}
