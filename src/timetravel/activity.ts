/**
 * The work of the agents of a repository: the snapshots of all its sessions, put together to turns. A turn is a prompt with
 * all that changed until the next one. Refs name the sessions, so that those without metadata count as well.
 */
import { snapshotNamespaces, TIPS } from '../filter/agent-refs.ts';
import { readCommits } from '../git/objects/commits.ts';
import { readObjects } from '../git/objects/object-reader.ts';
import { asLines, type Git, gitLines } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { isAttached, listRecords, type SessionRecord, snapshotRefs } from '../session/record.ts';
import { Session } from '../session/session.ts';
import { isArrival, labelByPerson } from '../snapshot/format.ts';
import { parseSnapshot, type Snapshot } from '../snapshot/history.ts';
import type { FileChange } from './timeline.ts';
import { filesOfTurns, undoneTurns } from './turn-files.ts';
import {
  type AuthoredHistory,
  authorsOf,
  bySessionOf,
  emptySteps,
  isOfHook,
  namesOfAgents,
  type TurnSteps,
} from './turns.ts';

export interface Turn {
  readonly session: string;
  /** 0: no agent made the changes. */
  readonly number: number;
  readonly agent: string | undefined;
  /** The session whose agent made the changes from outside of this folder. */
  readonly bySession: string | undefined;
  /** Its first words; undefined if no hook has told agt. */
  readonly prompt: string | undefined;
  /** Labels that a person gave. */
  readonly labels: readonly string[];
  readonly from: Date;
  readonly to: Date;
  readonly snapshots: number;
  /** Calls of tools that failed. */
  readonly failed: number;
  /** The last snapshot of it. */
  readonly commit: string;
  /** Copies in other repositories have the same one. */
  readonly first: string;
  /** It began in another repository, where the session was then. */
  readonly isPulled: boolean;
  /** False if undos have taken all of it back. */
  readonly stands: boolean;
  readonly files: readonly FileChange[];
}

export interface ActivityRequest {
  /** Only these; all if there are none. */
  readonly sessions: readonly string[];
  readonly since: Date | undefined;
  readonly limit: number;
  readonly countLines: boolean;
  /** Files that no turn of these lists: see `landedFiles`. */
  readonly landed?: ReadonlySet<string>;
}

/** Newest first. */
export async function readActivity(
  repository: Repository,
  { records, authored, pulled }: AllAuthors,
  { sessions, since, limit, countLines, landed = new Set() }: ActivityRequest,
): Promise<Turn[]> {
  const drafts = authored
    .flatMap(({ begun }) => begun)
    .filter(({ session }) => sessions.length === 0 || sessions.includes(session))
    .filter((turn) => turn.snapshots.length > 0 && (since === undefined || endOf(turn) >= since));
  // Of one second, the later one first.
  const newest = drafts.toReversed().toSorted((a, b) => endOf(b).getTime() - endOf(a).getTime());
  const agentOf = namesOfAgents(records, authored);
  const { undone, gone } = await undoneSteps(repository, records, authored);
  const isOwn = ({ path, oid }: FileChange) => !landed.has(`${path} ${oid}`);
  const isEmpty = ({ number, snapshots: own }: TurnSteps, changed: readonly FileChange[] = []) =>
    number === 0 && changed.length === 0 && own.every((one) => labelByPerson(one) === undefined);
  let [chosen, files]: [TurnSteps[], Awaited<ReturnType<typeof filesOfTurns>>] = [[], new Map()];
  for (let looked = limit; chosen.length < limit; looked *= 2) {
    const some = newest.slice(0, looked);
    const changed = await filesOfTurns(repository.git, some, { countLines, asShown: true, gone });
    files = new Map([...changed].map(([turn, all]) => [turn, turn.number > 0 ? all : all.filter(isOwn)]));
    chosen = some.filter((turn) => !isEmpty(turn, files.get(turn))).slice(0, limit);
    if (some.length === newest.length) break;
  }
  return chosen.map((turn) => {
    const { session, number, prompt, from, snapshots: all } = turn;
    return {
      ...{ session, number, prompt, from, to: endOf(turn) },
      agent: agentOf(turn),
      bySession: bySessionOf(turn),
      labels: [...new Set(all.flatMap((snapshot) => labelByPerson(snapshot) ?? []))],
      snapshots: all.length,
      failed: all.filter(({ call }) => call?.outcome === 'failed').length,
      commit: all.at(-1)?.commit ?? '',
      first: all[0]?.commit ?? '',
      isPulled: all[0] !== undefined && pulled.has(all[0]),
      stands: !turn.steps.some((step) => undone.has(step)),
      files: files.get(turn) ?? [],
    };
  });
}

