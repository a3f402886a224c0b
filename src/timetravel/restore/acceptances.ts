/** Acceptances into the repository of an attached folder, which an undo leaves to agt unaccept. */
import { repositoryOf } from '../../folders/git-state/kept-repositories.ts';
import { capturedLogs, capturedRefs, differing } from '../../folders/git-state/read-state.ts';
import { resolveRef } from '../../folders/git-state/ref-plan.ts';
import { gitAnswer, inOtherRepository } from '../../git/run/git.ts';
import { agtDirectory } from '../../layout.ts';
import { landingsOf } from '../../session/landings.ts';
import { isAttached, type Landed, listRecords } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';

/** `id`: agt unaccept of this session takes it back. */
export function acceptancesHere(session: Session) {
  const places = isAttached(session.record) ? repositoryOf(folderOf(session)) : undefined;
  if (places === undefined) return [];
  const { records } = listRecords({ ...session.repository, agtDir: agtDirectory(places.commonDir) });
  return records.flatMap(({ session_id: id, landed }) =>
    landingsOf(landed).map((one) => ({ ...one, id: one === landed ? id : undefined })),
  );
}

/**
 * Acceptances between two snapshots, which are no step: agt unaccept takes them back. The refs and reflogs of the
 * snapshots tell, because two acts may have the same time, and a clock may go back. `tip`: where the branch is at the
 * later snapshot; `newest`: the last acceptance that it has there.
 */
export async function acceptedBetween(
  session: Session,
  earlier: string,
  later: string,
  known = acceptancesHere(session),
) {
  const branches = Map.groupBy(known, ({ onto }) => onto);
  if (branches.size === 0) return [];
  const { git } = session;
  const [before, after] = await Promise.all([earlier, later].map((one) => capturedRefs(git, one)));
  if (before === undefined || after === undefined) return [];
  const found = differing(before, after).map(async (ref) => {
    const [from, to] = [resolveRef(before, ref), resolveRef(after, ref)];
    const some = branches.get(ref);
    if (some === undefined || to === undefined) return [];
    const words = ['rev-list', to, ...(from === undefined ? [] : [`^${from}`]), '--'];
    const came = (await gitAnswer(inOtherRepository(git, folderOf(session)), words))?.split('\n') ?? [];
    const [log, newLog] = await Promise.all([earlier, later].map((one) => capturedLogs(git, one)));
    const isNew = ({ from: start, commit }: Landed) => {
      const line = `${start} ${commit} `;
      if (log?.get(ref)?.includes(line)) return false;
      return came.includes(commit) || newLog?.get(ref)?.includes(line) === true;
    };
    const accepted = some.filter(isNew);
    const newest = came.find((commit) => accepted.some((one) => one.commit === commit));
    return accepted.map((one) => ({ ...one, tip: after.get(ref), newest }));
  });
  return (await Promise.all(found)).flat();
}

export const folderOf = ({ record }: Session) => record.checkout ?? record.sandbox;
