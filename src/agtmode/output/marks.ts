/** The text of agt review: the hunks that were marked, and what becomes of the rejected ones. */
import { displayPath } from '../../disk/path-bytes.ts';
import { listSome, plural } from '../../errors.ts';
import type { Marked, ReviewHunk } from '../../review/review.ts';
import type { Way } from '../../review/state.ts';
import { lines, showPath, verb } from './format.ts';

export function describeMarks({ marked }: Marked, as: ReviewHunk['state'], dryRun: boolean): string {
  const files = new Set(marked.map(({ path }) => path)).size;
  const word = as === 'rejected' ? verb(dryRun, 'rejected', 'reject') : verb(dryRun, 'marked', 'mark');
  return `${word} ${plural(marked.length, 'hunk')} in ${plural(files, 'file')}${as === 'rejected' ? '' : ` as ${as}`}`;
}

/** What becomes of hunks that were rejected in this session. */
export function describeFate(id: string, { marked: { length } }: Marked, way: Way): string {
  if (length === 0) return '';
  const [they, go, them] = length === 1 ? ['it', 'goes', 'it'] : ['they', 'go', 'them'];
  if (way === 'now') return ` and took ${them} back`;
  if (way === 'tell') return `; the agent reads ${them} with your next prompt`;
  return `; ${they} ${go} when the agent ends its turn, or now: agt review ${id} --now`;
}

export function warningsOf({ missing, waiting }: Pick<Marked, 'missing' | 'waiting'>): string {
  const paths = listSome(waiting.map(displayPath).map(showPath), MOST_PATHS);
  return lines([
    missing.length > 0 && `warning: ${plural(missing.length, 'hunk')} changed meanwhile, and stay new`,
    waiting.length > 0 && `warning: not marked before the files whose place they take: ${paths}`,
  ]);
}

const MOST_PATHS = 10;
