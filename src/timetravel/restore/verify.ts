/** Verifies a restore: compares the snapshot that was made after it with the snapshot that was wanted. */
import { differingGitDirFiles, type WorkBranches } from '../../checkout/git-dir-files.ts';
import { prepareCheckout } from '../../checkout/plan.ts';
import { pathFromJson } from '../../disk/path-bytes.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import type { Git } from '../../git/run/git.ts';
import { isUnder, TOP_FOLDERS, underAny } from '../../snapshot/folders.ts';
import { IGNORED } from '../../snapshot/ignore-file.ts';
import type { SnapshotManifest, SnapshotMetadata } from '../../snapshot/manifest.ts';
import { type AmbiguousFolders, shownPath } from '../session-paths.ts';
import { differsInIndex } from './differences.ts';

/**
 * All is returned as shown to people. `withGit`: compare HEAD, the index and the operation in progress, too.
 * `mismatches`: paths, relative to the sandbox, and parts of the sandbox that are not as wanted. `ignored`:
 * paths that `.agtignore` matches in one of the snapshots, so that they cannot be compared.
 */
export async function verifyRestore(
  git: Git,
  after: SnapshotMetadata,
  wanted: SnapshotMetadata,
  scope: readonly string[],
  {
    branches,
    ambiguous,
    withGit,
  }: { readonly branches: WorkBranches; readonly ambiguous: AmbiguousFolders; readonly withGit: boolean },
) {
  const shown = (path: string) => shownPath(path, ambiguous);
  const paths = (await hasSameFiles(git, after, wanted))
    ? []
    : await differingPaths(git, after, wanted, scope);
  const isIgnored = underAny([...ignoredPaths(after), ...ignoredPaths(wanted)]);
  const sorted = [...new Set(paths)].sort();
  const ignored = sorted.filter(isIgnored).map(shown);
  const mismatches = sorted.filter((path) => !isIgnored(path)).map(shown);
  if (!withGit) return { mismatches, ignored };
  const gitDirFiles = await differingGitDirFiles(git, after, wanted, branches);
  mismatches.push(...gitDirFiles.map((path) => `${path} in the git directory of the sandbox`));
  if (!hasSameHead(after.manifest.head, wanted.manifest.head, branches))
    mismatches.push('HEAD of the sandbox');
  else if (wanted.manifest.head.work !== undefined && after.manifest.head.work !== wanted.manifest.head.work)
    mismatches.push('the work branch');
  if (await differsInIndex(git, after.commit, wanted.commit)) mismatches.push('the index of the sandbox');
  return { mismatches, ignored };
}

/** Quicker than to compare everything, and enough for most restores. */
async function hasSameFiles(git: Git, a: SnapshotMetadata, b: SnapshotMetadata): Promise<boolean> {
  const unnamed = ({ manifest }: SnapshotMetadata) =>
    JSON.stringify([manifest.modes, manifest.owners, manifest.empty_directories, manifest.skipped]);
  if (unnamed(a) !== unnamed(b)) return false;
  const names = [a, b].flatMap(({ commit }) => TOP_FOLDERS.map((top) => `${commit}:${top}`));
  const found = await findObjects(git, names);
  return TOP_FOLDERS.every((_, i) => found[i]?.oid === found[i + TOP_FOLDERS.length]?.oid);
}

async function differingPaths(
  git: Git,
  after: SnapshotMetadata,
  wanted: SnapshotMetadata,
  scope: readonly string[],
): Promise<string[]> {
  const plan = await prepareCheckout(git, after, wanted, scope);
  const present = new Set(after.emptyDirectories);
  return [
    ...plan.blocked,
    ...plan.deletions,
    ...plan.writes.map(({ path }) => path),
    ...plan.modes.keys(),
    ...wanted.emptyDirectories.filter(
      // A `.git` that has come back is in a folder that was empty.
      (path) => isUnder(path, scope) && !present.has(path) && path !== 'sandbox',
    ),
  ];
}

/** Whether a mismatch is no path. */
export function isPart(mismatch: string): boolean {
  return /^(HEAD|the index|.* in the git directory) of the sandbox$|^the work branch$/.test(mismatch);
}

function ignoredPaths({ manifest }: SnapshotMetadata): string[] {
  return manifest.skipped.filter(({ reason }) => reason === IGNORED).map(({ path }) => pathFromJson(path));
}

function hasSameHead(
  after: SnapshotManifest['head'],
  wanted: SnapshotManifest['head'],
  { workBranch, snapshotWorkBranch }: WorkBranches,
): boolean {
  const ref = wanted.ref === snapshotWorkBranch ? workBranch : wanted.ref;
  // The source of a fork keeps its branch.
  const isKept = after.ref === null && workBranch !== snapshotWorkBranch;
  return (isKept || after.ref === ref) && after.commit === wanted.commit;
}
