/** Calls of agents of sessions that changed a folder in which they do not work, and were not taken back. */
import { capturedRefs, differing } from '../folders/git-state/read-state.ts';
import type { Git } from '../git/run/git.ts';
import { conversationIn } from '../session/calls-at-work.ts';
import type { Session } from '../session/session.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { diffSnapshots } from '../snapshot/tree.ts';
import type { readSteps } from './restore/steps.ts';
import { isLeft } from './turn-files.ts';

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

/** Whether a ref that the call moved is not as before it now. */
async function hasMovedRefs(git: Git, before: string, commit: string, newest: Snapshot | undefined) {
  const commits = [before, commit, newest?.commit ?? commit];
  const [was, after, now] = await Promise.all(commits.map((one) => capturedRefs(git, one)));
  if (was === undefined || after === undefined || now === undefined) return true;
  return differing(was, after).some((ref) => now.get(ref) !== was.get(ref));
}

/** Newest first. */
export async function readStrays(
  session: Session,
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
  const { git } = session;
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
    const isThere = async () =>
      newest?.commit === commit || (newest && isLeft(session, newest, { steps: [snapshot] }));
    const stands =
      (paths.length > 0 && (await isThere())) ||
      (own.length === 0 && (await hasMovedRefs(git, before, commit, newest)));
    if (stands) strays.push({ snapshot, sessions: sessionsOf(snapshot), before, paths, isLast });
  }
  return strays;
}