/** Steps of turns that undos or restores have taken back. Most sessions have no undo, and need no look at their files. */
async function undoneSteps(
  repository: Repository,
  records: readonly SessionRecord[],
  authored: readonly AuthoredHistory[],
) {
  const undone = new Set<Snapshot>();
  const gone = new Set<string>();
  for (const history of authored) {
    const { session } = history.steps[0]?.snapshot ?? {};
    const record = records.find(({ session_id: id }) => id === session);
    const hasUndo = history.steps.some(({ snapshot }) => snapshot.restoredBy !== undefined);
    if (record === undefined || !hasUndo) continue;
    const found = await undoneTurns(new Session(repository, record), history, history.begun);
    for (const step of [...found.undone].flatMap(({ steps }) => steps)) undone.add(step);
    for (const commit of found.gone) gone.add(commit);
  }
  return { undone, gone };
}

const endOf = ({ snapshots, from }: TurnSteps) => snapshots.at(-1)?.time ?? from;

/** A pull begins with a snapshot, which says whether it was one into this repository; that of an ended session has none. */
function madeElsewhere(snapshots: readonly Snapshot[], records: readonly SessionRecord[]): Set<Snapshot> {
  const present = new Set<string>(records.map(({ session_id: id }) => id));
  const heirs = new Map<string | undefined, string>(); // forks bring along what is of a session that is not here
  const bySession = Map.groupBy(snapshots.toReversed(), ({ commit, previous, session }) => {
    const heir = present.has(session) ? session : (heirs.get(commit) ?? session);
    heirs.set(previous, heir);
    return heir;
  });
  const others = records.flatMap(({ session_id: id, created_at, moved }) => {
    if (moved === undefined) return [];
    const own = bySession.get(id)?.toReversed() ?? [];
    const times = moved.came.map((at) => Math.floor(Date.parse(at) / 1000) * 1000);
    const arrivals = Map.groupBy(own.filter(isArrival), ({ time }) => time.getTime());
    // Of several in one second, the last ones.
    const intoHere = new Set(
      times.flatMap((at) => arrivals.get(at)?.slice(-times.filter((t) => t === at).length) ?? []),
    );
    let isHere = moved.came[0] === created_at;
    let since = 0;
    return own.filter((snapshot) => {
      const time = snapshot.time.getTime();
      if (isArrival(snapshot)) [isHere, since] = [intoHere.has(snapshot), time];
      else isHere ||= times.some((at) => at > since && at < time && !arrivals.has(at));
      return !isHere;
    });
  });
  return new Set(others);
}

export type AllAuthors = Awaited<ReturnType<typeof readAllAuthors>>;

/**
 * All snapshots by time, oldest first and each before those that follow it; who made those of each session, and which were
 * made in another repository. One that came under several ids is of the session in `asked`, if that has it.
 */
export async function readAllAuthors(repository: Repository, asked: readonly string[]) {
  const { records } = listRecords(repository);
  const snapshots = await snapshotsOfAll(repository, records, asked);
  const known = new Map(snapshots.map((snapshot) => [snapshot.commit, snapshot]));
  const previousOf = (one: Snapshot | undefined) => known.get(one?.previous ?? '');
  const isFolder = records.some(isAttached);
  const histories = [...Map.groupBy(snapshots, ({ session }) => session).values()];
  const empty = await emptySteps(repository.git, histories);
  const authored = histories.map((own) => {
    const before: Snapshot[] = [];
    for (let one = previousOf(own[0]); one !== undefined; one = previousOf(one)) before.push(one);
    // Without events, nothing says that a fork goes on with a turn of its parent.
    const isFork = records.some(({ session_id: id, from }) => id === own[0]?.session && from !== undefined);
    const line = isFork && !before.some(isOfHook) ? own : [...before.reverse(), ...own];
    return partOf(authorsOf(line, isFolder, empty), own);
  });
  return { records, snapshots, authored, pulled: madeElsewhere(snapshots, records) };
}

