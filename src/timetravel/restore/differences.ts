/** Changes that a restore would make between two snapshots. Undo and redo pass over steps without any. */
import { digestOfCapturedIndex } from '../../autocommit/last-snapshot.ts';
import { differingGitDirFiles } from '../../checkout/git-dir-files.ts';
import { isWorkRef } from '../../filter/agent-refs.ts';
import { changesGit } from '../../folders/git-state/ref-plan.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import type { Git } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { isAttached, workBranchOf } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { TOP_FOLDERS } from '../../snapshot/folders.ts';
import { OWN } from '../../snapshot/format.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import {
  leftOutPaths,
  readSnapshotMetadata,
  type SnapshotManifest,
  type SnapshotMetadata,
  serializeManifest,
} from '../../snapshot/manifest.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { committedFiles, withoutStaying } from './committed-files.ts';
import { keepIgnored, listIgnored } from './ignored-files.ts';
import { othersRefs } from './others-changes.ts';
import { isDirectory, pathsOf, planFrom } from './restore-files.ts';

/**
 * Whether two snapshots are the same but for their session, the name of its work branch, label and tool, and for what agt
 * did not capture: no restore changes that.
 */
export async function hasSameMetadata(repository: Repository, a: Snapshot, b: Snapshot): Promise<boolean> {
  const { git } = repository;
  const [one, other] = await Promise.all([
    readSnapshotMetadata(git, a.commit),
    readSnapshotMetadata(git, b.commit),
  ]);
  return (
    isSameManifest(repository, one.manifest, other.manifest) && hasSameGitDirFiles(repository, one, other)
  );
}

/** The same, but for the files that git keeps for the worktree. */
function isSameManifest({ prefixes }: Repository, one: SnapshotManifest, other: SnapshotManifest): boolean {
  // A fork begins with snapshots of its source, which was on a work branch of its own, or on a branch that it keeps.
  const isKept = one.session !== other.session && (one.head.ref === null || other.head.ref === null);
  const refOf = ({ head, session }: SnapshotManifest) =>
    isKept || isWorkRef(prefixes, session, head.ref) ? '' : head.ref;
  const withoutNames = (manifest: SnapshotManifest) =>
    serializeManifest({
      ...manifest,
      head: { ...manifest.head, ref: refOf(manifest) },
      git_dir_digest: '',
      skipped: [],
      ignored: [],
      session: '',
      label: null,
      tool: null,
    });
  return withoutNames(one) === withoutNames(other);
}

/** Whether files that no snapshot has were gone afterwards: no restore brings them back, and yet something was done. */
export async function lostLeftOut(
  { git }: Repository,
  history: readonly Snapshot[],
  before: Snapshot,
  after: Snapshot,
): Promise<boolean> {
  const [was, is] = await Promise.all([leftOutIn(git, before), leftOutIn(git, after)]);
  const lost = [...was.difference(is)];
  const namesOf = (path: string) => history.map(({ commit }) => `${commit}:${encodePath(path)}`);
  const found = await Promise.all(lost.map((path) => findObjects(git, namesOf(path))));
  return found.some((versions) => versions.every((version) => version === undefined));
}

/** Not only in stat data. */
export async function differsInIndex(git: Git, a: string, b: string): Promise<boolean> {
  const [one, other] = await findObjects(git, [`${a}:${OWN.index}`, `${b}:${OWN.index}`]);
  if (one?.oid === other?.oid) return false;
  return (await digestOfCapturedIndex(git, a)) !== (await digestOfCapturedIndex(git, b));
}

async function leftOutIn(git: Git, { commit }: Snapshot): Promise<ReadonlySet<string>> {
  return new Set(leftOutPaths((await readSnapshotMetadata(git, commit)).manifest));
}

/** Some of these files name the work branch, which is another one in a fork. */
async function hasSameGitDirFiles(
  repository: Repository,
  one: SnapshotMetadata,
  other: SnapshotMetadata,
): Promise<boolean> {
  const [first, second] = [one.manifest, other.manifest];
  if (first.git_dir_digest === second.git_dir_digest) return true;
  if (first.session === second.session) return false;
  const branches = {
    workBranch: workBranchOf(repository, first.session),
    snapshotWorkBranch: workBranchOf(repository, second.session),
  };
  return (await differingGitDirFiles(repository.git, one, other, branches)).length === 0;
}

/**
 * Whether a restore of an attached folder would change anything. It deletes nothing that git ignores, so it may change
 * nothing, although the snapshots differ: the last one was taken with --ignored, or a directory that was empty has
 * ignored files. `captured`: the snapshot that the folder is in. True for every other session.
 */
export async function changesAnything(
  session: Session,
  captured: Snapshot,
  { commit }: Snapshot,
): Promise<boolean> {
  const { repository, record } = session;
  if (!isAttached(record)) return true;
  const wanted = await readSnapshotMetadata(repository.git, commit);
  const from = await readSnapshotMetadata(repository.git, captured.commit);
  const latest = { from: captured.commit, isUndo: true };
  const others = await othersRefs(session, latest, commit);
  if (await changesGit(repository.git, from, wanted, others.moved)) return true;
  const files = await committedFiles(session, latest, commit, others);
  if (files.files.size > files.staying.size) return true;
  const way = { captured: captured.commit, wanted, scope: TOP_FOLDERS };
  const plan = withoutStaying(await planFrom(session, way), files);
  const present = plan.emptyDirectories.made.filter((path) => isDirectory(record, path));
  if (pathsOf(plan).length > plan.deletions.length + present.length) return true;
  const kept = keepIgnored(plan, await listIgnored(session, commit), session);
  return kept.deletions.length > 0;
}
