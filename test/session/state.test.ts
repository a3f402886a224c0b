/** The state table and the metadata that an operation writes. */
import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { recordFile } from '../../src/layout.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { withSessionLock } from '../../src/session/lock.ts';
import { begin, complete } from '../../src/session/operation.ts';
import { readRecord, type SessionRecord, writeRecord } from '../../src/session/record.ts';
import {
  type Intent,
  type Operation,
  OUTCOMES,
  SESSION_STATES,
  TRANSITIONS,
} from '../../src/session/state.ts';
import { openSession } from '../harness/opened.ts';
import { makeSession } from '../harness/session.ts';

let repository: Repository;
let record: SessionRecord;
beforeEach(() => {
  ({ repository, record } = openSession(makeSession()));
});

const MOVE = {
  onto: 'refs/heads/main',
  from: 'b'.repeat(40),
  to: 'c'.repeat(40),
  tree: 'd'.repeat(40),
  keep: false,
};
const INTENTS: { readonly [O in Operation]: Extract<Intent, { operation: O }> } = {
  create: { operation: 'create' },
  restore: { operation: 'restore', by: 'restore', snapshot: 'a'.repeat(40), scope: ['sandbox'] },
  remove: { operation: 'remove' },
  accept: { operation: 'accept', ...MOVE },
  unaccept: { operation: 'unaccept', ...MOVE },
  sync: { operation: 'sync', snapshot: 'a'.repeat(40) },
  drop: { operation: 'drop' },
};
const OPERATIONS = Object.keys(TRANSITIONS) as Operation[];

const stored = () => readRecord(repository, record.session_id);

describe('an operation', () => {
  test.each(OPERATIONS.filter((operation) => operation !== 'create'))(
    '%s writes its intent before it acts and clears it afterwards',
    async (operation) => {
      const { from, during, after } = TRANSITIONS[operation];
      for (const state of from) {
        await withSessionLock({ repository, id: record.session_id }, async (session) => {
          const begun = begin(session.with({ ...record, state }), INTENTS[operation]);
          const expected = during === 'same' ? state : during;
          const { state_at: _, ...others } = record;
          expect(stored()).toMatchObject({ ...others, state: expected, intent: INTENTS[operation] });
          const done = complete(session.with(begun), operation);
          expect(done.intent).toBeUndefined();
        });
        expect(stored()?.state).toBe(after === 'forgotten' ? undefined : after);
        expect(stored()?.intent).toBeUndefined();
      }
    },
  );

  test.each(
    OPERATIONS.flatMap((operation) =>
      SESSION_STATES.filter((state) => !TRANSITIONS[operation].from.includes(state)).map(
        (state) => [operation, state] as const,
      ),
    ),
  )('%s is refused while the session is %s, and writes nothing', async (operation, state) => {
    writeRecord(repository, { ...record, state });
    const before = readFileSync(recordFile(repository.agtDir, record.session_id), 'utf8');
    await withSessionLock({ repository, id: record.session_id }, async (session) => {
      expect(() => begin(session.with({ ...record, state }), INTENTS[operation])).toThrow(
        new RegExp(`session "${record.session_id}"`),
      );
    });
    expect(readFileSync(recordFile(repository.agtDir, record.session_id), 'utf8')).toBe(before);
  });

  test.each(OUTCOMES)('a removal can end in %s, with a time and a reason', async (outcome) => {
    const now = new Date('2026-03-01T10:00:00Z');
    await withSessionLock({ repository, id: record.session_id }, async (session) => {
      const begun = begin(session.with(record), { operation: 'remove', outcome, reason: 'not needed' });
      complete(session.with(begun), 'remove', now);
    });
    expect(stored()).toMatchObject({
      state: outcome,
      state_at: now.toISOString(),
      state_reason: 'not needed',
    });
    await withSessionLock({ repository, id: record.session_id }, async (session) => {
      complete(session.with(begin(session.with(stored() as SessionRecord), INTENTS.restore)), 'restore');
    });
    expect(stored()?.state).toBe('active');
    expect(stored()?.state_reason).toBeUndefined();
  });
});
