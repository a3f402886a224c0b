/**
 * Brings a session folder from one captured snapshot into another: files byte for byte, links, permissions and empty
 * directories. What the two have in common is not touched. The sandbox's index, HEAD and branch are not files of it; see
 * sandbox-snapshot.ts.
 */

import type { Git } from '../git/run/git.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { restoreIgnoreFile } from '../snapshot/ignore-file.ts';
import {
  listDifferences,
  listDirectories,
  readSnapshot,
  type SnapshotContent,
} from '../snapshot/snapshot.ts';
import { readShadowTree } from '../snapshot/tree.ts';
import { applyPlan } from './apply.ts';
import { type CheckoutPlan, isOtherwiseUsual, planCheckout } from './plan.ts';

/** What has to be done to get from one snapshot to another within `scope`; without `from` the folder holds nothing. */
export async function prepareCheckout(
  git: Git,
  from: SnapshotContent | undefined,
  to: SnapshotContent,
  scope: readonly string[],
): Promise<CheckoutPlan> {
  const [differences, directories, directoriesBefore] = await Promise.all([
    listDifferences(git, from?.commit, to.commit),
    listDirectories(git, to),
    from === undefined ? new Set<string>() : listDirectories(git, from),
  ]);
  const files = isOtherwiseUsual(from, to) ? (await readShadowTree(git, to.commit)).files : undefined;
  return planCheckout({ from, to, differences, directories, directoriesBefore, files, scope });
}

/** Writes a whole snapshot into a folder that holds nothing but the sandbox's `.git`. */
export async function checkOutSnapshot(git: Git, commit: string, folder: string): Promise<SnapshotContent> {
  const content = await readSnapshot(git, commit);
  const plan = await prepareCheckout(git, undefined, content, TOP_FOLDERS);
  const path = Buffer.from(folder).toString('latin1');
  await applyPlan(git, plan, { path, isCaptured: () => false });
  restoreIgnoreFile(folder, content.manifest.agtignore);
  return content;
}
