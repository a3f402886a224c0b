/** The parents of a shadow commit, which keep reachable what nothing else does. */
import { type Git, gitAnswer } from '../git/run/git.ts';
import { commitsOf } from '../snapshot/git-dir-files.ts';
import type { LastSnapshot } from './last-snapshot.ts';
import type { CaptureOptions } from './request.ts';
import type { RefsAtStart } from './starting-refs.ts';

/**
 * The last snapshot, the tip of the user branch, and commits that would otherwise be unreachable: the agent's own since
 * then, that of the work branch while HEAD is elsewhere, those that somebody put on the shadow branch, those that files of
 * the worktree name, and `options.keep`. A snapshot of an attached folder has the last one alone. The last snapshot keeps
 * whatever it knew of.
 */
export async function listParents(
  git: Git,
  refs: RefsAtStart,
  { manifest: known }: LastSnapshot,
  digest: string | undefined,
  options: CaptureOptions,
): Promise<string[]> {
  if (refs.user === undefined) return [refs.tip];
  const parents = [refs.tip, refs.user];
  const head = refs.head.commit;
  if (head !== null && head !== known?.head.commit && !(await isReachable(git, head, parents)))
    parents.push(head);
  const work = refs.head.work === known?.head.work ? undefined : refs.head.work;
  const branches = [refs.shadow, work].filter((commit) => typeof commit === 'string');
  const ofFiles = digest === known?.git_dir_digest ? [] : commitsOf(refs.gitDirFiles);
  const wanted = [...branches, ...(options.keep ?? []), ...ofFiles];
  return [...parents, ...(await listUnreachable(git, wanted, parents))];
}

/** Those of `commits` that neither `from` nor an earlier one reaches. Names that are not commits are left out. */
export async function listUnreachable(
  git: Git,
  commits: readonly string[],
  from: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  const others = commits.filter((commit) => !from.includes(commit));
  if (others.length > 1 && (await areReachable(git, others, from))) return found;
  for (const commit of others) {
    if (!(await isReachable(git, commit, [...from, ...found])) && (await isCommit(git, commit)))
      found.push(commit);
  }
  return found;
}

async function isCommit(git: Git, commit: string): Promise<boolean> {
  return (await gitAnswer(git, ['cat-file', '-t', commit])) === 'commit';
}

async function isReachable(git: Git, commit: string, from: readonly string[]): Promise<boolean> {
  return from.includes(commit) || areReachable(git, [commit], from);
}

/** False also if one of them is missing. */
async function areReachable(git: Git, commits: readonly string[], from: readonly string[]): Promise<boolean> {
  const args = ['rev-list', '--max-count=1', ...commits, '--not', ...from, '--'];
  return (await gitAnswer(git, args)) === '';
}
