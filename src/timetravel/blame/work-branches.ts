/** Commits of work branches, which people may have merged, copied or squashed without agt accept. */
import { findObjects } from '../../git/objects/object-reader.ts';
import type { Repository } from '../../repository/repository.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import { readCommitGraph } from '../../survey/commit-graph.ts';
import type { AuthoredHistory } from '../turns.ts';
import { firstReach } from './first-reach.ts';
import type { BlamedLine } from './porcelain.ts';

export type WorkBranches = Awaited<ReturnType<typeof readWorkBranches>>;

/** A session that has made the commit, or the one of which it is a copy; without a commit, the last step has the file. */
export interface WorkOfSession {
  readonly record: SessionRecord;
  readonly commit: string | undefined;
}

export async function readWorkBranches({ git, ...repository }: Repository) {
  const { records } = listRecords({ git, ...repository });
  const ends = records.flatMap(({ work_branch, from_commit }) => [work_branch, from_commit]);
  const found = (await findObjects(git, ends)).map((object) => object?.oid);
  const works = records.flatMap((record, i) => {
    const [tip, start] = found.slice(2 * i);
    return tip === undefined || start === undefined || tip === start ? [] : [{ record, tip, start }];
  });
  const graph = readCommitGraph(
    git,
    works.flatMap(({ tip, start }) => [tip, start]),
  );
  const madeBy = (commit: string) =>
    works.find(({ tip, start }) => graph.has(tip, commit) && !graph.has(start, commit))?.record;
  /** A cherry-pick and a rebase keep the author and the time. */
  const original = (line: BlamedLine) => {
    const [time, mail] = [line.details.get('author-time'), line.details.get('author-mail')];
    return graph.byAuthor(`${time} ${mail?.slice(1, -1)}`).find((one) => madeBy(one) !== undefined);
  };
  /** A squash has the file as the work branch has it, and the session has changed it. */
  const squashed = async ({ commit, path }: BlamedLine) => {
    const open = works.filter(({ start }) => !graph.has(start, commit));
    const names = [commit, ...open.flatMap(({ tip, start }) => [tip, start])].map((one) => `${one}:${path}`);
    const [own, ...others] = (await findObjects(git, names)).map((object) => object?.oid);
    return open.find((_, i) => own === others[2 * i] && own !== others[2 * i + 1])?.record;
  };
  return async (line: BlamedLine): Promise<WorkOfSession | undefined> => {
    for (const commit of [line.commit, original(line)]) {
      const record = commit && madeBy(commit);
      if (record) return { record, commit };
    }
    const record = works.length > 0 ? await squashed(line) : undefined;
    return record && { record, commit: undefined };
  };
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
