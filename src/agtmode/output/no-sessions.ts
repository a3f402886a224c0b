/** What a list without any session says, and what leads on. */
import { inDirectory, resolveObject } from '../../git/run/git.ts';
import { FIRST_COMMIT } from '../../lifecycle/start-point.ts';
import { knownRepositories } from '../../repository/known-repositories.ts';
import type { Repository } from '../../repository/repository.ts';
import { commandToList } from '../../session/advised-commands.ts';
import type { Report } from '../command-line/report.ts';
import type { Context } from '../context.ts';
import { adviceToSnapshot, attachedHere } from '../session-here.ts';

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
