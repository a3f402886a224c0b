/** `agt list` without sessions: what it says then, and folders that have snapshots. Commands know these by their path. */
import { existsSync } from 'node:fs';
import { listStores, openListedStore } from '../../../folders/store.ts';
import { inDirectory, resolveObject } from '../../../git/run/git.ts';
import { FIRST_COMMIT } from '../../../lifecycle/start-point.ts';
import { knownRepositories } from '../../../repository/known-repositories.ts';
import type { Repository } from '../../../repository/repository.ts';
import { commandToList } from '../../../session/advised-commands.ts';
import type { SessionId } from '../../../session/id.ts';
import type { Session } from '../../../session/session.ts';
import { readPulse } from '../../../survey/refs.ts';
import { type SessionStatus, surveySessions } from '../../../survey/status.ts';
import type { Answer, Report } from '../../command-line/report.ts';
import type { Context } from '../../context.ts';
import { shortAge, shortAgo, showPath, table } from '../../output/format.ts';
import { sessionJson } from '../../output/session.ts';
import { adviceToSnapshot, attachedHere, attachedIfUsable } from '../../session-here.ts';

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

const BEGIN = 'begin one: agt new ID, or agt run --new -- COMMAND';

/** `ended`: how many sessions there are that have. */
export async function nothingNote({ git, worktree = git.cwd }: Repository, ended: number): Promise<string> {
  const canBegin = (await resolveObject(inDirectory(git, worktree), 'HEAD^{commit}')) !== undefined;
  const first = canBegin ? '' : `make a first commit: ${FIRST_COMMIT}; then `;
  if (ended === 0) return `note: no sessions yet; ${first}${BEGIN}\n`;
  return `note: no session is active; ${first}${BEGIN}; those that have ended: agt list --all\n`;
}

/** Of a list of all repositories. */
export function withNote(report: Report, env: NodeJS.ProcessEnv, isAll: boolean): Report {
  if (!Array.isArray(report.json) || report.json.length > 0) return report;
  const isFirst = isAll || knownRepositories(env).present.length === 0;
  const notes = isFirst
    ? `note: no sessions yet; ${BEGIN}\n`
    : `note: no session is active; ${BEGIN}; those that have ended: agt list --everywhere --all\n`;
  return { ...report, notes };
}

/** Outside of repositories there are none, but the folder may have snapshots. */
export async function noSessions(context: Context): Promise<string> {
  const attached = await attachedHere(context);
  const next =
    attached === undefined
      ? await adviceToSnapshot(context, 'to record this folder', false)
      : `its snapshots: ${commandToList(attached.record)}`;
  return `no sessions: this folder is in no git repository; ${next}\n`;
}
