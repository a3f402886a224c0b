/** Commits of work branches, which people may have merged, copied or squashed without agt accept. */
import { findObjects } from '../../git/objects/object-reader.ts';
import type { Repository } from '../../repository/repository.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';
import { Session } from '../../session/session.ts';
import { readCommitGraph } from '../../survey/commit-graph.ts';
import { type AuthoredHistory, readAuthors } from '../turns.ts';
import { firstReach } from './first-reach.ts';
import type { BlamedLine } from './porcelain.ts';

export type WorkBranches = Awaited<ReturnType<typeof readWorkBranches>>;

/** `revision`: the commit whose lines are looked at. */
export async function readWorkBranches(repository: Repository, revision: string | undefined) {
  const { git } = repository;
  const { records } = listRecords(repository);
  const oidsOf = async (names: readonly string[]) => (await findObjects(git, names)).map((one) => one?.oid);
  const starts = await Promise.all(records.map((record) => startOf(new Session(repository, record))));
  const ends = await oidsOf(records.flatMap(({ work_branch }, i) => [work_branch, starts[i] ?? '']));
  const works = records.flatMap((record, i) => {
    const [tip, start] = ends.slice(2 * i);
    return tip === undefined || start === undefined || tip === start ? [] : [{ record, tip, start }];
  });
  const tips = works.flatMap(({ tip, start }) => [tip, start]);
  const graph = readCommitGraph(git, revision === undefined || works.length === 0 ? [] : [revision, ...tips]);
  /** A cherry-pick and a rebase keep the author and the time. */
  const originalsOf = ({ details }: BlamedLine) =>
    graph.byAuthor(`${details.get('author-time')} ${details.get('author-mail')?.slice(1, -1)}`);
  /** A squash has a file that the session has changed, as the work branch has it. */
  const squashed = async ({ commit, path }: BlamedLine, open: typeof works) => {
    const names = [commit, ...open.flatMap(({ tip, start }) => [tip, start])].map((one) => `${one}:${path}`);
    const [own, ...others] = await oidsOf(names);
    const isSquash = (i: number) => own !== undefined && own === others[2 * i] && own !== others[2 * i + 1];
    return open.filter((_, i) => isSquash(i)).map((work) => ({ ...work, commit: undefined }));
  };
  const known = new Map<string, Promise<readonly [Session, AuthoredHistory, ReadonlyMap<string, number>]>>();
  const read = async (record: SessionRecord) => {
    const session = new Session(repository, record);
    const history = await readAuthors(session);
    return [session, history, await commitsOfSession(session, history)] as const;
  };
  /** Steps whose session has made the commit, or one of which it is a copy, or has the file as it is. */
  return async function* (line: BlamedLine) {
    // What a session began with is not its work.
    const open = works.filter(({ start }) => !graph.has(start, line.commit));
    if (open.length === 0) return;
    const holdersOf = (commit: string) =>
      open.flatMap((work) =>
        graph.has(work.tip, commit) && !graph.has(work.start, commit) ? [{ ...work, commit }] : [],
      );
    const finders = [
      async () => holdersOf(line.commit),
      async () => originalsOf(line).flatMap(holdersOf),
      () => squashed(line, open),
    ];
    for (const find of finders)
      for (const { record, commit } of await find()) {
        const reading = known.get(record.session_id) ?? read(record);
        known.set(record.session_id, reading);
        const [session, history, made] = await reading;
        // Others have the commit by a sync.
        const step = commit === undefined ? history.steps.length - 1 : made.get(commit);
        if (step !== undefined && step >= 0) yield { session, history, step };
      }
  };
}

/** The commit below all snapshots: those of a fork begin with the session that it continues. */
export async function startOf(session: Session): Promise<string> {
  const { from, from_commit } = session.record;
  const history = from === undefined ? [] : await session.history().catch(() => []);
  return history.at(-1)?.parents[0] ?? from_commit;
}

/** The first step after each commit that the session made. A commit that its own branch had first came from there. */
async function commitsOfSession(
  { git }: Session,
  { steps }: AuthoredHistory,
): Promise<ReadonlyMap<string, number>> {
  const start = steps[0]?.snapshot.parents[0];
  const reach = (tips: readonly (string | undefined)[]) => firstReach(git, tips, start);
  const made = await reach(steps.map(({ snapshot }) => snapshot.head));
  const landed = await reach(steps.map(({ snapshot }) => snapshot.parents[1]));
  return new Map([...made].filter(([commit, step]) => (landed.get(commit) ?? Infinity) > step));
}
