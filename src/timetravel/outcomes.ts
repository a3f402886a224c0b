/** Acceptances and ends of sessions, and the landed work that was taken back. */
import type { Repository } from '../repository/repository.ts';
import { landingsOf } from '../session/landings.ts';
import type { Landed, SessionRecord } from '../session/record.ts';
import { isEnded, type SessionState } from '../session/state.ts';
import { type Fate, findFates, neverHad, STANDS } from '../survey/landed.ts';
import type { ActivityRequest, AllAuthors } from './activity.ts';

/** A part of a session has landed, this was taken back, or the session has failed or ended. */
export interface Outcome {
  readonly session: string;
  readonly agent: string | undefined;
  readonly at: Date;
  readonly outcome: SessionState | 'accepted-in-part' | 'unaccepted';
  readonly landed: Landed | undefined;
  readonly fate: Fate;
  readonly isTakenBack: boolean;
  readonly reason: string | undefined;
  /** Copies in other repositories have the same one. */
  readonly key: string;
  /** It happened in another repository, where the session was then. */
  readonly isPulled: boolean;
}

type Own = Omit<Outcome, 'key' | 'isPulled'>;

export function readOutcomes(
  repository: Repository,
  { records }: Pick<AllAuthors, 'records'>,
  { sessions, since }: Pick<ActivityRequest, 'sessions' | 'since'>,
): Outcome[] {
  const outcomes: Outcome[] = [];
  for (const record of records) {
    if (sessions.length > 0 && !sessions.includes(record.session_id)) continue;
    const own = outcomesOf(repository, record).filter(({ at }) => since === undefined || at >= since);
    for (const one of own) {
      const at = one.at.toISOString();
      const key = [record.created_at, one.outcome, at].join(' ');
      outcomes.push({ ...one, key, isPulled: record.moved?.elsewhere?.includes(at) === true });
    }
  }
  const shown = new Set(outcomes.flatMap(({ landed, session }) => (landed === undefined ? [] : session)));
  if (shown.size === 0) return outcomes;
  const landed = records.filter(({ session_id: id }) => shown.has(id));
  const fates = findFates(repository, landed);
  return outcomes.map((one) => ({ ...one, fate: fates.get(one.landed?.commit ?? '') ?? one.fate }));
}

function outcomesOf(repository: Repository, record: SessionRecord): Own[] {
  const { session_id: session, state, state_at: at, state_reason: reason } = record;
  const facts = { fate: STANDS, isTakenBack: false, reason: undefined };
  const about = { session, agent: record.agent, ...facts };
  const landingOf = (landed: Landed): Own => {
    const outcome = landed.in_part ? 'accepted-in-part' : 'accepted';
    return { ...about, at: new Date(landed.at), outcome, landed };
  };
  const back = (record.taken_back ?? []).flatMap(({ taken_at, ...landed }): Own[] => {
    const { onto, commit } = landed;
    const isElsewhere = !!record.moved && neverHad(repository.git, onto, [commit]).has(commit);
    const fate = { ...STANDS, isLost: !isElsewhere, isElsewhere };
    const one = { ...landingOf(landed), fate, isTakenBack: true };
    return [one, { ...one, at: new Date(taken_at), outcome: 'unaccepted' }];
  });
  const landings = landingsOf(record.landed).map(landingOf);
  const hasOwnRow = state === 'failed' || isEnded(record);
  const hasOwnEnd = hasOwnRow && at !== undefined && (state !== 'accepted' || landings.length === 0);
  const end = { ...about, outcome: state, landed: undefined, reason };
  return [...back, ...landings, ...(hasOwnEnd ? [{ ...end, at: new Date(at) }] : [])];
}
