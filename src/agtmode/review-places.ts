/** The places that a person names for agt review: a file, a directory, or a line of a file. */
import { displayPath } from '../disk/path-bytes.ts';
import { type AgtError, usageError } from '../errors.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { listHunks, type ReviewHunk, withReview } from '../review/review.ts';
import type { Session } from '../session/session.ts';
import { isUnder } from '../snapshot/folders.ts';
import { pathInSession } from '../timetravel/session-paths.ts';
import type { Context } from './context.ts';
import { showPath } from './output/format.ts';

interface Place {
  readonly given: string;
  /** All of `given` as a path; one byte per character. */
  readonly whole: string;
  /** Without the line. */
  readonly path: string;
  readonly line: number | undefined;
}

export function placeIn(context: Context, session: Session, given: string): Place {
  const [, path = given, line] = /^(.*):(\d+)$/s.exec(given) ?? [];
  return {
    given,
    whole: inSandbox(context, session, given),
    path: inSandbox(context, session, path),
    line: line === undefined ? undefined : Number(line),
  };
}

export function isAt({ whole, path, line = 0 }: Place, hunk: ReviewHunk): boolean {
  const [first, last] = linesOf(hunk);
  return isBelow(hunk.path, [whole]) || (hunk.path === path && line >= first && line <= last);
}

/** Readable paths. A review has none of these changes, as an acceptance has none. */
export async function changedByFailed(session: Session, now: Date): Promise<readonly string[]> {
  if (!(await session.history()).some(({ call }) => call?.outcome === 'failed')) return [];
  return withReview(session, { writes: false, now }, async ({ failed }) => failed);
}

/** None of the hunks that were wanted is at the place. */
export async function nothingAt(
  session: Session,
  place: Place,
  wanted: readonly ReviewHunk[],
  args: Readonly<Record<'new' | 'reject', readonly string[] | undefined> & Record<'now' | 'split', boolean>>,
  now: Date,
): Promise<AgtError> {
  const { id } = session;
  const { given, whole, path, line } = place;
  const all = await listHunks(session, { now, withSeen: true, isSplit: args.split });
  const shown = showPath(given);
  const there = all.filter((one) => isAt(place, one));
  const mark = args.reject !== undefined && !args.now ? 'seen' : 'rejected';
  const others = there.filter(({ state }) => state === mark);
  const isPart = others.length > 0 && others.length < there.length;
  const state = others.length > 0 ? mark : there[0]?.state;
  if (state !== undefined && args.new === undefined) {
    const verb = others.length === 1 ? 'is' : 'are';
    const only = isPart ? ` --hunk ${others.map((one) => one.id).join(' ')}` : '';
    return usageError(
      isPart
        ? `${others.length} of ${there.length} hunks of ${shown} ${verb} ${state}`
        : `${shown} is marked as ${state}`,
      `first: agt review ${id} ${args.split ? '--split ' : ''}--new${given.startsWith('-') ? '=' : ' '}${shellQuote(given)}${only}`,
    );
  }
  const see = `see: agt review ${id} --json`;
  if (!all.some((one) => isBelow(one.path, [whole, path]))) {
    const failed = await changedByFailed(session, now);
    const isOut = failed.some((one) => isBelow(one, [whole, path].map(displayPath)));
    const file = shown.replace(line === undefined ? '' : /:\d+$/, '');
    if (!isOut) return usageError(`no change in ${file}`, see);
    const take = `take them too: agt accept ${id} --with-failed`;
    return usageError(`${file}: changes by failed calls stay out`, take);
  }
  const sought = args.new === undefined ? 'new' : 'marked';
  const inFile = wanted.filter((one) => one.path === path);
  const near = nearestLine(inFile, line);
  const otherwise = inFile.length > 0 ? 'leave out the line' : see;
  return usageError(
    `nothing ${sought} in ${shown}`,
    near === undefined ? otherwise : `the nearest ${sought} hunk: ${given.replace(/\d+$/, `${near}`)}`,
  );
}

/** One byte per character; empty for the sandbox itself. @throws AgtError for no words, as a variable may have */
export function inSandbox({ cwd }: Context, { record }: Session, path: string): string {
  if (path === '') throw usageError('a path is empty', 'for all below a directory, name it; here: .');
  return pathInSession(record, path, cwd, new Set()).replace(/^sandbox\/?/, '');
}

/** `places` are as `inSandbox` returns them. */
export function isBelow(path: string, places: readonly string[]): boolean {
  return places.includes('') || isUnder(path, places);
}

/** The first and the last line that it shows, also unchanged ones; of a deleted file, those that it had. */
export function linesOf({ kind, newStart, lines, partner, pieces }: ReviewHunk): [number, number] {
  if (partner !== undefined) return [1, Number.POSITIVE_INFINITY]; // no line of it is a change of its own
  const isGone = kind === 'file' && pieces[0]?.piece.file.after === undefined;
  const { length } = lines.filter((line) => line[0] === ' ' || line[0] === (isGone ? '-' : '+'));
  return [newStart, newStart + Math.max(length, kind === 'file' ? 0 : 1) - 1];
}

function nearestLine(hunks: readonly ReviewHunk[], line = 0): number | undefined {
  const ends = hunks.flatMap((hunk) => (hunk.lines.length > 0 ? linesOf(hunk) : []));
  return ends.toSorted((a, b) => Math.abs(a - line) - Math.abs(b - line))[0];
}