/** That of one session, if its history begins in another one: a turn may have begun there. */
function partOf({ steps, turns, begun }: AuthoredHistory, own: readonly Snapshot[]): AuthoredHistory {
  if (steps.length === own.length) return { steps, turns, begun };
  const owned = new Set(own);
  const session = own[0]?.session ?? '';
  const part = (some: readonly Snapshot[]) => some.filter((one) => owned.has(one));
  const partOfTurn = ({ snapshots, steps, ...turn }: TurnSteps): TurnSteps => {
    return { ...turn, session, snapshots: part(snapshots), steps: part(steps) };
  };
  const parts = new Map(begun.map((turn) => [turn, partOfTurn(turn)]));
  return {
    steps: steps
      .filter(({ snapshot }) => owned.has(snapshot))
      .map((step) => ({ ...step, turn: step.turn && parts.get(step.turn) })),
    turns: turns.flatMap((turn) => parts.get(turn) ?? []),
    begun: [...parts.values()],
  };
}

/** However many sessions there are, it takes the same number of gits. */
async function snapshotsOfAll(
  repository: Repository,
  records: readonly SessionRecord[],
  asked: readonly string[],
): Promise<Snapshot[]> {
  const { git } = repository;
  const namespaces = snapshotNamespaces(repository.prefixes);
  const format = '--format=%(objectname) %(refname)';
  const refs = (await gitLines(git, ['for-each-ref', format, '--', ...namespaces])).map(
    (line) => line.split(' ') as [oid: string, ref: string],
  );
  if (refs.length === 0) return [];
  const oids = await listCommits(git, records, [...new Set(refs.map(([oid]) => oid))]);
  const contents = await readCommits(git, oids);
  const found = oids
    .map((oid) => parseSnapshot(oid, contents.get(oid) ?? ''))
    .filter((one) => one.isSnapshot);
  const listed = new Map(found.map((snapshot) => [snapshot.commit, snapshot]));
  const known = new Set(listed.keys());
  const others = [...new Set(found.flatMap(({ parents: [first] }) => first ?? []))].filter(
    (oid) => !known.has(oid),
  );
  for (const [i, object] of (await readObjects(git, others)).entries()) {
    const oid = others[i] ?? '';
    if (object !== undefined && parseSnapshot(oid, object.content.toString('latin1')).isSnapshot)
      known.add(oid);
  }
  const tips = refs.flatMap(([oid, ref]) => (ref.startsWith(TIPS) ? [[ref.slice(TIPS.length), oid]] : []));
  const lines = new Map<string, string[]>();
  const isHere = new Set(tips.map(([session = '']) => session));
  for (const [session = '', tip = ''] of tips)
    for (let one = listed.get(tip); one !== undefined; one = listed.get(one.parents[0] ?? ''))
      lines.set(one.commit, [...(lines.get(one.commit) ?? []), session]);
  const renamed = new Map<string, SessionRecord['renamed']>(
    records.map((record) => [record.session_id, record.renamed]),
  );
  return found.map(({ isSnapshot: _, ...snapshot }): Snapshot => {
    const [first = ''] = snapshot.parents;
    // A pull has put it in a fork, or it came under another id: its own session does not have it.
    const holders = lines.get(snapshot.commit) ?? [];
    const names = [snapshot.session, ...holders.map((id) => renamed.get(id)?.[snapshot.session])];
    const owners = names.flatMap((id) => (id && holders.includes(id) ? id : []));
    const own = owners.find((id) => asked.includes(id)) ?? owners[0];
    // If that is deleted, a fork has its beginning.
    const other = isHere.has(snapshot.session) ? holders[0] : undefined;
    const session = own ?? other ?? snapshot.session;
    return { ...snapshot, session, previous: known.has(first) ? first : undefined };
  });
}

/** Commits of the histories of sessions, oldest first. */
async function listCommits(git: Git, records: readonly SessionRecord[], tips: readonly string[]) {
  const ends = records.flatMap((record) => snapshotRefs(record).base ?? []);
  const input = asLines([...tips, ...ends.map((oid) => `^${oid}`)]);
  const words = ['--first-parent', '--date-order', '--reverse', '--ignore-missing', '--fixed-strings'];
  const filter = '--grep=Agt-Session: ';
  return gitLines(git, ['rev-list', ...words, filter, '--stdin'], { input });
}
