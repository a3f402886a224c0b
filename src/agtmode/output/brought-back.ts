/** The end of a session in place brings back the work of the user that was set aside at its beginning. */
import { displayPath } from '../../disk/path-bytes.ts';
import { readUsersSide } from '../../lifecycle/in-place/users-side.ts';
import type { Session } from '../../session/session.ts';
import { listPaths, verb } from './format.ts';

/** To read before the end, and to print after it. Undefined if nothing was set aside. */
export async function broughtBack({ git, record }: Session, dryRun: boolean): Promise<string | undefined> {
  const side = record.checkout === undefined ? undefined : await readUsersSide(git, record);
  if (side === undefined || side.isGiven) return undefined;
  const paths = [...side.changed, ...side.untracked].map(displayPath).sort();
  if (paths.length === 0) return undefined;
  const brought = verb(dryRun, 'brought', 'bring');
  return `${brought} back your uncommitted work in ${record.checkout}: ${listPaths(paths, MOST_LISTED)}`;
}

const MOST_LISTED = 5;
