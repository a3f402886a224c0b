/**
 * A restore of many paths by a swap: agt clones the nearest frozen moment, makes of the clone what the restore would leave,
 * and puts it in the place of the session folder. That takes as long for 20,000 files as for one. Programs in the folder
 * would stay in the old one, so there must be none, and nothing that is not captured, as it would go with the old folder.
 * In doubt agt writes the files one by one.
 */
import { existsSync, lchownSync, lstatSync, lutimesSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { CaptureResult } from '../../autocommit/capture.ts';
import { KnownFolder } from '../../autocommit/scan/known-folder.ts';
import { readStatCache } from '../../autocommit/stat-cache/stat-cache.ts';
import { applyPlan } from '../../checkout/apply.ts';
import type { CheckoutPlan } from '../../checkout/plan.ts';
import { testableLimit } from '../../disk/failure-point.ts';
import { systemPath } from '../../disk/long-path.ts';
import { mountsIn } from '../../disk/mounts.ts';
import { removeAt } from '../../disk/remove-tree.ts';
import { isNobodyInside } from '../../disk/who-is-inside.ts';
import { AgtError } from '../../errors.ts';
import { statCacheFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import type { LockedSession } from '../../session/lock.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { canSwap, exchange, makeClone, settleSwap } from '../../session/workspace/swap.ts';
import { IGNORE_FILE } from '../../snapshot/ignore-file.ts';
import { hasBorders, type KnownMoment, momentsNear } from '../near-moment.ts';
import { isAsCaptured } from './as-captured.ts';
import { copyEntries } from './copy-entries.ts';
import { type CachedFolder, planSwap, type SwapPlan } from './swap-plan.ts';

/** A restore of fewer paths is as quick without. */
const MANY_PATHS = 5000;

/** In bytes. More than that is not copied sooner than written. */
const MOST_COPIED = 256 * 1024 * 1024;

/** Moments before the snapshot, and after it: every other one may be of a folder that a swap has replaced. */
const AROUND = 3;

/** agt looks for no nearer moment if the restore changes so many times as many paths as differ there. */
const NEAR_ENOUGH = 10;

export interface SwapRequest {
  /** The session as it will be after the restore. */
  readonly record: SessionRecord;
  /** The complete capture before. */
  readonly before: CaptureResult;
  /** From there to the snapshot. */
  readonly plan: CheckoutPlan;
  /** Number of paths that it changes. */
  readonly size: number;
  /** The commit of the snapshot. */
  readonly wanted: string;
}

/** The moment to clone, and what to change in the clone. */
export interface NearestMoment {
  readonly near: KnownMoment;
  readonly cached: CachedFolder;
  readonly plan: SwapPlan;
}

/** Changes nothing. Undefined if agt has to write the files. */
export async function findSwap(
  repository: Repository,
  request: SwapRequest,
): Promise<NearestMoment | undefined> {
  try {
    const now = await folderNow(repository, request);
    const nearest = now && (await nearestMoment(repository, request, now));
    return nearest !== undefined && isNobodyInside(sessionFolder(request.record)) ? nearest : undefined;
  } catch {
    return undefined; // the restore in place meets the same trouble, or does without
  }
}

export interface Swapped {
  /** With the token of the folder that is in place now. */
  readonly begun: SessionRecord;
  readonly known: KnownFolder;
}

/**
 * `begun` has the intent to restore, and `commit` is the snapshot before. Undefined if the folder is as before: then agt has
 * to write the files.
 */
export async function trySwap(
  session: LockedSession,
  begun: SessionRecord,
  commit: string,
  nearest: NearestMoment,
): Promise<Swapped | undefined> {
  const { repository } = session;
  const mayReplace = async (aside: string) =>
    isNobodyInside(aside) && isAsCaptured(repository, begun, aside, commit);
  let known: KnownFolder | undefined;
  try {
    const folders = await makeClone(repository, begun, nearest.near.moment.token.path);
    known = await complete(repository, sessionFolder(begun), folders.making, nearest);
    await exchange(repository, folders, mayReplace);
  } catch {
    // the folder in place says how far agt has come
  }
  const settled = await settleSwap(repository, session.read() ?? begun, 'drop');
  return known === undefined || settled.token === begun.token ? undefined : { begun: settled, known };
}

/** Undefined if something is in the way of a swap. */
async function folderNow(
  repository: Repository,
  { record, before, plan, size }: SwapRequest,
): Promise<CachedFolder | undefined> {
  const { failed, skipped, ignored, commit } = before;
  const isWhole = failed.length + skipped.length + ignored.length + plan.blocked.length === 0;
  if (size <= testableLimit(MANY_PATHS) || !isWhole || !canSwap(repository, record)) return undefined;
  if (mountsIn(sessionFolder(record)).length > 0) return undefined;
  const cache = readStatCache(statCacheFile(repository.agtDir, record.session_id));
  if (cache?.directories === undefined || cache.commit !== commit || hasBorders(cache)) return undefined;
  return { files: cache.files, directories: cache.directories };
}

/** Undefined if none is near enough. */
async function nearestMoment(
  repository: Repository,
  { record, plan: restore, size, wanted }: SwapRequest,
  now: CachedFolder,
): Promise<NearestMoment | undefined> {
  let nearest: NearestMoment | undefined;
  for await (const near of momentsNear(repository, record, wanted, AROUND)) {
    const { files, directories } = near.cache;
    if (directories === undefined) continue;
    const cached = { files, directories };
    const plan = planSwap(restore, now, cached);
    const isNearer = plan.size * 2 <= size && (nearest === undefined || plan.size < nearest.plan.size);
    if (isNearer && plan.copiedSize <= MOST_COPIED) nearest = { near, cached, plan };
    if (plan.size * NEAR_ENOUGH <= size) break;
  }
  return nearest;
}

/** Brings the clone to its content. @throws AgtError if the system refuses something */
async function complete(
  { git }: Repository,
  live: string,
  clone: string,
  { near, cached, plan }: NearestMoment,
): Promise<KnownFolder> {
  const path = Buffer.from(clone).toString('latin1');
  for (const entry of near.content.skipped) removeAt(`${path}/${entry}`);
  rmSync(join(clone, IGNORE_FILE), { force: true });
  const apply = async (part: CheckoutPlan) => {
    const { changed, refused } = await applyPlan(git, part, { path, isCaptured: () => true });
    const [problem] = [...changed, ...refused.map((one) => one.path)];
    if (problem !== undefined) throw new AgtError(`${problem} could not be written`);
  };
  await apply(plan.first);
  // agt's own file is the same file: the link that makes the folder a worktree.
  const own = ['.', 'sandbox/.git', IGNORE_FILE].filter((name) => existsSync(join(live, name)));
  await copyEntries(live, clone, [...own, ...plan.copied]);
  const renewed = renew(live, clone, plan, near);
  await apply({ ...NOTHING, modes: plan.modes });
  const { first, copied, modes } = plan;
  const made = [...first.directories.keys()].filter((path) => cached.directories.find(path) < 0);
  const touched = [
    ...[...near.content.skipped, ...own, ...copied, ...made, ...modes.keys(), ...renewed.keys()],
    ...[...first.deletions, ...first.emptiedDirectories, ...first.writes.map((file) => file.path)],
  ];
  return new KnownFolder({ ...cached, touched, renewed, device: lstatSync(clone).dev });
}

const NOTHING: CheckoutPlan = {
  ...{ deletions: [], emptiedDirectories: [], directories: new Map(), writes: [], blocked: [] },
  ...{ emptyDirectories: { made: [], removed: [] }, modes: new Map(), owners: new Map() },
};

/**
 * A file that replaces another one gets the present time and the other one's owner, as if agt had written it: programs
 * outside of the session may have built something from the other one, and compare times.
 */
function renew(
  live: string,
  clone: string,
  { replacing }: SwapPlan,
  { cache }: KnownMoment,
): ReadonlyMap<string, Stats> {
  const [from, to] = [live, clone].map((folder) => Buffer.from(folder).toString('latin1'));
  const now = Date.now() / 1000;
  const renewed = new Map<string, Stats>();
  for (const path of replacing) {
    const target = systemPath(`${to}/${path}`);
    const [before, made] = [lstatSync(systemPath(`${from}/${path}`)), lstatSync(target)];
    if (before.uid !== made.uid || before.gid !== made.gid) lchownSync(target, before.uid, before.gid);
    lutimesSync(target, now, now);
    if (cache.files.find(path) >= 0) renewed.set(path, lstatSync(target));
  }
  return renewed;
}
