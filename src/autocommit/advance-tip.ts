/**
 * git moves the tip and the shadow branch one after the other. If it could not move the tip, the branch alone leads to
 * the newest snapshot. Then the tip follows.
 */
import { type Git, gitAnswer, gitText } from '../git/run/git.ts';
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
  const format = '--format=%P%x00%(trailers:key=Agt-Session,valueonly,separator=%x20)';
  const listed = await gitAnswer(git, ['log', '--first-parent', format, `${tip}..${shadow}`, '--']);
  const commits = (listed ?? '').split('\n').map((line) => line.split('\0'));
  const [lastParents = ''] = commits.at(-1) ?? [];
  return lastParents.split(' ')[0] === tip && commits.every(([, session]) => session === target.sessionId);
}
