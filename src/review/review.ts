/**
 * `agt review`: the hunks of a session that nobody has seen yet, and marks on them. They are the difference between what
 * was seen and the session as `agt accept` would land it.
 */
import { createHash } from 'node:crypto';
import { displayPath } from '../disk/path-bytes.ts';
import { AgtError } from '../errors.ts';
import { SUBMODULE } from '../git/modes.ts';
import { diffTrees } from '../git/objects/raw-diff.ts';
import { type Git, runGitOnTerminal } from '../git/run/git.ts';
import { withoutDiffPrograms } from '../git/run/programs.ts';
import { changedSince } from '../landing/accept.ts';
import { leaveOut } from '../landing/path-filter.ts';
import { readSandbox } from '../landing/sandbox-content.ts';
import { withoutFailedCalls } from '../landing/snapshot-step.ts';
import { untrackedAmong } from '../landing/untracked.ts';
import { usersOwn } from '../landing/users-side.ts';
import { type Workbench, withWorkbench } from '../landing/workbench.ts';
import { withSessionLock } from '../session/lock.ts';
import type { Session } from '../session/session.ts';
import {
  type Hunk,
  linesBetween,
  type Piece,
  piecesOf,
  readHunks,
  readUnderOldNames,
  renamesAmong,
  splitHunk,
  treeWith,
  withoutObstructed,
} from './hunks.ts';
import {
  indexIn,
  moveTo,
  type Rejection,
  type ReviewState,
  readStarts,
  readState,
  type Way,
  writeState,
} from './state.ts';
import { turnsOfHunks } from './turns-of-hunks.ts';

export interface ReviewHunk extends Hunk {
  readonly id: string;
  readonly kind: Piece['kind'];
  readonly state: 'new' | 'seen' | 'rejected';
  /** The words of a person who has rejected these lines; for a new hunk, they have come again. */
  readonly sentence: string | undefined;
  /** Numbers of the turns that wrote it; undefined unless somebody asked for them. */
  readonly turns: readonly number[] | undefined;
  /** The other half of a renamed file; marks are on both. */
  readonly partner?: Piece | undefined;
  /** Of the new name: the lines that differ from the old one. */
  readonly renamed?: readonly string[];
}

/** A renamed file is one change, under its new name. */
export function asOneChange(hunks: readonly ReviewHunk[]): ReviewHunk[] {
  return hunks.filter((hunk) => hunk.partner === undefined || firstOf(hunk).file.after !== undefined);
}

/** The session as it is now. */
export interface Review {
  readonly state: ReviewState;
  /** The tree that would land. */
  readonly work: string;
  /** Readable paths of changes by failed calls, which it does not have. */
  readonly failed: readonly string[];
  /** The tree from which marks count: what the user branch has of the session, else where its work begins. */
  readonly begun: string;
  /** The hunks that were not seen. */
  readonly open: readonly ReviewHunk[];
  /** Runs in the sandbox. */
  readonly git: Git;
  readonly bench: Workbench;
  readonly index: Git;
}

/** `writes`: new objects go into the repository. */
export function withReview<T>(
  session: Session,
  { writes, now }: { readonly writes: boolean; readonly now: Date },
  action: (review: Review) => Promise<T>,
): Promise<T> {
  const { repository, record, sandboxGit } = session;
  const ref = record.user_branch ?? record.work_branch;
  return withWorkbench(repository, { ref, dryRun: !writes }, async (bench) => {
    const { work, failed, starts } = await readWork(session, bench, now);
    const { base, there, merged } = starts;
    const begun = record.landed?.onto === record.user_branch ? there : base;
    const known = (await readState(session)) ?? { base, seen: base, merged, rejected: [] };
    const moved = await moveTo(bench, known, starts);
    const git = { ...sandboxGit, env: { ...sandboxGit.env, ...bench.objects } };
    const hunks = await readHunks(git, moved.seen, work);
    const index = indexIn(bench);
    const before = moved.rejected.filter(({ state }) => state !== 'gone');
    const marks = { seen: moved.seen, tree: work, rejected: before, hunks };
    const { ids } = await readUnderOldNames(git, index, marks);
    const ifThere = (one: Rejection): Rejection => (ids.has(one.id) ? one : { ...one, state: 'gone' });
    const rejected = moved.rejected.map(ifThere);
    const sentences = new Map(rejected.map(({ id, sentence }) => [id, sentence]));
    const standing = new Set(rejected.filter((one) => one.state !== 'gone').map(({ id }) => id));
    const partners = await renamesAmong(git, moved.seen, work, hunks);
    const isApart = (a: Piece, b: Piece) => standing.has(a.id) !== standing.has(b.id);
    const open = hunks
      .flatMap((hunk) => splitHunk(hunk, isApart))
      .map((hunk) => {
        const { id } = firstOf(hunk);
        const sentence = piecesOf([hunk]).flatMap((piece) => sentences.get(piece.id) ?? [])[0];
        return { ...shown(hunk, standing.has(id) ? 'rejected' : 'new', sentence), partner: partners.get(id) };
      });
    return action({ state: { ...moved, rejected }, work, failed, begun, open, git, bench, index });
  });
}

