/**
 * Brings back ignored files of the user that the agent has committed: git deletes them when it leaves the agent's branch.
 * Killed in between, it can be done again.
 */
import { failurePoint } from '../../disk/failure-point.ts';
import { resolveObject } from '../../git/run/git.ts';
import { readHistory } from '../../snapshot/history.ts';
import { snapshotRefs } from '../record.ts';
import { type InPlace, lstatIn } from './checkout.ts';
import { blockerOf, changedPaths, readVersions, sweepTemporary, write } from './user-files.ts';

/** Before the user's other work comes back. A file that the user's branch has now stays as it is there. */
export async function putIgnoredBack({ git, record, checkout }: InPlace): Promise<void> {
  const history = await readHistory(git, snapshotRefs(record));
  const [first, last] = [history.at(-1), history[0]];
  const committed = new Set<string>();
  for (const name of [record.work_branch, last?.head]) {
    const commit = name === undefined ? undefined : await resolveObject(git, `${name}^{commit}`);
    const added = commit === undefined ? [] : await changedPaths(git, record.from_commit, commit, 'A');
    for (const path of added) committed.add(path);
  }
  sweepTemporary(checkout, [...committed]);
  const gone = [...committed].filter(
    (path) => lstatIn(checkout, path) === undefined && blockerOf(checkout, path) === undefined,
  );
  if (first === undefined || gone.length === 0) return;
  for (const one of await readVersions(git, first.commit, gone)) {
    if (one.file !== undefined) write(checkout, one);
    failurePoint('in place: ignored file put back');
  }
}
