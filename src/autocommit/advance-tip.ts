/**
 * git moves the tip and the shadow branch one after the other. If it could not move the tip, the branch alone leads to
 * the newest snapshot. Then the tip follows.
 */
import { readCommits } from '../git/objects/commits.ts';
import { type Git, gitAnswer, gitText } from '../git/run/git.ts';
import { parseSnapshot } from '../snapshot/history.ts';
import type { CaptureTarget } from './request.ts';
import type { RefsAtStart } from './starting-refs.ts';

/** Whether agt has moved the tip. */
export async function advanceTip(
  git: Git,
  target: CaptureTarget,
  { tip, shadow }: Pick<RefsAtStart, 'tip' | 'shadow'>,
): Promise<boolean> {
  if (shadow === undefined || shadow === tip || !(await isContinuation(git, target, tip, shadow)))
    return false;
  await gitText(git, ['update-ref', target.tipRef, shadow, tip]);
  return true;
}

/** Whether the branch has nothing but snapshots of this session since the tip. */
async function isContinuation(
  git: Git,
  target: CaptureTarget,
  tip: string,
  shadow: string,
): Promise<boolean> {
  const listed = await gitAnswer(git, ['rev-list', '--first-parent', `${tip}..${shadow}`, '--']);
  const oids = (listed ?? '').split('\n').filter((oid) => oid !== '');
  const contents = await readCommits(git, oids);
  const commits = oids.map((oid) => parseSnapshot(oid, contents.get(oid) ?? ''));
  return (
    commits.at(-1)?.parents[0] === tip &&
    commits.every(({ session, isDamaged }) => session === target.sessionId || isDamaged)
  );
}
