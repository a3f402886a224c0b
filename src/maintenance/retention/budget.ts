/** `agt.budget`: the disk that the snapshots of all sessions of a repository may take together (see README.md). */
import { createHash } from 'node:crypto';
import { showSize } from '../../config/values.ts';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { readJson } from '../../disk/read-file.ts';
import { AgtError } from '../../errors.ts';
import { isActive } from '../../filter/session-file.ts';
import { gitText } from '../../git/run/git.ts';
import { measuredUsageFile } from '../../layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { type LockedSession, withSessionLock } from '../../session/lock.ts';
import { isAttached, listRecords } from '../../session/record.ts';
import { readAddedBytes } from '../../workspace/usage.ts';
import { diskUse } from './du.ts';
import { applyRetentionToSession } from './gc.ts';

interface Measured {
  readonly total: number;
  /** Bytes that each session had added at the time of the measurement, by id. */
  readonly added: Readonly<Record<string, number>>;
  /** Digest of all refs at that time. */
  readonly refs: string;
}

/**
 * Call it before a capture. If the budget is exceeded, it frees space. If that is not enough, it refuses the
 * capture, unless `hasChanges` says that there is nothing to capture. Returns warnings for the user.
 * @throws AgtError if there is not enough space.
 */
export async function enforceBudget(
  session: LockedSession,
  now: Date,
  hasChanges: () => Promise<boolean>,
): Promise<string[]> {
  const { repository } = session;
  if ((await excessOverBudget(repository)) === undefined) return [];
  const thinned = await thinActive(session, now);
  const excess = await excessOverBudget(repository);
  const warnings = thinned.length === 0 ? [] : [`agt.budget exceeded: thinned ${thinned.join(', ')}`];
  if (excess === undefined || !(await hasChanges())) return warnings;
  throw new AgtError(`${excess.problem}; nothing was captured`, { hints: [...warnings, ...excess.ways] });
}

/** Why the next autocommit that has something to capture is refused, unless it can thin enough. */
export async function excessOverBudget(repository: Repository) {
  const { budget } = repository.settings;
  if (budget === undefined || estimate(repository) <= budget) return undefined;
  const total = await measure(repository);
  if (total <= budget) return undefined;
  const isFolder = listRecords(repository).records.some(isAttached);
  const whose = isFolder ? 'this folder' : 'all sessions';
  const ways = isFolder
    ? ['see its size: agt du --folders', 'free space: agt gc --folders']
    : ['see the size of each session: agt du', 'free space: agt gc, agt session remove ID --delete-branch'];
  return {
    problem: `the snapshots of ${whose} take ${showSize(total)}, more than agt.budget (${showSize(budget)})`,
    ways: [...ways, 'or raise the budget: agt config set agt.budget SIZE'],
  };
}

/** Thins every active session that no other process uses. Returns what it thinned, as text. */
async function thinActive(own: LockedSession, now: Date): Promise<string[]> {
  const { repository } = own;
  const thinned: string[] = [];
  const thin = async (session: LockedSession) => {
    const record = session.read();
    if (record === undefined || !isActive(record)) return;
    const outcome = await applyRetentionToSession(session.with(record), { thin: true, now });
    if (outcome === undefined || outcome.plan.refused !== undefined) return;
    const { going, chain } = outcome.plan;
    thinned.push(`${session.id} (deleted ${going} of ${chain.snapshots.length} snapshots)`);
  };
  for (const { session_id: id } of listRecords(repository).records.filter(isActive)) {
    try {
      await (id === own.id ? thin(own) : withSessionLock({ repository, id }, thin, { waitMs: 0 }));
    } catch {
      // Another process uses the session, or it has a problem. Its own commands report that.
    }
  }
  return thinned;
}

/** In bytes: the last measurement, and what the sessions have added since. */
function estimate(repository: Repository): number {
  const measured = readMeasured(repository);
  if (measured === undefined) return Number.POSITIVE_INFINITY;
  const added = Object.entries(readAddedBytes(repository));
  return added.reduce((sum, [id, bytes]) => sum + bytes - (measured.added[id] ?? 0), measured.total);
}

/** In bytes, exact. The result stays valid until a ref moves. */
async function measure(repository: Repository): Promise<number> {
  const listed = await gitText(repository.git, ['for-each-ref', '--format=%(refname) %(objectname)']);
  const refs = createHash('sha1').update(listed).digest('hex');
  const last = readMeasured(repository);
  if (last?.refs === refs) return last.total;
  // Read the counts before the measurement: bytes that are added meanwhile then count twice, and not never.
  const added = readAddedBytes(repository);
  const { total } = await diskUse(repository);
  const measured: Measured = { total, added, refs };
  writeFileAtomic(measuredUsageFile(repository.agtDir), `${JSON.stringify(measured)}\n`);
  return total;
}

function readMeasured({ agtDir }: Repository): Measured | undefined {
  return readJson(measuredUsageFile(agtDir)) as Measured | undefined;
}