/** The session as it would land. */
async function readWork(session: Session, bench: Workbench, now: Date) {
  const content = await readSandbox(session, bench);
  const hasFailed = (await session.history()).some(({ call }) => call?.outcome === 'failed');
  const newer = hasFailed ? await changedSince(session, now) : new Set<string>();
  const { tree, leftOut: failed } = await withoutFailedCalls(session, bench, content, newer);
  const starts = await readStarts(session, bench, { ...content, tree });
  const { isUsers } = await usersOwn(session);
  const changes = await diffTrees(bench.git, starts.base, tree, { countLines: false });
  const isLeft = session.repository.settings.untracked === 'none';
  const untracked = new Set(isLeft ? await untrackedAmong(session, changes) : []);
  const left = changes.filter((change) => isUsers(change) || untracked.has(change.path));
  return { work: (await leaveOut(bench, tree, left)).tree, failed, starts };
}

async function readSeen(git: Git, begun: string, { seen }: ReviewState): Promise<ReviewHunk[]> {
  const hunks = await readHunks(git, begun, seen);
  const partners = await renamesAmong(git, begun, seen, hunks);
  return hunks.map((hunk) => ({ ...shown(hunk, 'seen'), partner: partners.get(firstOf(hunk).id) }));
}

function firstOf({ pieces }: Hunk): Piece {
  return (pieces[0] as Hunk['pieces'][number]).piece;
}

function shown(hunk: Hunk, state: ReviewHunk['state'], sentence?: string): ReviewHunk {
  const { id: first, kind } = firstOf(hunk);
  const ids = piecesOf([hunk]).map(({ id }) => id);
  const joined = () => createHash('sha1').update(ids.join(' ')).digest('hex').slice(0, first.length);
  return { ...hunk, id: ids.length === 1 ? first : joined(), kind, state, sentence, turns: undefined };
}

export interface ListRequest {
  readonly now: Date;
  /** Also those that were seen. */
  readonly withSeen?: boolean;
  /** Find out which turns wrote them. */
  readonly withTurns?: boolean;
  /** Rows of changed lines apart from each other, however near they are. */
  readonly isSplit?: boolean;
}

/** Changes nothing. In the order of paths. */
export function listHunks(session: Session, request: ListRequest): Promise<ReviewHunk[]> {
  const { now, withSeen = false, withTurns = false, isSplit = false } = request;
  return withReview(session, { writes: false, now }, async ({ state, begun, open, git, bench }) => {
    const all = [...open, ...(withSeen ? await readSeen(git, begun, state) : [])];
    const hunks = isSplit ? all.flatMap((hunk) => (hunk.partner ? [hunk] : splitShown(hunk))) : all;
    const turns = withTurns ? await turnsOfHunks(session, bench, hunks) : [];
    const told = await Array.fromAsync(hunks, async (hunk, i) => {
      const [before, after] = [hunk.partner?.file.before, hunk.pieces[0]?.piece.file.after];
      const renamed = before && after && { renamed: await linesBetween(git, before.oid, after.oid) };
      return { ...hunk, turns: turns[i], ...renamed };
    });
    return told.toSorted((a, b) => (a.path === b.path ? a.newStart - b.newStart : a.path < b.path ? -1 : 1));
  });
}

/** git prints these hunks as a diff, with the user's colours and pager. Returns its exit code. */
export function showNew(session: Session, ids: readonly string[], now: Date): Promise<number> {
  return withReview(session, { writes: false, now }, async ({ state, work, open, git, index }) => {
    const shown = new Set(piecesOf(findHunks(open, ids).hunks));
    const all = piecesOf(open);
    const others = all.filter((piece) => !shown.has(piece));
    const from = await treeWith(index, state.seen, withoutObstructed(others, all), all);
    return runGitOnTerminal(git, ['diff', ...withoutDiffPrograms(git), '--no-ext-diff', from, work, '--']);
  });
}

