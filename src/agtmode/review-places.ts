/** The places that a person names for agt review: a file, a directory, or a line of a file. */
import { type AgtError, usageError } from '../errors.ts';
import { shellQuote } from '../process/shell-quote.ts';
import { listHunks, type ReviewHunk } from '../review/review.ts';
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

export function isAt({ whole, path, line }: Place, hunk: ReviewHunk): boolean {
  return isUnder(hunk.path, [whole]) || (line !== undefined && hunk.path === path && hasLine(hunk, line));
}

/** None of the hunks that were wanted is at the place. */
export async function nothingAt(
  session: Session,
  place: Place,
  wanted: readonly ReviewHunk[],
  args: Readonly<Record<'new' | 'reject', readonly string[] | undefined>> & { readonly now: boolean },
  now: Date,
): Promise<AgtError> {
  const { id } = session;
  const { given, whole, path, line } = place;
  const all = await listHunks(session, { now, withSeen: true, isSplit: line !== undefined });
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
      args.now && state === 'rejected'
        ? `take all such hunks back: agt review ${id} --now`
        : `first: agt review ${id} --new ${shellQuote(given)}${only}`,
    );
  }
  const see = `see: agt review ${id} --json`;
  if (!all.some((one) => isUnder(one.path, [whole, path])))
    return usageError(`no change in ${shown.replace(line === undefined ? '' : /:\d+$/, '')}`, see);
  const sought = args.new === undefined ? 'new' : 'marked';
  const near = nearestLine(
    wanted.filter((one) => one.path === path),
    line,
  );
  return usageError(
    `nothing ${sought} in ${shown}`,
    near === undefined ? see : `the nearest ${sought} hunk: ${given.replace(/\d+$/, `${near}`)}`,
  );
}

/** One byte per character. */
export function inSandbox({ cwd }: Context, { record }: Session, path: string): string {
  return pathInSession(record, path, cwd, new Set()).replace(/^sandbox\/?/, '');
}

/** Where lines were only deleted, the line that follows them counts. */
function hasLine({ kind, pieces }: ReviewHunk, line: number): boolean {
  if (kind === 'file') return true;
  return pieces.some(({ piece: { newAt, added } }) => {
    return line > newAt && line <= newAt + Math.max(added.length, 1);
  });
}

/** A changed one. */
function nearestLine(hunks: readonly ReviewHunk[], line = 0): number | undefined {
  const changed = hunks.flatMap(({ kind, pieces }) =>
    kind !== 'lines'
      ? []
      : pieces.flatMap(({ piece: { newAt, added } }) => [newAt + 1, newAt + Math.max(added.length, 1)]),
  );
  return changed.toSorted((a, b) => Math.abs(a - line) - Math.abs(b - line))[0];
}
