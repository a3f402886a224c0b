/** The names of agents where no event tells of one. */
import type { SessionRecord } from '../session/record.ts';
import type { Snapshot } from '../snapshot/history.ts';

/** The agent of each session, as far as agt knows it. */
export function agentsOf(records: readonly SessionRecord[]): ReadonlyMap<string, string | undefined> {
  return new Map(records.map(({ session_id: id, agent, profile }) => [id as string, agent ?? profile]));
}

/** Those before an agent has told its name: the session has that of the last one. */
export function beforeNames(snapshots: readonly Snapshot[]): ReadonlySet<Snapshot> {
  const ofSessions = [...Map.groupBy(snapshots, ({ session }) => session).values()];
  const isNamed = ({ agent }: Snapshot) => agent !== undefined;
  return new Set(ofSessions.flatMap((all) => all.slice(0, Math.max(0, all.findIndex(isNamed)))));
}
