/** Restores what git keeps for the sandbox of a session: HEAD, the work branch, the index and the operation in progress. */
import { restoreGitDirFiles, type WorkBranches } from '../../checkout/git-dir-files.ts';
import { requireGitDir, restoreIndex } from '../../checkout/sandbox-git-dir.ts';
import { planHead, restoreHead } from '../../checkout/sandbox-head.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { SESSION_STASH } from '../../filter/agent-refs.ts';
import { differing, type Refs } from '../../folders/git-state/read-state.ts';
import { LINK, type RefMove } from '../../folders/git-state/ref-plan.ts';
import type { StatOf } from '../../git/files/index-stat.ts';
import { readObject } from '../../git/objects/object-reader.ts';
import { resolveObject } from '../../git/run/git.ts';
import { isAttached, workBranchOf } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { OWN } from '../../snapshot/format.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import type { SnapshotMetadata } from '../../snapshot/manifest.ts';

/** Returns warnings. */
export async function restoreGitDir(
  session: Session,
  snapshot: Snapshot,
  wanted: SnapshotMetadata,
  statOf: StatOf | undefined,
): Promise<string[]> {
  const { git } = session.repository;
  const sandbox = session.record.checkout ?? session.record.sandbox;
  const branches = workBranches(session, snapshot);
  const warnings = await restoreHead(git, wanted.manifest.head, { sandbox, ...branches });
  failurePoint('restore: head moved');
  await restoreIndex(git, wanted, sandbox, statOf);
  return [...warnings, ...(await restoreGitDirFiles(git, requireGitDir(sandbox), wanted, branches))];
}

/** What restoreGitDir would do to HEAD and the branches; changes nothing. */
export async function previewHead(
  session: Session,
  snapshot: Snapshot,
  present: SnapshotMetadata,
  to: SnapshotMetadata,
): Promise<{ readonly moves: readonly RefMove[]; readonly warnings: readonly string[] }> {
  const { repository, record } = session;
  const sandbox = record.checkout ?? record.sandbox;
  const branches = { sandbox, ...workBranches(session, snapshot) };
  const { on, detachedAt, work, warnings } = await planHead(repository.git, to.manifest.head, branches);
  const now = await refsOf(session, { manifest: present.manifest });
  const wanted = await refsOf(session, to);
  const known = [
    ['HEAD', on === undefined ? (detachedAt ?? now.get('HEAD')) : `${LINK}${on}`],
    [record.work_branch, work === undefined ? now.get(record.work_branch) : work],
    [SESSION_STASH, wanted.get(SESSION_STASH)],
  ] as const;
  const after = new Map(known.filter((one): one is [string, string] => typeof one[1] === 'string'));
  return { moves: movedRefs(session, now, after), warnings };
}

export function workBranches(
  { repository, record: { work_branch: workBranch } }: Session,
  snapshot: Snapshot,
): WorkBranches {
  return { workBranch, snapshotWorkBranch: workBranchOf(repository, snapshot.sessionThen) };
}

/** HEAD, the branches and the stash of a session, as a snapshot has them; without a commit, as they are now. */
export async function refsOf(session: Session, { manifest, commit }: Described): Promise<Refs> {
  const { git, repository, record } = session;
  const { ref, commit: head, work = head } = manifest.head;
  // A fork begins with snapshots of its parent.
  const branch = ref === workBranchOf(repository, manifest.session) ? record.work_branch : ref;
  const stash =
    commit === undefined
      ? await resolveObject(session.sandboxGit, SESSION_STASH)
      : (await readObject(git, `${commit}:${OWN.gitDir}/${SESSION_STASH}`))?.content.toString().trim();
  const found: readonly (readonly [string, string | null | undefined])[] = [
    ['HEAD', branch === null ? head : `${LINK}${branch}`],
    [branch ?? record.work_branch, head],
    [record.work_branch, work],
    [SESSION_STASH, stash],
  ];
  return new Map(found.filter((one): one is [string, string] => typeof one[1] === 'string'));
}

type Described = Pick<SnapshotMetadata, 'manifest'> & { readonly commit?: string };

export function movedRefs({ record }: Session, before: Refs, after: Refs): RefMove[] {
  // The branch that is checked out in one of them alone has not moved.
  const isKnown = (ref: string) =>
    isAttached(record) ||
    [record.work_branch, SESSION_STASH].includes(ref) ||
    (before.has(ref) && after.has(ref));
  return differing(before, after)
    .filter(isKnown)
    .map((ref) => ({ ref, from: before.get(ref), to: after.get(ref) }));
}
