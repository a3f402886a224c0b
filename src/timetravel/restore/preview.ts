/** Lists what a restore would change. It changes and stores nothing. */
import { tipRef } from '../../filter/agent-refs.ts';
import { previewGit } from '../../folders/git-state/put-back.ts';
import { describeLeft, type RefMove } from '../../folders/git-state/ref-plan.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata } from '../../snapshot/manifest.ts';
import { readAmbiguousFolders, shownPath } from '../session-paths.ts';
import { committedSince, contentToRestore } from './committed-files.ts';
import { differsInIndex } from './differences.ts';
import { previewHead } from './git-dir-of-session.ts';
import { keepIgnored, listIgnored, withObstructed } from './ignored-files.ts';
import { describeLater, laterCommits } from './later-commits.ts';
import { NO_CHANGES, type OthersChanges, othersChanges, othersRefs } from './others-changes.ts';
import { type Position, readPosition } from './position.ts';
import { withScratchSnapshot } from './present.ts';
import { type ChangedPath, describePlan, ignoredStay, pathsOf, planFrom } from './restore-files.ts';
import { type Distance, readSteps } from './steps.ts';
import {
  placeForRestore,
  type RestoreRequest,
  refuseTarget,
  unfinishedTarget,
} from './unfinished-restore.ts';

export interface Preview {
  readonly record: SessionRecord;
  readonly snapshot: Snapshot;
  readonly paths: readonly ChangedPath[];
  /** The folder is as in the snapshot. */
  readonly isThere: boolean;
  /** The index goes back, and nothing else. */
  readonly isIndexAlone: boolean;
  /** The session has no folder, and gets one again. */
  readonly isBack: boolean;
  /** Commits that come back after the snapshot. */
  readonly later: string | undefined;
  /** Refs that would go back: those of the session, or of the user's repository. */
  readonly moves: readonly RefMove[];
  /** Why some do not. */
  readonly staying: readonly string[];
  /** Files that stay as somebody has committed them since. */
  readonly committed: readonly string[];
  /** Of an undo or a redo. */
  readonly position?: Position;
  /** For an undo: what no agent has done. */
  readonly others: OthersChanges;
}

export async function previewRestore(
  session: Session,
  request: RestoreRequest,
  distance?: Distance,
): Promise<Preview> {
  await placeForRestore(session, request);
  const { now, by } = request;
  const resumed = await unfinishedTarget(session, request);
  const describe = async (seen: Session, captured: string | undefined) => {
    const found = await preview(seen, captured, request);
    if (by === 'restore' || distance === undefined || found.isBack) return found;
    return { ...found, position: await readPosition(seen, by, distance, found.snapshot, true) };
  };
  return withScratchSnapshot(session, now, describe, resumed && { unfinished: resumed.commit });
}

async function preview(
  session: Session,
  captured: string | undefined,
  request: RestoreRequest,
): Promise<Preview> {
  const { git, record } = session;
  const isHere = session.place === 'here';
  const snapshot = (await unfinishedTarget(session, request)) ?? (await request.choose(session));
  await refuseTarget(session, snapshot, request);
  const wanted = await contentToRestore(session, snapshot, captured, request.by);
  const isIgnored = isHere ? await listIgnored(session, snapshot.commit) : undefined;
  const whole = await planFrom(session, { captured, wanted, scope: request.scope });
  const plan = keepIgnored(whole, isIgnored, session);
  const planned = isIgnored === undefined ? plan : withObstructed(record, plan);
  const trees = [snapshot.commit, captured].filter((commit) => commit !== undefined);
  const ambiguous = await readAmbiguousFolders(git, trees);
  const kept = isAttached(record) ? whole.deletions.filter((path) => isIgnored?.(path) === true) : [];
  const isWhole = request.scope.includes('sandbox') && request.filesOnly !== true;
  const { moves, staying, isOther } = isWhole
    ? await previewMoves(session, captured, snapshot, request)
    : NO_MOVES;
  const others =
    request.by !== 'undo' || captured === undefined
      ? NO_CHANGES
      : await othersChanges(session, { from: captured }, snapshot.commit, wanted.commit);
  const tip = await findObject(git, tipRef(session.id));
  const known = (commit: string | undefined) => (commit === tip || commit !== captured ? commit : undefined);
  const later = isHere ? undefined : await laterCommits(session, snapshot, request);
  return {
    record,
    snapshot,
    paths: describePlan(planned, ambiguous),
    isThere: captured === snapshot.commit || (request.by === 'restore' && (await isAsIn(session, snapshot))),
    isIndexAlone:
      isWhole &&
      !isOther &&
      captured !== undefined &&
      pathsOf(plan).length + moves.length === 0 &&
      (await differsInIndex(git, captured, snapshot.commit)),
    isBack: captured === undefined,
    later: later && describeLater(record, later),
    moves,
    committed: await committedSince(session, snapshot, wanted.commit),
    staying: [...staying, ...ignoredStay(kept.map((path) => shownPath(path, ambiguous)))],
    others: {
      ...others,
      paths: new Map([...others.paths].map(([path, one]) => [path, { ...one, commit: known(one.commit) }])),
    },
  };
}

/** Apart from names and labels. `session`: its newest snapshot is of now. */
export async function isAsIn(session: Session, snapshot: Snapshot): Promise<boolean> {
  const { history, isSame } = await readSteps(session);
  return session.place === 'here' && isSame(history[0] ?? snapshot, snapshot);
}

interface Moves extends Pick<Preview, 'moves' | 'staying'> {
  /** Another repository is there, and stays with its index. */
  readonly isOther: boolean;
}

const NO_MOVES: Moves = { moves: [], staying: [], isOther: false };

async function previewMoves(
  session: Session,
  captured: string | undefined,
  snapshot: Snapshot,
  { by }: RestoreRequest,
): Promise<Moves> {
  const { git, record } = session;
  if (!isAttached(record)) {
    if (captured === undefined || session.place !== 'here') return NO_MOVES;
    const now = await readSnapshotMetadata(git, captured);
    const to = await readSnapshotMetadata(git, snapshot.commit);
    const { moves, warnings: staying } = await previewHead(session, snapshot, now, to);
    return { moves, staying, isOther: false };
  }
  const isNamed = by === 'restore';
  const others = await othersRefs(session, { from: captured, isUndo: !isNamed }, snapshot.commit);
  const plan = await previewGit(session, snapshot.commit, { ...others, isNamed });
  return { moves: plan.moves, staying: describeLeft(plan), isOther: plan.other !== undefined };
}
