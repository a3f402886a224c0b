/** At the end of a session: the user's work that comes back, if it was in place, and the agent's stash. */
import { displayPath } from '../../disk/path-bytes.ts';
import { plural } from '../../errors.ts';
import { readUsersSide } from '../../lifecycle/in-place/users-side.ts';
import type { Session } from '../../session/session.ts';
import { stashEntries } from '../../session/stash.ts';
import { listPaths, verb } from './format.ts';

/** To read before the end, and to print after it. */
export async function besideTheEnd(session: Session, dryRun: boolean): Promise<string | undefined> {
  const { length: stashed } = await stashEntries(session);
  const found = [
    await broughtBack(session, dryRun),
    stashed > 0 &&
      `stash    ${plural(stashed, 'stashed change')} in its snapshots; agt undo ${session.id} brings it back`,
  ];
  return found.filter(Boolean).join('\n') || undefined;
}

/** Undefined if nothing was set aside. */
export async function broughtBack({ git, record }: Session, dryRun: boolean): Promise<string | undefined> {
  const side = record.checkout === undefined ? undefined : await readUsersSide(git, record);
  if (side === undefined || side.isGiven) return undefined;
  const paths = [...side.changed, ...side.untracked].map(displayPath).sort();
  if (paths.length === 0) return undefined;
  const brought = verb(dryRun, 'brought', 'bring');
  return `${brought} back your uncommitted work in ${record.checkout}: ${listPaths(paths, MOST_LISTED)}`;
}

const MOST_LISTED = 5;
