/** The failures of hooks that a person has to hear of, in `agt status`. */

import { isCompleteSince } from '../../autocommit/timestamp.ts';
import { type LoggedFailure, recentFailures } from '../../integrations/hooks-log.ts';
import { logKilled } from '../../integrations/running-hooks.ts';
import { sessionFolder } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { Context } from '../context.ts';

/** `folders`: those beside the folders of the sessions. */
export function failuresHere(
  { env, now }: Context,
  sessions: readonly Session[],
  folders: readonly string[],
): LoggedFailure[] {
  logKilled(env);
  const all = [...folders, ...sessions.map(({ record }) => folderOf(record))];
  return recentFailures(env, all, now(), (failure) => isSettled(failure, sessions));
}

function folderOf(record: Session['record']): string {
  return record.checkout ?? sessionFolder(record);
}

/** agt was ended, and has captured everything since. */
function isSettled({ pending, at, cwd }: LoggedFailure, sessions: readonly Session[]): boolean {
  if (pending !== true) return false;
  const around = sessions.filter(({ record }) => `${cwd}/`.startsWith(`${folderOf(record)}/`));
  const here = around.toSorted((a, b) => folderOf(b.record).length - folderOf(a.record).length)[0];
  return here !== undefined && isCompleteSince(here.repository.agtDir, here.record.session_id, new Date(at));
}
