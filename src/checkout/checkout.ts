/**
 * Brings a session folder from one snapshot into another: files byte for byte, links, permissions and empty directories.
 * Files that both snapshots have are not touched. sandbox-git-dir.ts restores the sandbox's index, HEAD and branch.
 */

import { displayPath } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import type { Git } from '../git/run/git.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { restoreIgnoreFile } from '../snapshot/ignore-file.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../snapshot/manifest.ts';
import { diffSnapshots, listDirectories, readSnapshotTree } from '../snapshot/tree.ts';
import { applyPlan } from './apply.ts';
import type { TargetFolder } from './folder-writer.ts';
import {
  type CheckoutPlan,
  type CheckoutRequest,
  defaultModesDiffer,
  planCheckout,
  possibleDirectories,
} from './plan.ts';

/** Plans how to get from one snapshot to another within `scope`. Without `from` the folder is empty. */
export async function prepareCheckout(
  git: Git,
  from: SnapshotMetadata | undefined,
  to: SnapshotMetadata,
  scope: readonly string[],
): Promise<CheckoutPlan> {
  const differences = await diffSnapshots(git, from?.commit, to.commit);
  const possible = possibleDirectories({ from, to, differences });
  const [directories, directoriesBefore] = await Promise.all([
    listDirectories(git, to, possible),
    from === undefined ? new Set<string>() : listDirectories(git, from, possible),
  ]);
  const files = await readFilesIfNeeded(git, from, to);
  return planCheckout({ from, to, differences, directories, directoriesBefore, files, scope });
}

/** `files` of a CheckoutRequest. */
export async function readFilesIfNeeded(
  git: Git,
  from: SnapshotMetadata | undefined,
  to: SnapshotMetadata,
): Promise<CheckoutRequest['files']> {
  return defaultModesDiffer(from, to) ? await readSnapshotTree(git, to.commit) : undefined;
}

export interface CheckedOut {
  readonly content: SnapshotMetadata;
  readonly plan: CheckoutPlan;
}

/** Writes a whole snapshot into a folder that holds nothing but the sandbox's `.git`. */
export async function checkOutSnapshot(
  git: Git,
  commit: string,
  folder: string,
  mtimeOf?: TargetFolder['mtimeOf'],
): Promise<CheckedOut> {
  const content = await readSnapshotMetadata(git, commit);
  const plan = await prepareCheckout(git, undefined, content, TOP_FOLDERS);
  const path = Buffer.from(folder).toString('latin1');
  const { changed, refused } = await applyPlan(git, plan, { path, isCaptured: () => false, mtimeOf });
  const [problem] = [...refused, ...changed.map((name) => ({ path: name, reason: 'is there already' }))];
  if (problem !== undefined) throw new AgtError(`${displayPath(problem.path)} ${problem.reason}`);
  restoreIgnoreFile(folder, content.manifest.agtignore);
  return { content, plan };
}
