/**
 * A person takes files back while the agent waits. The model still believes that they are as it left them, so the context
 * of its next prompt says which are not.
 */
import { displayPath } from '../../disk/path-bytes.ts';
import { someLines } from '../../errors.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import type { Git } from '../../git/run/git.ts';
import { localTime } from '../../local-time.ts';
import { snapshotRefs } from '../../session/record.ts';
import { isArrival, promptIn, REJECTED } from '../../snapshot/format.ts';
import { readNewest, type Snapshot } from '../../snapshot/history.ts';
import { diffSnapshots } from '../../snapshot/tree.ts';
import { withPresent } from '../../timetravel/restore/present.ts';
import { isOfHook } from '../../timetravel/turns.ts';
import type { Context } from '../context.ts';
import { showPath } from '../output/format.ts';
import { sessionIfAny } from '../session-here.ts';

/** So many paths stand in the context. */
const MOST_PATHS = 20;
/** So far back the last event of the agent may lie. */
const MOST_SNAPSHOTS = 100;

/** Undefined if nothing has gone back since the last event of the agent. To be asked before the prompt's own snapshot. */
export async function whatWentBack(context: Context, conversation: string | undefined) {
  const session = await sessionIfAny(context);
  if (session === undefined) return undefined;
  const known = await readNewest(session.git, snapshotRefs(session.record), MOST_SNAPSHOTS);
  if (restoresAfter(known, conversation).length === 0) return undefined;
  const look = { now: context.now(), dryRun: true };
  return withPresent(session, look, ({ git }, { steps }) =>
    describeRestores(git, steps.map(({ snapshot }) => snapshot).toReversed(), conversation),
  ).catch(() => describeRestores(session.git, known, conversation)); // such as on a full disk
}

/** Since the last event of the agent; newest first, as `history`. */
function restoresAfter(history: readonly Snapshot[], conversation: string | undefined): Snapshot[] {
  // In a folder each conversation hears it for itself. A new one believes nothing yet.
  const end = history.findIndex(
    (snapshot) =>
      (promptIn(snapshot) ?? snapshot.call) !== undefined &&
      [undefined, conversation].includes(snapshot.conversation),
  );
  const since = history.slice(0, Math.max(end, 0));
  const upToEvent = history.slice(0, end + 1);
  const restores: Snapshot[] = [];
  for (let i = 0; i < since.length; i++) {
    const { restored, restoredBy } = since[i] as Snapshot;
    const to = restoredBy === 'restore' ? -1 : upToEvent.findIndex(({ commit }) => commit === restored);
    // An undo and its redo: neither has changed anything.
    if (to > i) i = to - 1;
    else if (restored !== undefined) restores.push(since[i] as Snapshot);
  }
  return restores;
}

async function describeRestores(git: Git, history: readonly Snapshot[], conversation: string | undefined) {
  const restores = restoresAfter(history, conversation);
  const [last, first] = [restores[0], restores.at(-1)];
  if (last?.restored === undefined || first?.parents[0] === undefined) return undefined;
  const [before, now = last] = [first.parents[0], history[0]];
  // A person may have changed files before the first restore.
  const left = history.slice(history.indexOf(first)).find(isOfAgent)?.commit ?? before;
  /** By path, why its hunks were rejected, if they were. */
  const restored = new Map<string, Set<string>>();
  for (const one of restores) {
    // The snapshots before an arrival came with it.
    const from = isArrival(one) ? before : one.parents[0];
    const reasons = one.label?.startsWith(REJECTED) ? [one.label] : [];
    for (const { path } of await diffSnapshots(git, from, one.commit))
      restored.set(path, new Set([...(restored.get(path) ?? []), ...reasons]));
  }
  // Something may have made it as the agent left it, such as a sync or the user.
  const changes = (await diffSnapshots(git, left, now.commit)).filter(({ path }) => restored.has(path));
  const paths = changes.map(({ path }) => path).filter((path) => path.startsWith('sandbox/'));
  if (paths.length === 0) return undefined;
  const target = history.find(({ commit }) => commit === last.restored);
  // Several restores, or one of a turn or a hunk, may make what no snapshot had.
  const others = target === undefined ? [] : await diffSnapshots(git, target.commit, now.commit);
  const isAsThere = changes.every(({ path }) => !others.some((other) => other.path === path));
  const as =
    target && isAsThere
      ? `, to how they were in snapshot ${shortOid(target.commit)} ${describe(target)}`
      : '';
  const why = paths.map((path) => {
    const reasons = [...(restored.get(path) ?? [])].filter((label) => as === '' || label !== target?.label);
    return reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
  });
  const isSame = new Set(why).size === 1;
  const names = paths.map(
    (path, i) => showPath(displayPath(path.slice('sandbox/'.length))) + (isSame ? '' : why[i]),
  );
  const reason = restores.some(isArrival)
    ? 'The session was in another repository meanwhile, which has changed these files'
    : `The user has taken these files back with agt${as}${isSame ? why[0] : ''}`;
  return `${reason}: ${someLines(names, MOST_PATHS).join(', ')}. They are not as you left them, so read them again before you rely on them.`;
}

function isOfAgent(snapshot: Snapshot): boolean {
  return isOfHook(snapshot) || (promptIn(snapshot) ?? snapshot.call) !== undefined;
}

function describe({ label, tool, time, ...snapshot }: Snapshot): string {
  const prompt = promptIn({ ...snapshot, label });
  if (prompt !== undefined) return `(before the prompt "${prompt}")`;
  if (tool !== undefined) return `(after a call of ${tool})`;
  return label === undefined ? `(of ${localTime(time)})` : `("${label}")`;
}
