/** Calls of agents of sessions that changed a folder in which they do not work, and were not taken back. */
import { conversationIn } from '../session/calls-at-work.ts';
import type { Session } from '../session/session.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { diffSnapshots } from '../snapshot/tree.ts';
import type { readSteps } from './restore/steps.ts';

export interface Stray {
  readonly snapshot: Snapshot;
  /** More than one if several calls were at work: it was one of these sessions. */
  readonly sessions: readonly string[];
  /** The snapshot before the call. */
  readonly before: string;
  /** Those of its files that are not as before; relative to the session folder, one byte per character. */
  readonly paths: readonly string[];
  /** An undo takes back this call, and nothing else. */
  readonly isLast: boolean;
}

/** Each costs two comparisons. */
const MOST = 20;

/** Newest first. */
export async function readStrays(
  { git }: Session,
  { history, steps, current }: Awaited<ReturnType<typeof readSteps>>,
  since: Date,
): Promise<Stray[]> {
  const standing = new Set(steps.slice(0, current + 1).flatMap(({ commits }) => commits));
  const isStray = ({ commit, bySession, call, during, time }: Snapshot) =>
    bySession !== undefined &&
    (call !== undefined || during.length > 0) &&
    time >= since &&
    standing.has(commit);
  const known = new Map(history.map(({ conversation, bySession }) => [conversation, bySession]));
  const sessionsOf = ({ call, bySession, during }: Snapshot) => {
    const atWork = during.map((name) => known.get(conversationIn(name)) ?? 'another agent');
    return [...new Set([...(call && bySession ? [bySession] : []), ...atWork])];
  };
  const [newest] = history;
  const changed = async (from: string, to = from) =>
    (await diffSnapshots(git, from, to)).map(({ path }) => path);
  const strays: Stray[] = [];
  for (const snapshot of history.filter(isStray).slice(0, MOST)) {
    const { previous: before, commit } = snapshot;
    if (before === undefined) continue;
    const own = await changed(before, commit);
    const now = newest?.commit === commit ? own : await changed(before, newest?.commit);
    const paths = own.filter((path) => now.includes(path));
    const isLast = steps[current]?.commits.includes(commit) === true;
    if (paths.length > 0 || own.length === 0)
      strays.push({ snapshot, sessions: sessionsOf(snapshot), before, paths, isLast });
  }
  return strays;
}
