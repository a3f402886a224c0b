/** The part of an acceptance that follows once the branch has moved: the session ends, unless it is kept. */
import { failurePoint } from '../disk/failure-point.ts';
import { AgtError, isAgtError } from '../errors.ts';
import { landedRef } from '../filter/agent-refs.ts';
import { diffTrees, entryOf, withRenames } from '../git/objects/raw-diff.ts';
import { plainCommit } from '../git/objects/scratch-index.ts';
import { FSYNC_ARGS, type Git, gitText, inDirectory, resolveObject, runGit } from '../git/run/git.ts';
import { removeLocked } from '../lifecycle/remove.ts';
import { type LockedSession, withSessionLock } from '../session/lock.ts';
import { complete } from '../session/operation.ts';
import type { Landed, SessionRecord } from '../session/record.ts';
import type { Session } from '../session/session.ts';
import type { BranchMove, Present } from '../session/state.ts';
import { keepOrigins } from '../timetravel/blame/make-map.ts';
import { captureSession } from '../workspace/capture-session.ts';
import type { AcceptResult, Landing } from './accept-request.ts';
import { runHook } from './make-commit.ts';
import { settleMove } from './recover.ts';
import { takenChanges } from './taken.ts';

/** Records the landing and removes the sandbox. An agent that went on working keeps its session. */
export async function endSession(session: LockedSession, landing: Landing, now: Date): Promise<AcceptResult> {
  const { commit, from, onto, worktree, at = now } = landing;
  const known = landing.record.landed;
  const isWritten = known?.commit === commit && known.onto === onto; // agt was killed after that
  const before = isWritten ? known.before : known;
  const move = landing.record.intent;
  const moved = move?.operation === 'accept' ? contentOf(move, landing) : {};
  const own = landing.record.checkout === undefined ? {} : await takenInPlace(session, landing);
  const landed = { commit, from, onto, at: at.toISOString(), ...moved, ...own, ...(before && { before }) };
  const record: SessionRecord = { ...landing.record, landed };
  await keepSources(session, landed);
  failurePoint('landing: source kept');
  session.write(record);
  failurePoint('landing: recorded');
  const lost = await keepOrigins(session.with(record), landing).catch((error: Error) => error.message);
  const warnings = [...landing.warnings];
  const git = worktree === undefined ? undefined : inDirectory(session.git, worktree);
  if (git !== undefined && (await runHook(git, 'post-merge', ['0'])) !== 0)
    warnings.push('the post-merge hook failed; the work is accepted all the same');
  if (lost !== undefined) warnings.push(`agt blame will not know where these lines come from: ${lost}`);
  const { intent, ...active } = record;
  const ending = session.with(active);
  const isKept = intent?.operation === 'accept' && intent.keep;
  const isNewer = !isKept && (await captureSession(ending, { now })).outcome === 'committed';
  if (isNewer)
    warnings.push('the sandbox changed meanwhile, so the session stays; accept it again for the rest');
  if (isKept || isNewer)
    return { ...landing, record: complete(session.with(record), 'accept', at), kept: true, warnings };
  const trouble = await removeAccepted(ending, at);
  return { ...landing, record: session.read() ?? active, kept: false, warnings, trouble };
}

function contentOf(
  { source, isPart, hasCommits, present = [] }: BranchMove,
  { changes }: Landing,
): Pick<Landed, 'source' | 'in_part' | 'with_commits' | 'present' | 'taken'> {
  const after = new Map(changes.map((change) => [change.path, entryOf(change.after)]));
  const { same = [], other = [] } = Object.groupBy(present, ({ path, entry }) =>
    after.get(path) === entry ? 'same' : 'other',
  );
  const pathsOf = (some: readonly Present[]) => some.map(({ path }) => path);
  return {
    ...(source !== undefined && { source }),
    ...(isPart && { in_part: true as const }),
    ...(isPart && hasCommits && { with_commits: true as const }),
    ...(same.length > 0 && { present: pathsOf(same) }),
    ...(other.length > 0 && { taken: pathsOf(other) }),
  };
}

