/** `agt list --folders`: folders that have snapshots without a session. Commands know them by their path. */
import { existsSync } from 'node:fs';
import { listStores, openListedStore } from '../../../folders/store.ts';
import type { SessionId } from '../../../session/id.ts';
import type { Session } from '../../../session/session.ts';
import { readPulse } from '../../../survey/pulse.ts';
import { type SessionStatus, surveySessions } from '../../../survey/status.ts';
import type { Answer } from '../../command-line/report.ts';
import type { Context } from '../../context.ts';
import { shortAge, shortAgo, showPath, table } from '../../output/format.ts';
import { sessionJson } from '../../output/session.ts';
import { attachedIfUsable } from '../../session-here.ts';

/** The one here, or all that are still there. */
export async function listFolders(context: Context, all: boolean): Promise<Answer> {
  const access = context.folderAccess();
  const found = all
    ? listStores(access).map((store) => openListedStore(access, store))
    : [(await attachedIfUsable(context)).attached];
  const now = context.now();
  const folders = await Promise.all(found.flatMap((session) => (session ? readFolder(session, now) : [])));
  const shown = folders.filter(({ lastAutocommit, sandboxPresent }) => lastAutocommit && sandboxPresent);
  const rows = shown.map(({ folder, agentState, lastAutocommit }) => [
    showPath(folder),
    agentState === undefined ? '' : `${agentState.state} ${shortAge(new Date(agentState.since), now)}`,
    `snapshot ${shortAgo(lastAutocommit?.time, now)}`,
  ]);
  return {
    json: shown.map(({ pulse, ...view }) => ({ ...sessionJson(view), new_hunks: null, pulse })),
    text: rows.length > 0 ? `\nSnapshots without a session\n${table(rows)}` : '',
  };
}

async function readFolder({ repository, record }: Session, now: Date) {
  const { checkout: folder = record.sandbox } = record;
  const [view] = await surveySessions(repository, [record], { counts: false });
  const pulse = await readPulse(repository, [record], now);
  const shown = { ...record, session_id: folder as SessionId, sandbox: folder };
  const status = view as SessionStatus;
  return { ...status, record: shown, folder, sandboxPresent: existsSync(folder), pulse: pulse(record) };
}
