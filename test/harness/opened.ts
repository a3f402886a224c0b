/** Opens a session in this process, so that a test can set the clock. */

import { join } from 'node:path';
import { readSettings } from '../../src/config/settings.ts';
import { openGit } from '../../src/git/run/git.ts';
import { openRepository } from '../../src/repository/repository.ts';
import type { SessionId } from '../../src/session/id.ts';
import { readRecord, writeRecord } from '../../src/session/record.ts';
import { Session } from '../../src/session/session.ts';
import { autocommit } from '../../src/triggers/autocommit.ts';
import type { AutocommitOptions } from '../../src/workspace/capture-session.ts';
import type { TestSession } from './session.ts';
import { REAL_GIT } from './world.ts';

export function openSession({ repository, id }: TestSession): Session {
  const found = { commonDir: join(repository, '.git'), worktree: repository };
  const opened = openRepository(openGit(REAL_GIT, repository, process.env), found, (local) =>
    readSettings({ global: undefined, local }, process.env),
  );
  const record = readRecord(opened, id as SessionId);
  if (record === undefined) throw new Error(`no record of ${id}`);
  return new Session(opened, record);
}

/** Autocommits with the clock at `now`. Returns the commit. */
export async function autocommitAt(
  session: TestSession,
  now: Date,
  marks: Pick<AutocommitOptions, 'label' | 'tool' | 'restored'> = {},
): Promise<string> {
  return (await autocommit(openSession(session), { now, ...marks })).commit ?? '';
}

/** Makes a removed session look as if it had been removed that long ago. */
export function endedDaysAgo(session: TestSession, days: number): void {
  const { repository, record } = openSession(session);
  const ended = new Date(Date.now() - days * 86_400_000).toISOString();
  writeRecord(repository, { ...record, last_activity_at: ended });
}
