/** Puts agt's own ref to the last snapshot right: if somebody deleted it, and if it is behind the shadow branch. */
import { readCommits } from '../git/objects/commits.ts';
import { type Git, gitAnswer, gitText, isAncestor, resolveObject } from '../git/run/git.ts';
import { parseSnapshot } from '../snapshot/history.ts';
import { loadStatCache } from './last-snapshot.ts';
import type { CaptureTarget } from './request.ts';
import { LostTip, type RefsAtStart } from './starting-refs.ts';

/** Returns a warning. */
export async function recreateTip(git: Git, target: CaptureTarget): Promise<string> {
  const last = await findLastSnapshot(git, target);
  const commit = last ?? (await commitToBeginAt(git, target));
  const refs = await Promise.all(
    [target.tipRef, target.shadowRef].map((ref) => replacementFor(git, ref, commit)),
  );
  await gitText(git, ['update-ref', '--stdin'], { input: refs.join('') });
  const problem = `${target.tipRef} was missing`;
  return last === undefined
    ? `${problem}, and agt found no snapshot of the session; a new history begins`
    : `${problem}; agt made it again from the last snapshot, ${last.slice(0, 10)}`;
}

/** A line for update-ref; empty if the ref leads to a commit. It may lead to a commit that is gone. */
async function replacementFor(git: Git, ref: string, commit: string): Promise<string> {
  if ((await resolveObject(git, `${ref}^{commit}`)) !== undefined) return '';
  const gone = await resolveObject(git, ref);
  return gone === undefined ? `create ${ref} ${commit}\n` : `update ${ref} ${commit} ${gone}\n`;
}

/** The shadow branch and the stat cache name it. */
async function findLastSnapshot(git: Git, target: CaptureTarget): Promise<string | undefined> {
  const named = [target.shadowRef, loadStatCache(target).cache?.commit ?? ''];
  const [shadow, seen] = await Promise.all(named.map((name) => findSnapshot(git, target, name)));
  if (shadow === undefined || seen === undefined) return shadow ?? seen;
  const isOlder = await isAncestor(git, shadow, seen);
  return isOlder ? seen : shadow;
}

/** Undefined if `name` is no snapshot of this session. */
async function findSnapshot(git: Git, target: CaptureTarget, name: string): Promise<string | undefined> {
  if (name === '') return undefined;
  const commit = await resolveObject(git, `${name}^{commit}`);
  if (commit === undefined) return undefined;
  const content = (await readCommits(git, [commit])).get(commit) ?? '';
  return parseSnapshot(commit, content).session === target.sessionId ? commit : undefined;
}

async function commitToBeginAt(git: Git, target: CaptureTarget): Promise<string> {
  for (const name of [target.startCommit, target.userRef]) {
    const commit = name === undefined ? undefined : await resolveObject(git, `${name}^{commit}`);
    if (commit !== undefined) return commit;
  }
  throw new LostTip(target);
}

/** If git could move the shadow branch, but not the tip, the tip follows. Whether agt has moved it. */
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
