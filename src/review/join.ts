/**
 * The marks that two repositories have made in one session. All of them count. Where both say something about a piece, the
 * newer ones count; the time is that of the last mark.
 */
import { gitText } from '../git/run/git.ts';
import { withWorkbench } from '../landing/workbench.ts';
import type { Session } from '../session/session.ts';
import { piecesOf, readHunks, treeWith, withoutObstructed } from './hunks.ts';
import { indexIn, join3, moveTo, stateIn, storeState } from './state.ts';

/** `ours` and `theirs` are commits, as the one that it returns. The session goes on from where theirs is. */
export async function joinMarks(
  { repository, id, record }: Session,
  ours: string,
  theirs: string,
): Promise<string> {
  if (ours === theirs) return theirs;
  const { git } = repository;
  const [mine, other] = await Promise.all(
    [ours, theirs].map((commit) => stateIn(git, commit, id).catch(() => undefined)),
  );
  if (mine === undefined || other === undefined) return mine === undefined ? theirs : ours;
  const timeOf = async (commit: string) => Number(await gitText(git, ['show', '-s', '--format=%ct', commit]));
  const isNewer = (await timeOf(ours)) > (await timeOf(theirs));
  const place = { ref: record.user_branch ?? record.work_branch, dryRun: false };
  return withWorkbench(repository, place, async (bench) => {
    const { base, landed: source, merged } = other;
    const moved = await moveTo(bench, mine, { base, source, there: source ?? base, merged });
    const [newer, older] = isNewer ? [moved, other] : [other, moved];
    const both = await join3(bench, { base, ours: newer.seen, theirs: older.seen });
    const added = piecesOf(await readHunks(bench.git, newer.seen, both));
    const refused = new Set(newer.rejected.filter(({ state }) => state !== 'gone').map((one) => one.id));
    const unrefused = added.filter((piece) => !refused.has(piece.id));
    const chosen = withoutObstructed(unrefused, added);
    const seen = await treeWith(indexIn(bench), newer.seen, chosen, added);
    const known = new Set(newer.rejected.map((one) => one.id));
    const rejected = [...older.rejected.filter((one) => !known.has(one.id)), ...newer.rejected];
    return storeState(git, { ...other, seen, rejected });
  });
}
