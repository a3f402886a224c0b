/** Whether a restore gave back what it should: the folder as it was captured afterwards, against the snapshot. */

import { prepareCheckout } from '../../checkout/checkout.ts';
import { displayPath, pathFromJson } from '../../disk/path-bytes.ts';
import { summarizeIndex } from '../../git/files/index-file.ts';
import { type Git, runGit } from '../../git/run/git.ts';
import { haveSameIndex } from '../../snapshot/diff.ts';
import { underAny } from '../../snapshot/failure.ts';
import { isUnder } from '../../snapshot/folders.ts';
import { IGNORED } from '../../snapshot/ignore-file.ts';
import type { SnapshotMetadata } from '../../snapshot/metadata.ts';

export interface Comparison {
  /** What is not as it was, readable. */
  readonly mismatches: string[];
  /** Paths that `.agtignore` names in one of the two, so that nobody can tell, readable. */
  readonly ignored: string[];
}

/** `kept` is what the restore had to leave. */
export async function compareSnapshots(
  git: Git,
  now: SnapshotMetadata,
  wanted: SnapshotMetadata,
  scope: readonly string[],
): Promise<Comparison> {
  const plan = await prepareCheckout(git, now, wanted, scope);
  const paths = new Set([
    ...plan.kept,
    ...plan.deletions,
    ...plan.writes.map(({ path }) => path),
    ...plan.modes.keys(),
    ...missingDirectories(now, wanted, scope),
  ]);
  const isIgnored = underAny(
    [now, wanted]
      .flatMap(({ manifest }) => manifest.skipped)
      .filter(({ reason }) => reason === IGNORED)
      .map(({ path }) => pathFromJson(path)),
  );
  const sorted = [...paths].sort();
  const ignored = sorted.filter(isIgnored).map(displayPath);
  const mismatches = sorted.filter((path) => !isIgnored(path)).map(displayPath);
  if (!scope.includes('sandbox')) return { mismatches, ignored };
  if (now.manifest.operation_digest !== wanted.manifest.operation_digest)
    mismatches.push(`the ${wanted.manifest.operation ?? now.manifest.operation} in the sandbox`);
  if (!(await meanSameIndex(git, now, wanted))) mismatches.push('the index of the sandbox');
  return { mismatches, ignored };
}

function missingDirectories(
  now: SnapshotMetadata,
  wanted: SnapshotMetadata,
  scope: readonly string[],
): string[] {
  const before = new Set(now.emptyDirectories);
  return wanted.emptyDirectories.filter((path) => isUnder(path, scope) && !before.has(path));
}

async function meanSameIndex(git: Git, a: SnapshotMetadata, b: SnapshotMetadata): Promise<boolean> {
  if (await haveSameIndex(git, a.commit, b.commit)) return true;
  return (await indexDigest(git, a)) === (await indexDigest(git, b));
}

async function indexDigest(git: Git, { commit }: SnapshotMetadata): Promise<string> {
  const index = await runGit(git, ['cat-file', 'blob', `${commit}:_/index`]);
  return index.exitCode === 0 ? summarizeIndex(index.stdout, commit.length / 2).digest : '';
}