/** The files that the user had not committed in the checkout, and that are committed now. */
async function takenInPlace(session: Session, { changes }: Landing): Promise<Pick<Landed, 'taken'>> {
  const known = new Set((await takenChanges(session)).map(({ path }) => path));
  const taken = changes.flatMap(({ path }) => (known.has(path) ? [path] : []));
  return taken.length === 0 ? {} : { taken };
}

/** One ref keeps the content of every acceptance that `unaccept` can come back to. */
export async function keepSources({ git, id }: Session, landed: Landed | undefined): Promise<void> {
  const sources: string[] = [];
  for (let one = landed; one !== undefined; one = one.before)
    if (one.source && (await resolveObject(git, `${one.source}^{commit}`))) sources.push(one.source);
  const [newest, ...others] = sources;
  if (newest === undefined) return void (await runGit(git, ['update-ref', '-d', landedRef(id)]));
  const kept = others.length === 0 ? newest : await plainCommit(git, `${newest}^{tree}`, sources);
  await gitText(git, [...FSYNC_ARGS, 'update-ref', landedRef(id), kept]);
}

/** Returns an error that came after the end of the session. */
async function removeAccepted(session: LockedSession, now: Date): Promise<AgtError | undefined> {
  try {
    await removeLocked(session, { force: false, now, outcome: 'accepted' });
    return undefined;
  } catch (error) {
    if (isAgtError(error) && session.read()?.state === 'accepted') return error;
    throw error;
  }
}

/** Ends an acceptance during which agt was killed. The result also of one that has ended; the record if there is none. */
export async function finishEarlier(session: LockedSession, now: Date) {
  const { record } = session;
  const { intent } = record;
  if (intent?.operation === 'remove' && intent.outcome === 'accepted' && record.landed !== undefined) {
    const trouble = await removeAccepted(session, now);
    const ended = session.with(session.read() ?? record);
    return { result: { ...(await landedResult(ended, EARLIER)), trouble } };
  }
  if (record.state === 'accepted' && record.landed !== undefined)
    return { result: await landedResult(session, acceptedBefore(record)) };
  if (intent?.operation !== 'accept') return { record };
  const { operation: _, ...move } = intent;
  if (!(await settleMove(session.repository, move))) {
    const { intent: _, ...before } = record;
    session.write(before);
    return { record: before };
  }
  const landing = { ...(await changeOf(session.git, move, EARLIER)), record };
  return { result: await endSession(session, landing, now) };
}

const EARLIER =
  'an earlier agt was killed after it had moved the branch: the message and the files are of that one';

export function acceptedBefore({ session_id: id, landed }: SessionRecord): string {
  const rest = landed?.in_part ? `; to go on with what stayed out: agt undo ${id}` : '';
  return `"${id}" is accepted already, and nothing has changed now${rest}`;
}

/** Facts that only the agt knew that made the commit are lost. */
async function changeOf(
  git: Git,
  { onto, from, to = '', worktree }: Omit<BranchMove, 'tree' | 'keep'>,
  warning: string,
) {
  const changes = await diffTrees(git, from, to);
  const shown = await withRenames(git, from, to, changes);
  const unknown = { leftOut: [], message: undefined };
  return { ...unknown, onto, from, worktree, changes, shown, commit: to, warnings: [warning] };
}

/** For an acceptance of which only the removal was left, or nothing. */
export async function landedResult({ git, record }: Session, warning: string): Promise<AcceptResult> {
  const { commit: to = '', from = '', onto = '' } = record.landed ?? {};
  const change = await changeOf(git, { onto, from, to }, warning);
  return { ...change, worktree: undefined, record, kept: false };
}

/** For agt doctor: an acceptance that had moved the branch ends; any other is undone. */
export async function finishAccept(session: Session): Promise<void> {
  await withSessionLock(session, async (locked) => {
    if (locked.record.intent?.operation !== 'accept')
      throw new AgtError(`session "${session.id}" has no unfinished acceptance`);
    await finishEarlier(locked, new Date());
  });
}
