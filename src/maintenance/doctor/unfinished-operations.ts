/** The operations that agt did not complete, as a table: how `agt doctor` finishes or undoes each. */

import { existsSync } from 'node:fs';
import { AgtError } from '../../errors.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { planRemoval, removeSession } from '../../lifecycle/remove.ts';
import { uncapturedFiles } from '../../lifecycle/uncaptured.ts';
import { undoCreation } from '../../lifecycle/undo-creation.ts';
import type { Repository } from '../../repository/repository.ts';
import { commandToRestore } from '../../session/advised-commands.ts';
import { withSessionLock } from '../../session/lock.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import type { Intent, Operation } from '../../session/state.ts';
import { applyRetentionToSession } from '../retention/gc.ts';
import type { Finding, Finishers } from './finding.ts';

interface Row<I extends Intent> {
  readonly problem: string;
  /** The command that a person would run. */
  readonly command: (record: SessionRecord, intent: I) => string;
  readonly fix: (repository: Repository, record: SessionRecord, finishers: Finishers) => Promise<unknown>;
  /** Whether agt can also check the refs and the sandbox of such a session. */
  readonly checkRest: boolean;
}

type Table = { readonly [O in Operation]: Row<Extract<Intent, { operation: O }>> };

const UNFINISHED: Table = {
  create: {
    problem: 'agt did not finish creating it',
    command: () => 'agt doctor --fix',
    fix: undoCreation,
    checkRest: false,
  },
  remove: {
    problem: 'agt did not finish removing it',
    command: ({ session_id: id }) => `agt session remove ${id}`,
    fix: finishRemoval,
    checkRest: false,
  },
  drop: {
    problem: 'agt did not finish dropping its snapshots',
    command: () => 'agt gc',
    fix: (repository, record) =>
      withSessionLock(repository, record.session_id, async (session) => {
        await applyRetentionToSession(session, record, { thin: false, now: new Date() });
      }),
    checkRest: false,
  },
  restore: {
    problem: 'agt did not finish restoring it',
    command: (record, { scope, snapshot }) =>
      isPartial(scope) ? 'agt doctor --fix' : commandToRestore(record, shortOid(snapshot)),
    fix: (repository, record, finishers) => finishers.restore(repository, record),
    checkRest: true,
  },
  accept: {
    problem: 'agt did not finish accepting it',
    command: () => 'agt doctor --fix',
    fix: (repository, record, finishers) => finishers.accept(repository, record),
    checkRest: false,
  },
  unaccept: {
    problem: 'agt did not finish taking back its acceptance',
    command: ({ session_id: id }) => `agt session unaccept ${id}`,
    fix: (repository, record, finishers) => finishers.unaccept(repository, record),
    checkRest: false,
  },
  sync: {
    problem: 'agt did not finish syncing it',
    command: ({ session_id: id }) => `agt session sync ${id}`,
    fix: (repository, record, finishers) => finishers.sync(repository, record),
    checkRest: false,
  },
};

/** Whether it restored single files. Only the intent names those, so only agt doctor can finish it. */
function isPartial(scope: readonly string[]): boolean {
  return scope.some((path) => path.includes('/'));
}

export function checkIntent(
  repository: Repository,
  record: SessionRecord,
  finishers: Finishers,
): { readonly findings: Finding[]; readonly checkRest: boolean } {
  const { session_id: about, intent } = record;
  if (intent === undefined) return { findings: [], checkRest: true };
  const row = UNFINISHED[intent.operation] as Row<Intent>;
  const fix = () => row.fix(repository, record, finishers);
  const { problem, checkRest } = row;
  return {
    findings: [{ level: 'error', about, problem, mend: row.command(record, intent), fix }],
    checkRest,
  };
}

/** @throws AgtError if somebody has worked in the folder since the capture before the removal. */
async function finishRemoval(repository: Repository, record: SessionRecord): Promise<void> {
  const lost = mayHaveChanged(record) ? await uncapturedFiles(repository, record) : [];
  if (lost.length > 0) {
    const advice = 'copy what you need, then run the command that agt doctor names';
    throw new AgtError(`not captured: ${lost.join(', ')} (${advice})`);
  }
  const plan = await planRemoval(repository, record, false);
  await removeSession(repository, plan, { force: false, now: new Date() });
}

/** A removal that is still moving the folder captures it once more itself. */
function mayHaveChanged(record: SessionRecord): boolean {
  const { intent, checkout } = record;
  if (checkout !== undefined) return false; // it looks again itself
  const isMoving = intent?.operation === 'remove' && intent.phase === 'moving';
  return !isMoving && existsSync(sessionFolder(record));
}
