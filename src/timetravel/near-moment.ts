/**
 * The frozen moment of a session that is nearest to a snapshot. A clone of it, and what differs, is the snapshot: that is
 * quicker than to write every file.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readStatCache, type StatCache } from '../autocommit/stat-cache/stat-cache.ts';
import { applyPlan } from '../checkout/apply.ts';
import { prepareCheckout } from '../checkout/checkout.ts';
import type { CheckoutPlan } from '../checkout/plan.ts';
import { removeAt } from '../disk/remove-tree.ts';
import { type Git, gitText } from '../git/run/git.ts';
import { momentFiles } from '../layout.ts';
import { isWhole } from '../providers/choose.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from '../session/record.ts';
import { TOP_FOLDERS } from '../snapshot/folders.ts';
import { IGNORE_FILE, restoreIgnoreFile } from '../snapshot/ignore-file.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../snapshot/manifest.ts';
import { listMoments, type Moment } from '../workspace/moments.ts';

export interface NearMoment {
  readonly moment: Moment;
  readonly cache: StatCache;
  readonly statCache: string;
  /** From there to the snapshot. */
  readonly plan: CheckoutPlan;
  /** Paths in the frozen folder that its own snapshot does not have. */
  readonly skipped: readonly string[];
}

/** Undefined if agt keeps none whose content is whole. */
export async function nearestMoment(
  repository: Repository,
  owner: Pick<SessionRecord, 'session_id' | 'sandbox'>,
  wanted: SnapshotMetadata,
): Promise<NearMoment | undefined> {
  const moments = listMoments(repository.agtDir, owner).filter(({ token }) => isWhole(token));
  if (moments.length === 0) return undefined;
  const exact = moments.findLast(({ commit }) => commit === wanted.commit);
  const candidates = exact === undefined ? await neighbours(repository, moments, wanted.commit) : [exact];
  const found: NearMoment[] = [];
  for (const moment of candidates) {
    const { statCache } = momentFiles(repository.agtDir, owner.session_id, moment.number);
    found.push(...(await readMoment(repository.git, moment, statCache, wanted)));
  }
  return found.sort((a, b) => planSize(a.plan) - planSize(b.plan))[0];
}

/** None if the moment is of no use: its stat cache is damaged, or `agt gc --thin` has dropped its snapshot. */
async function readMoment(
  git: Git,
  moment: Moment,
  statCache: string,
  wanted: SnapshotMetadata,
): Promise<NearMoment[]> {
  try {
    const cache = readStatCache(statCache);
    if (cache?.commit !== moment.commit || hasBorders(cache)) return [];
    const content = await readSnapshotMetadata(git, moment.commit);
    // The clone has nothing that was not captured: finishClone removes it.
    const whole = (snapshot: SnapshotMetadata) => ({ ...snapshot, skipped: [] });
    const plan = await prepareCheckout(git, whole(content), whole(wanted), TOP_FOLDERS);
    return [{ moment, cache, statCache, plan, skipped: content.skipped }];
  } catch {
    return [];
  }
}

/** The last one before the snapshot and the first one after it. */
async function neighbours(
  { git }: Repository,
  moments: readonly Moment[],
  commit: string,
): Promise<Moment[]> {
  const time = Number(await gitText(git, ['log', '-1', '--format=%ct', commit])) * 1000;
  const isBefore = ({ made }: Moment) => Date.parse(made) <= time;
  const around = [moments.findLast(isBefore), moments.find((moment) => !isBefore(moment))];
  return around.filter((moment) => moment !== undefined);
}

/** Whether a directory was of another file system: a frozen folder has nothing of what is in it. */
export function hasBorders({ directories }: StatCache): boolean {
  return directories === undefined || directories.paths.some((_, row) => directories.isBorder(row));
}

function planSize({ deletions, writes, modes }: CheckoutPlan): number {
  return deletions.length + writes.length + modes.size;
}

/** Makes the snapshot of a clone of the moment in which nobody works yet. False if the system refuses something. */
export async function finishClone(
  { git }: Repository,
  folder: string,
  { plan, skipped }: Pick<NearMoment, 'plan' | 'skipped'>,
  wanted: SnapshotMetadata,
): Promise<boolean> {
  const path = Buffer.from(folder).toString('latin1');
  for (const entry of skipped) removeAt(`${path}/${entry}`);
  const { changed, refused } = await applyPlan(git, plan, { path, isCaptured: () => true });
  rmSync(join(folder, IGNORE_FILE), { force: true });
  restoreIgnoreFile(folder, wanted.manifest.agtignore);
  return changed.length + refused.length === 0;
}