/** The parts have the turns of the whole. */
export function splitShown(hunk: ReviewHunk): ReviewHunk[] {
  return splitHunk(hunk).map((part) => ({ ...shown(part, hunk.state, hunk.sentence), turns: hunk.turns }));
}

export interface Marked {
  readonly marked: readonly ReviewHunk[];
  /** Ids of hunks that are not there any more: somebody has changed or marked them since. */
  readonly missing: readonly string[];
  /** Paths of files that come in the place of others, whose end has to be marked as well. */
  readonly waiting: readonly string[];
}

/** `ids` are of hunks, or of the parts of a split one. */
export function markSeen(session: Session, ids: readonly string[], now: Date): Promise<Marked> {
  return change(session, now, async ({ state, open, index }) => {
    const { hunks, missing } = findHunks(open, ids);
    const [found, all] = [piecesOf(hunks), piecesOf(open)];
    const chosen = withoutObstructed(found, all);
    const seen = await treeWith(index, state.seen, chosen, all);
    const waiting = found.filter((piece) => !chosen.includes(piece)).map(({ file }) => file.path);
    const rejected = withoutThose(state, chosen);
    return { state: { ...state, seen, rejected }, result: { marked: hunks, missing, waiting } };
  });
}

/** Takes marks and rejections back. */
export function markNew(session: Session, ids: readonly string[], now: Date): Promise<Marked> {
  return change(session, now, async ({ state, begun, open, index, git }) => {
    const own = await readSeen(git, begun, state);
    const { hunks, missing } = findHunks([...own, ...open.filter((hunk) => hunk.state === 'rejected')], ids);
    const pieces = piecesOf(hunks.filter((hunk) => hunk.state === 'seen'));
    const seen = await treeWith(index, state.seen, pieces, piecesOf(own), true);
    const rejected = withoutThose(state, piecesOf(hunks));
    return { state: { ...state, seen, rejected }, result: { marked: hunks, missing, waiting: [] } };
  });
}

/** No snapshot has the files of one. @throws AgtError */
export function refuseSubmodules(hunks: readonly ReviewHunk[]): void {
  const found = piecesOf(hunks).find(({ file }) =>
    [file.before, file.after].some((version) => version?.mode === SUBMODULE),
  );
  if (found === undefined) return;
  throw new AgtError(`agt cannot take back the change of submodule "${displayPath(found.file.path)}"`, {
    hints: ['nothing is rejected; tell the agent instead: --tell'],
  });
}

/** Only notes it: `takeRejectedBack` acts. */
export function markRejected(
  session: Session,
  ids: readonly string[],
  { sentence, way }: { readonly sentence: string; readonly way: Way },
  now: Date,
): Promise<Marked> {
  return change(session, now, async ({ state, open }) => {
    const { hunks, missing } = findHunks(open, ids);
    if (way !== 'tell') refuseSubmodules(hunks);
    const added = hunks.flatMap(({ path, lines, pieces }) =>
      pieces.map(({ piece: { id, newAt }, from, to }): Rejection => {
        return { id, path, line: newAt + 1, lines: lines.slice(from, to), sentence, way, state: 'pending' };
      }),
    );
    const rejected = [...withoutThose(state, piecesOf(hunks)), ...added];
    return { state: { ...state, rejected }, result: { marked: hunks, missing, waiting: [] } };
  });
}

function withoutThose({ rejected }: ReviewState, pieces: readonly Piece[]): Rejection[] {
  const ids = new Set(pieces.map(({ id }) => id));
  return rejected.filter(({ id }) => !ids.has(id));
}

/** A hunk of which only some parts are named is split. */
function findHunks(hunks: readonly ReviewHunk[], ids: readonly string[]) {
  const partners = hunks.flatMap(({ id, partner }) => (partner && ids.includes(id) ? partner.id : []));
  const wanted = new Set([...ids, ...partners]);
  const found = hunks.flatMap((hunk) =>
    wanted.has(hunk.id) ? [hunk] : splitShown(hunk).filter(({ id }) => wanted.has(id)),
  );
  const known = new Set(found.map(({ id }) => id));
  return { hunks: found, missing: ids.filter((id) => !known.has(id)) };
}

/** Nobody else marks meanwhile, and nothing is written if nothing has changed. */
export function change<T>(
  session: Session,
  now: Date,
  action: (review: Review) => Promise<{ readonly state: ReviewState; readonly result: T }>,
): Promise<T> {
  return withSessionLock(session, (locked) =>
    withReview(locked, { writes: true, now }, async (review) => {
      const { state, result } = await action(review);
      await writeState(locked, state);
      return result;
    }),
  );
}
