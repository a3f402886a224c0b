/**
 * `agt.budget`: what the states of all sessions of a repository may cost together. To measure that takes seconds in a
 * large repository, so captures count what they add, and it is measured anew only where the sum comes to the budget.
 *
 * Past the budget active sessions are thinned; where that is not enough a capture is refused, before anything is written.
 * So the budget is passed by one capture at most. Captures that a restore or a removal makes are counted, never refused.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { showSize } from '../../config/values.ts';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { AgtError } from '../../errors.ts';
import { gitText } from '../../git/run/git.ts';
import { measuredUsageFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { withSessionLock } from '../../session/lock.ts';
import { listRecords, readRecord, type SessionRecord } from '../../session/record.ts';
import { readAdded } from '../../session/usage.ts';
import { diskUse } from './du.ts';
import { applyToSession } from './gc.ts';

interface Measured {
  readonly total: number;
  /** What each session had added when that was measured; by id. */
  readonly added: Readonly<Record<string, number>>;
  /** Digest of all refs then. */
  readonly refs: string;
}

/**
 * Before a capture, under the session's lock: makes room where the budget is passed. Returns what was done, for the user
 * to read. `hasChanges` is asked only where the capture would have to be refused.
 * @throws AgtError where there is no room.
 */
export async function keepWithinBudget(
  repository: Repository,
  record: SessionRecord,
  now: Date,
  hasChanges: () => Promise<boolean>,
): Promise<string[]> {
  const { budget } = repository.settings;
  if (budget === undefined || estimate(repository) <= budget) return [];
  let total = await measure(repository);
  if (total <= budget) return [];
  const thinned = await thinActive(repository, record, now);
  if (thinned.length > 0) total = await measure(repository);
  const said = thinned.length === 0 ? [] : [`past agt.budget: thinned ${thinned.join(', ')}`];
  if (total <= budget || !(await hasChanges())) return said;
  throw new AgtError(
    `the states of all sessions take ${showSize(total)}, past agt.budget (${showSize(budget)}): nothing captured`,
    {
      hints: [
        ...said,
        'see what takes how much: agt du',
        'make room: agt gc, agt session remove ID --delete-branch',
        'or allow more: agt config set agt.budget SIZE',
      ],
    },
  );
}

/** All active sessions, past those that are busy. Returns what went from which. */
async function thinActive(repository: Repository, own: SessionRecord, now: Date): Promise<string[]> {
  const said: string[] = [];
  for (const { session_id: id, state } of listRecords(repository).records) {
    if (state !== 'active') continue;
    const thin = async () => {
      const record = readRecord(repository, id);
      if (record?.state !== 'active') return;
      const outcome = await applyToSession(repository, record, { thin: true, now });
      if (outcome !== undefined && outcome.refused === undefined)
        said.push(`${id} (${outcome.plan.going} of ${outcome.plan.chain.snapshots.length} snapshots)`);
    };
    try {
      await (id === own.session_id ? thin() : withSessionLock(repository, id, thin));
    } catch {
      // busy, or something is wrong with it that its own commands tell
    }
  }
  return said;
}

function estimate(repository: Repository): number {
  const measured = readMeasured(repository);
  if (measured === undefined) return Number.POSITIVE_INFINITY;
  const added = Object.entries(readAdded(repository));
  return added.reduce((sum, [id, bytes]) => sum + bytes - (measured.added[id] ?? 0), measured.total);
}

/** Exact, and remembered while no ref moves. */
async function measure(repository: Repository): Promise<number> {
  const listed = await gitText(repository.git, ['for-each-ref', '--format=%(refname) %(objectname)']);
  const refs = createHash('sha1').update(listed).digest('hex');
  const known = readMeasured(repository);
  if (known?.refs === refs) return known.total;
  const added = readAdded(repository); // before: what is added meanwhile counts twice rather than never
  const { total } = await diskUse(repository);
  const measured: Measured = { total, added, refs };
  writeFileAtomic(measuredUsageFile(repository.agtDir), `${JSON.stringify(measured)}\n`);
  return total;
}

function readMeasured(repository: Repository): Measured | undefined {
  try {
    return JSON.parse(readFileSync(measuredUsageFile(repository.agtDir), 'utf8')) as Measured;
  } catch {
    return undefined; // it is measured again
  }
}
