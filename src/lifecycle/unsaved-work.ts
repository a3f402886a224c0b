/** The work of a session that would be lost with its branches. */
import { shadowNamespaces } from '../filter/agent-refs.ts';
import { gitText, resolveObject } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, snapshotRefs } from '../session/record.ts';
import { sandboxHead, uncommittedPaths } from '../session/sandbox.ts';
import { requireReadableSandbox, sandboxExists } from '../session/sandbox-place.ts';
import { unpushedInSubmodules } from '../session/submodules.ts';
import { readHistory } from '../snapshot/history.ts';
import { isMerged } from '../survey/merged.ts';

/** One entry each: files that are not committed, and commits that are neither exported nor merged. */
export async function unsavedWork(repository: Repository, record: SessionRecord): Promise<string[]> {
  const unsaved = await unpushedInSubmodules(repository, record);
  if (sandboxExists(repository, record)) {
    requireReadableSandbox(repository, record);
    const uncommitted = await uncommittedPaths(repository, record);
    if (uncommitted.length > 0) unsaved.push(count(uncommitted.length, 'uncommitted file'));
    const { commit } = await sandboxHead(repository, record);
    if (commit !== undefined) unsaved.push(...(await unmergedCommits(repository, record, commit, 'HEAD')));
  } else if (await hasUncommittedSnapshot(repository, record))
    unsaved.push('files that only its snapshots have');
  const tip = await resolveObject(repository.git, record.work_branch);
  if (tip === undefined || unsaved.length > 0) return unsaved;
  return unmergedCommits(repository, record, tip, 'work branch');
}

/** Whether the last snapshot has a sandbox that differs from the commit that was checked out in it. */
async function hasUncommittedSnapshot({ git }: Repository, record: SessionRecord): Promise<boolean> {
  const [last] = await readHistory(git, snapshotRefs(record));
  if (last === undefined) return false;
  const trees = [`${last.commit}:sandbox`, `${last.head ?? record.work_branch}^{tree}`];
  const [snapshot, committed] = await Promise.all(trees.map((tree) => resolveObject(git, tree)));
  return snapshot !== committed;
}

/** `name` is what the message calls `commit`. */
async function unmergedCommits(
  repository: Repository,
  record: SessionRecord,
  commit: string,
  name: string,
): Promise<string[]> {
  const shadows = shadowNamespaces(repository.prefixes).map((namespace) => `${namespace}*`);
  const excluded = [record.work_branch, record.branch, ...shadows].map((ref) => `--exclude=${ref}`);
  const merged = [...excluded, '--glob=refs/heads/*', '--remotes', '--tags'];
  const args = ['rev-list', '--count', commit, '--not', ...merged, '--'];
  const unmerged = Number(await gitText(repository.git, args));
  if (unmerged === 0 || (await isMerged(repository, record, commit))) return [];
  return [`${count(unmerged, 'commit')} on its ${name} neither exported nor merged`];
}

function count(n: number, noun: string): string {
  return n === 1 ? `1 ${noun}` : `${n} ${noun}s`;
}
