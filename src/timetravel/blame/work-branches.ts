/** Commits of work branches, which people may have merged without agt accept. */
import { gitLines } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionId } from '../../session/id.ts';
import { listRecords } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { AuthoredHistory } from '../turns.ts';
import { firstReach } from './first-reach.ts';

/** The session that has each commit on its branch, also if that came from elsewhere. */
export async function commitsOnBranches(repository: Repository): Promise<ReadonlyMap<string, SessionId>> {
  const { records } = listRecords(repository);
  if (records.length === 0) return new Map();
  const sessions = new Map(records.map((record) => [record.work_branch, record.session_id]));
  const starts = new Set(records.map((record) => `^${record.from_commit}`));
  const words = ['log', '--source', '--no-show-signature', '--ignore-missing', '--format=%H %S'];
  const lines = await gitLines(repository.git, [...words, ...sessions.keys(), ...starts, '--']);
  return new Map(
    lines.flatMap((line) => {
      const [commit = '', branch = ''] = line.split(' ');
      const session = sessions.get(branch);
      return session === undefined ? [] : [[commit, session] as const];
    }),
  );
}

/** The first step after each commit that the session made. A commit that its own branch had first came from there. */
export async function commitsOfSession(
  { git, record }: Session,
  { steps }: AuthoredHistory,
): Promise<ReadonlyMap<string, number>> {
  const reach = (tips: readonly (string | undefined)[]) => firstReach(git, tips, record.from_commit);
  const made = await reach(steps.map(({ snapshot }) => snapshot.head));
  const landed = await reach(steps.map(({ snapshot }) => snapshot.parents[1]));
  return new Map([...made].filter(([commit, step]) => (landed.get(commit) ?? Infinity) > step));
}
