/** The work of a session that would be lost with its branches. */
import { plural } from '../errors.ts';
import { shadowNamespaces } from '../filter/agent-refs.ts';
import { gitText, resolveObject } from '../git/run/git.ts';
import { requireReadableSandbox, sandboxHead, uncommittedPaths } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import { stashEntries } from '../session/stash.ts';
import { unpushedInSubmodules } from '../session/submodules.ts';
import { labelByPerson } from '../snapshot/format.ts';
import { isAsLanded, isMerged, landedSource } from '../survey/merged.ts';

/** One entry each: files that are not committed, commits that are neither exported nor merged, and the stash. */
export async function unsavedWork(session: Session): Promise<string[]> {
  const { length: stashed } = await stashEntries(session);
  return [...(await unmergedWork(session)), ...(stashed === 0 ? [] : [plural(stashed, 'stashed change')])];
}

async function unmergedWork(session: Session): Promise<string[]> {
  const { repository, record } = session;
  const unsaved = await unpushedInSubmodules(repository, record);
  if (session.place === 'here') {
    requireReadableSandbox(session);
    const { commit } = await sandboxHead(session);
    const landed = commit && (await landedSource(repository.git, record, commit));
    if (landed && unsaved.length === 0 && (await isAsLanded(session, landed))) return [];
    const uncommitted = await uncommittedPaths(session);
    if (uncommitted.length > 0) unsaved.push(plural(uncommitted.length, 'uncommitted file'));
    if (commit !== undefined) unsaved.push(...(await unmergedCommits(session, commit, 'HEAD')));
  } else if (await hasUncommittedSnapshot(session)) unsaved.push('files that only its snapshots have');
  const tip = await resolveObject(repository.git, record.work_branch);
  if (tip === undefined || unsaved.length > 0) return unsaved;
  return unmergedCommits(session, tip, 'work branch');
}

/** Whether the last snapshot has a sandbox that differs from the commit that was checked out in it, and from what has landed. */
async function hasUncommittedSnapshot(session: Session): Promise<boolean> {
  const { git, record } = session;
  const [last] = await session.history();
  if (last === undefined) return false;
  const head = last.head ?? record.work_branch;
  const landed = await landedSource(git, record, head);
  const trees = [
    `${last.commit}:sandbox`,
    `${head}^{tree}`,
    ...(landed === undefined ? [] : [`${landed}^{tree}`]),
  ];
  const [snapshot, ...saved] = await Promise.all(trees.map((tree) => resolveObject(git, tree)));
  return !saved.includes(snapshot);
}

/** How many a person has labelled, as text; `agt gc` keeps those as well. */
export async function labelledSnapshots(session: Session): Promise<string[]> {
  const labelled = (await session.history()).filter(
    (one) => one.agent === undefined && labelByPerson(one) !== undefined,
  );
  return labelled.length === 0 ? [] : [`${plural(labelled.length, 'labelled snapshot')}`];
}

/** `name` is what the message calls `commit`. */
async function unmergedCommits(session: Session, commit: string, name: string): Promise<string[]> {
  const { repository, record } = session;
  const shadows = shadowNamespaces(repository.prefixes).map((namespace) => `${namespace}*`);
  const excluded = [record.work_branch, record.branch, ...shadows].map((ref) => `--exclude=${ref}`);
  const merged = [...excluded, '--glob=refs/heads/*', '--remotes', '--tags'];
  const args = ['rev-list', '--count', commit, '--not', ...merged, '--'];
  const unmerged = Number(await gitText(repository.git, args));
  if (unmerged === 0 || (await isMerged(session, commit))) return [];
  return [`${plural(unmerged, 'commit')} on its ${name} neither exported nor merged`];
}
