/**
 * The work of the agents of a repository: the snapshots of all its sessions, put together to turns. A turn is a prompt with
 * all that changed until the next one. Refs name the sessions, so that those without metadata count as well.
 */
import { snapshotNamespaces } from '../filter/agent-refs.ts';
import { readCommits } from '../git/objects/commits.ts';
import { readObjects } from '../git/objects/object-reader.ts';
import { gitLines, gitText } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { isAttached, type Landed, listRecords, type SessionRecord, snapshotRefs } from '../session/record.ts';
import { isEnded, type SessionState } from '../session/state.ts';
import { labelByPerson, promptIn, promptLabel } from '../snapshot/format.ts';
import { parseSnapshot, type Snapshot } from '../snapshot/history.ts';
import { findLost } from '../survey/landed.ts';
import { readRefs } from '../survey/refs.ts';
import type { FileChange } from './timeline.ts';
import { filesOfTurns } from './turn-files.ts';
import { authorsOf, type TurnSteps } from './turns.ts';

export interface Turn {
  readonly session: string;
  readonly agent: string | undefined;
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
  /** It began in another repository, from which the session came. */
  readonly isPulled: boolean;
  readonly files: readonly FileChange[];
}

export interface ActivityRequest {
  readonly since: Date | undefined;
  readonly limit: number;
  readonly countLines: boolean;
}

/** A part of a session has landed, or the session has ended. */
export interface Outcome {
  readonly session: string;
  readonly agent: string | undefined;
  readonly at: Date;
  readonly outcome: SessionState | 'accepted-in-part';
  readonly landed: Landed | undefined;
  /** The branch does not have that commit any more. */
  readonly isLost: boolean;
  readonly reason: string | undefined;
}

export function readOutcomes(repository: Repository, since: Date | undefined): Outcome[] {
  const { records } = listRecords(repository);
  const agents = agentsOf(records);
  const outcomes = records
    .flatMap((record): Outcome[] => {
      const { session_id: session, state, state_at: at, state_reason: reason } = record;
      const about = { session, agent: agents.get(session), isLost: false, reason: undefined };
      const landings = landingsOf(record.landed).map((landed): Outcome => {
        const outcome = landed.in_part ? 'accepted-in-part' : 'accepted';
        return { ...about, at: new Date(landed.at), outcome, landed };
      });
      const hasOwnEnd =
        isEnded(record) && at !== undefined && (state !== 'accepted' || landings.length === 0);
      if (!hasOwnEnd) return landings;
      return [...landings, { ...about, at: new Date(at), outcome: state, landed: undefined, reason }];
    })
    .filter((one) => since === undefined || one.at >= since);
  const landings = outcomes.flatMap(({ landed }) => landed ?? []);
  if (landings.length === 0) return outcomes;
  const refs = readRefs(
    repository,
    [],
    landings.map(({ onto }) => onto),
  );
  const lost = findLost(repository.git, landings, refs);
  return outcomes.map((one) => ({ ...one, isLost: lost.has(one.landed?.commit ?? '') }));
}

function landingsOf(landed: Landed | undefined): Landed[] {
  return landed === undefined ? [] : [...landingsOf(landed.before), landed];
}

