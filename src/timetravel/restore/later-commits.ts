/**
 * Commits of the work branch that no snapshot leads to. A restore keeps them; and if the folder of the session was gone,
 * their files come back with those of the last snapshot.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readKnownRefs } from '../../autocommit/known-refs.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { plural } from '../../errors.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { shortBranch, shortOid } from '../../git/files/ref-files.ts';
import { SUBMODULE } from '../../git/modes.ts';
import { findObject } from '../../git/objects/object-reader.ts';
import { type DiffEntry, diffTrees, editsOf } from '../../git/objects/raw-diff.ts';
import { editIndex, withIndex } from '../../git/objects/scratch-index.ts';
import { withScratchObjects } from '../../git/objects/scratch-objects.ts';
import { fieldsOf, gitAnswer, gitBytes, gitText, isAncestor } from '../../git/run/git.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';
import type { Session } from '../../session/session.ts';
import type { LaterCommits } from '../../session/state.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import type { SnapshotManifest } from '../../snapshot/manifest.ts';
import { lstatIn } from '../session-paths.ts';
import type { RestoreRequest } from './unfinished-restore.ts';

/** Before the restore. Undefined unless the snapshot is the last one: no other stands for the session as it was. */
export async function laterCommits(
  session: Session,
  { commit, head }: Snapshot,
  { scope, filesOnly }: RestoreRequest,
): Promise<LaterCommits | undefined> {
  const { git, record } = session;
  if (!scope.includes('sandbox') || filesOnly === true || isAttached(record)) return undefined;
  const [last] = await session.history();
  const tip = await findObject(git, record.work_branch);
  if (![last?.commit, last?.restored].includes(commit) || head !== last?.head) return undefined;
  if (head === undefined || tip === undefined || head === tip) return undefined;
  if (!(await isAncestor(git, head, tip))) return undefined;
  const count = Number(await gitText(git, ['rev-list', '--count', tip, `^${head}`, '--']));
  return { head, tip, count };
}

export function describeLater({ work_branch }: SessionRecord, { tip, count }: LaterCommits): string {
  return `branch ${shortBranch(work_branch)} with ${plural(count, 'commit')} made after that snapshot, to ${shortOid(tip)}`;
}

/** The tip of the work branch, which a restore may move, if nothing that the snapshot before refers to leads to it. */
export async function unkeptWorkTip(session: Session): Promise<string[]> {
  const { repository, record } = session;
  const tip = await findObject(repository.git, record.work_branch);
  if (tip === undefined || (await lastSnapshotKeeps(session, tip))) return [];
  const kept = [record.branch, record.user_branch ?? record.from_commit];
  const missing = await gitAnswer(repository.git, ['rev-list', '--max-count=1', tip, '--not', ...kept, '--']);
  return missing === '' ? [] : [tip];
}

/** As HEAD or as the work branch; false if only git can tell. */
async function lastSnapshotKeeps(
  { git, repository: { agtDir }, record: { session_id: sessionId } }: Session,
  commit: string,
): Promise<boolean> {
  const known = readKnownRefs({ agtDir, sessionId });
  if (known?.tipManifest === undefined || known.tip !== (await findObject(git, tipRef(sessionId))))
    return false;
  const { head } = JSON.parse(known.tipManifest) as SnapshotManifest;
  return head.commit === commit || head.work === commit;
}

/** Their files, which are younger than those of the snapshot. Returns a warning for each that was different there. */
export async function bringLaterCommits(
  session: Session,
  { head, tip }: LaterCommits,
): Promise<readonly string[]> {
  const { repository, record, sandboxGit } = session;
  if ((await findObject(sandboxGit, record.work_branch)) !== head) return []; // agt was killed since
  const moveBranch = ['update-ref', '-m', 'agt: later commits', record.work_branch, tip, head];
  const onBranch = await gitAnswer(sandboxGit, ['symbolic-ref', '--quiet', 'HEAD']);
  if (onBranch !== record.work_branch) {
    await gitText(sandboxGit, moveBranch);
    return [];
  }
  const all = await diffTrees(sandboxGit, head, tip, { countLines: false });
  const changes = all.filter(({ before, after }) => ![before?.mode, after?.mode].includes(SUBMODULE));
  return withScratchObjects(repository, async ({ dir }) => {
    const differs = async (side: 'before' | 'after') => {
      const index = withIndex(sandboxGit, join(dir, side));
      await editIndex(index, editsOf(changes, side), tip.length);
      await gitText(index, ['update-index', '-q', '--refresh']);
      const paths = new Set(fieldsOf(await gitBytes(index, ['diff-files', '--name-only', '-z'])));
      return ({ path, [side]: version }: DiffEntry) =>
        version === undefined ? lstatIn(record, `sandbox/${path}`) !== undefined : paths.has(path);
    };
    const [differsBefore, differsAfter] = [await differs('before'), await differs('after')];
    const taken = changes.filter(differsAfter);
    const own = taken.filter(differsBefore);
    for (const { path, after } of taken)
      if (after === undefined) rmSync(onDisk(record.sandbox, path), { force: true });
    const written = taken.flatMap(({ path, after }) => (after === undefined ? [] : `${path}\0`));
    const input = Buffer.from(written.join(''), 'latin1');
    const index = withIndex(sandboxGit, join(dir, 'after'));
    if (written.length > 0) await gitText(index, ['checkout-index', '--force', '-z', '--stdin'], { input });
    await editIndex(sandboxGit, editsOf(changes, 'after'), tip.length);
    await gitText(sandboxGit, moveBranch);
    return own.map(
      ({ path }) => `${displayPath(path)} is as in ${shortOid(tip)}; the snapshot has it otherwise`,
    );
  });
}

const onDisk = (folder: string, path: string) =>
  Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')]);
