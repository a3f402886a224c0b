/** The operations that agt did not complete, as a table: how `agt doctor` finishes or undoes each. */
import { existsSync } from 'node:fs';
import { AgtError } from '../../errors.ts';
import { shortBranch, shortOid } from '../../git/files/ref-files.ts';
import { removeSession } from '../../lifecycle/remove.ts';
import { uncapturedFiles, undoCreation } from '../../lifecycle/undo-creation.ts';
import { commandToRestore } from '../../session/advised-commands.ts';
import { withSessionLock } from '../../session/lock.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { Intent, Operation } from '../../session/state.ts';
import { applyRetentionToSession } from '../retention/gc.ts';
import { FIX, type Finding, type Finishers } from './finding.ts';

interface Row<O extends Operation = Operation> {
  readonly doing: string;
  /** The command that a person would run instead of `agt doctor --fix`. */
  readonly command?: (record: SessionRecord, intent: Extract<Intent, { operation: O }>) => string;
}

const UNFINISHED: { readonly [O in Operation]: Row<O> } = {
  create: { doing: 'creating it' },
  remove: { doing: 'removing it', command: ({ session_id: id }) => `agt session remove ${id}` },
  drop: { doing: 'dropping its snapshots', command: () => 'agt gc' },
  restore: {
    doing: 'restoring it',
    command: (record, { scope, snapshot }) =>
      isPartial(scope) ? FIX : commandToRestore(record, shortOid(snapshot)),
  },
  accept: { doing: 'accepting it' },
  unaccept: {
    doing: 'taking back its acceptance',
    command: ({ session_id: id }) => `agt session unaccept ${id}`,
  },
  sync: { doing: 'syncing it', command: ({ session_id: id }) => `agt session sync ${id}` },
};

/** Whether it restored single files. Only the intent names those, so only agt doctor can finish it. */
function isPartial(scope: readonly string[]): boolean {
  return scope.some((path) => path.includes('/'));
}

/** `checkRest`: whether agt can also check the refs and the sandbox of the session. */
export function checkIntent(
  session: Session,
  finishers: Finishers,
): { readonly findings: Finding[]; readonly checkRest: boolean } {
  const { session_id: about, intent } = session.record;
  if (intent === undefined) return { findings: [], checkRest: true };
  const { doing, command } = UNFINISHED[intent.operation] as Row;
  const ways = { ...finishers, create: undoCreation, remove: finishRemoval, drop: finishDrop };
  const mend = command?.(session.record, intent) ?? FIX;
  const fix = () => ways[intent.operation](session);
  const { landed } = session.record;
  const hasLanded = intent.operation === 'remove' && intent.outcome === 'accepted' && landed !== undefined;
  const after = hasLanded
    ? `, after its work had come to ${shortBranch(landed.onto)} as ${shortOid(landed.commit)}`
    : '';
  const finding: Finding = {
    level: 'error',
    about,
    problem: `agt did not finish ${doing}${after}`,
    mend,
    fix,
  };
  return { findings: [finding], checkRest: intent.operation === 'restore' };
}

async function finishDrop(session: Session): Promise<void> {
  await withSessionLock(session, (locked) =>
    applyRetentionToSession(locked.with(session.record), { thin: false, now: new Date() }),
  );
}

/** @throws AgtError if somebody has worked in the folder since the capture before the removal. */
async function finishRemoval(session: Session): Promise<void> {
  const lost = mayHaveChanged(session.record) ? await uncapturedFiles(session) : [];
  if (lost.length > 0) {
    const advice = 'copy what you need, then run the command that agt doctor names';
    throw new AgtError(`not captured: ${lost.join(', ')} (${advice})`);
  }
  await removeSession(session, { force: false, now: new Date() });
}

/** A removal that is still moving the folder captures it once more itself. */
function mayHaveChanged(record: SessionRecord): boolean {
  const { intent, checkout } = record;
  if (checkout !== undefined) return false; // it looks again itself
  const isMoving = intent?.operation === 'remove' && intent.phase === 'moving';
  return !isMoving && existsSync(sessionFolder(record));
}