/** Newest first. */
export async function readActivity(
  repository: Repository,
  { since, limit, countLines }: ActivityRequest,
): Promise<Turn[]> {
  const { records } = listRecords(repository);
  const snapshots = await snapshotsOfAll(repository, since);
  const sessions = Map.groupBy(snapshots, ({ session }) => session);
  const cut = [...sessions.values()].flatMap(([first]) =>
    first === undefined || promptIn(first) !== undefined ? [] : [first],
  );
  const earlier = since === undefined || cut.length === 0 ? [] : await promptsBefore(repository, cut);
  const drafts = [...sessions].flatMap(([session, own]) => {
    const before = earlier.filter((snapshot) => snapshot.session === session);
    const { begun } = authorsOf([...before, ...own], records.some(isAttached));
    return begun.filter(({ snapshots: [...all] }) => all.some((one) => own.includes(one)));
  });
  // Of one second, the later one first.
  const newest = drafts.toReversed().toSorted((a, b) => endOf(b).getTime() - endOf(a).getTime());
  const chosen = newest.slice(0, limit);
  const files = await filesOfTurns(repository.git, chosen, countLines);
  const agents = agentsOf(records);
  const cameAt = new Map(records.map(({ session_id: id, moved }) => [id as string, moved?.first]));
  const isEmpty = (turn: TurnSteps) =>
    turn.prompt === undefined &&
    (files.get(turn) ?? []).length === 0 &&
    turn.snapshots.every((one) => one.tool === undefined && labelByPerson(one) === undefined);
  return chosen.flatMap((turn) => {
    if (isEmpty(turn)) return [];
    const { session, prompt, from, isPersons, snapshots: all } = turn;
    const labels = all.flatMap((snapshot) => labelByPerson(snapshot) ?? []);
    return {
      ...{
        session,
        prompt,
        from,
        to: endOf(turn),
        agent: isPersons ? undefined : (turn.agent ?? agents.get(session)),
      },
      labels: [...new Set(labels)],
      snapshots: all.length,
      failed: all.filter(({ call }) => call?.outcome === 'failed').length,
      commit: all.at(-1)?.commit ?? '',
      first: all[0]?.commit ?? '',
      isPulled: from.toISOString() < (cameAt.get(session) ?? ''),
      files: files.get(turn) ?? [],
    };
  });
}

const endOf = ({ snapshots, from }: TurnSteps) => snapshots.at(-1)?.time ?? from;

/** The agent of each session, as far as agt knows it. */
export function agentsOf(records: readonly SessionRecord[]): ReadonlyMap<string, string | undefined> {
  return new Map(records.map(({ session_id: id, agent, profile }) => [id as string, agent ?? profile]));
}

/**
 * By time, oldest first, and each before those that follow it. However many sessions there are, it takes the same number of
 * gits.
 */
export async function snapshotsOfAll({ git, ...repository }: Repository, since: Date | undefined) {
  const namespaces = snapshotNamespaces(repository.prefixes);
  const tips = await gitLines(git, ['for-each-ref', '--format=%(objectname)', '--', ...namespaces]);
  if (tips.length === 0) return [];
  const time = since === undefined ? [] : [`--since-as-filter=${Math.floor(since.getTime() / 1000)}`];
  const oids = await listCommits({ git, ...repository }, tips, [...time, '--grep=Agt-Session: ']);
  const contents = await readCommits(git, oids);
  const found = oids
    .map((oid) => parseSnapshot(oid, contents.get(oid) ?? ''))
    .filter((one) => one.isSnapshot);
  const known = new Set(found.map(({ commit }) => commit));
  const others = [...new Set(found.flatMap(({ parents: [first] }) => first ?? []))].filter(
    (oid) => !known.has(oid),
  );
  for (const [i, object] of (await readObjects(git, others)).entries()) {
    const oid = others[i] ?? '';
    if (object !== undefined && parseSnapshot(oid, object.content.toString('latin1')).isSnapshot)
      known.add(oid);
  }
  return found.map(({ isSnapshot: _, ...snapshot }): Snapshot => {
    const [first = ''] = snapshot.parents;
    return { ...snapshot, previous: known.has(first) ? first : undefined };
  });
}

/** Commits of the histories of sessions, oldest first. */
async function listCommits(repository: Repository, tips: readonly string[], filter: readonly string[]) {
  const ends = listRecords(repository).records.flatMap((record) => snapshotRefs(record).base ?? []);
  const input = [...new Set([...tips, ...ends.map((oid) => `^${oid}`)])].map((line) => `${line}\n`).join('');
  const words = ['--first-parent', '--date-order', '--reverse', '--ignore-missing', '--fixed-strings'];
  const listed = await gitText(repository.git, ['rev-list', ...words, ...filter, '--stdin'], { input });
  return listed.split('\n').filter((line) => line !== '');
}

/** The prompts before these snapshots, oldest first: a turn may have begun before the time asked for. */
async function promptsBefore(repository: Repository, snapshots: readonly Snapshot[]): Promise<Snapshot[]> {
  const { git } = repository;
  const tips = snapshots.map(({ commit }) => commit);
  const oids = await listCommits(repository, tips, [`--grep=Agt-Label: ${promptLabel('')}`]);
  const contents = await readCommits(git, oids);
  return oids.map((oid) => ({ ...parseSnapshot(oid, contents.get(oid) ?? ''), previous: undefined }));
}
