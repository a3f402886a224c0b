/**
 * Sets the user's uncommitted work aside when a session begins in the user's own checkout: a commit that `git stash apply`
 * understands, under refs/agt/stash/<id>. Its fourth parent is the session's first snapshot, which has the exact bytes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withIndexCopy } from '../../autocommit/index-copy.ts';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { stashRef, tipRef } from '../../filter/agent-refs.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { FSYNC_ARGS, type Git, gitText, PLAIN_INDEX } from '../../git/run/git.ts';
import { inPlaceFile } from '../../repository/layout.ts';
import { AFTER_THE_SWITCH, BEFORE_THE_SESSION } from '../../snapshot/own-labels.ts';
import { captureSession } from '../capture-session.ts';
import {
  captureCheck,
  captureDirty,
  type DirtyPath,
  gitDir,
  type InPlace,
  removeFile,
  switchTo,
} from './checkout.ts';

/** Afterwards the work branch is checked out, without any change. @returns readable paths of what it has set aside. */
export async function enterCheckout(place: InPlace, now: Date): Promise<string[]> {
  const dirty = await captureDirty(place, { label: BEFORE_THE_SESSION, now });
  failurePoint('in place: captured');
  if (dirty.length > 0) await writeStash(place, dirty);
  failurePoint('in place: set aside');
  writeFileAtomic(inPlaceFile(gitDir(place)), place.record.session_id);
  removeUntracked(place, dirty);
  failurePoint('in place: untracked files removed');
  await switchTo(place, place.record.work_branch);
  failurePoint('in place: switched');
  // The first step of the agent starts from here, not from the user's uncommitted work.
  const active = { ...place.record, state: 'active' as const };
  await captureSession(place.session, active, { now, label: AFTER_THE_SWITCH });
  return dirty.map(({ path }) => displayPath(path));
}

/** A file that somebody has changed since the last capture stays. */
export function removeUntracked({ session, checkout }: InPlace, dirty: readonly DirtyPath[]): void {
  const isCaptured = captureCheck(session, checkout);
  for (const { path, isUntracked } of dirty) {
    if (isUntracked && isCaptured(path)) removeFile(checkout, path);
    failurePoint('in place: one file removed');
  }
}

async function writeStash(place: InPlace, dirty: readonly DirtyPath[]): Promise<void> {
  const { git, record, session, userBranch } = place;
  const { from_commit: base, session_id: id } = record;
  const snapshot = await gitText(git, ['rev-parse', '--verify', tipRef(id)]);
  const trees = await stashTrees(place, dirty);
  const name = shortBranch(userBranch);
  const email = session.repository.settings.agentEmail;
  const commit = (tree: string, message: string, ...parents: string[]) =>
    gitText(git, [
      ...FSYNC_ARGS,
      ...['-c', 'user.name=agt', '-c', `user.email=${email}`, '-c', 'commit.gpgSign=false'],
      ...['commit-tree', '-m', message, ...parents.flatMap((parent) => ['-p', parent]), tree],
    ]);
  const index = await commit(trees.index, `index on ${name}`, base);
  const untracked = await commit(trees.untracked, `untracked files on ${name}`);
  const stash = await commit(
    trees.tracked,
    `On ${name}: uncommitted work before session ${id}`,
    base,
    index,
    untracked,
    snapshot,
  );
  const none = '0'.repeat(base.length);
  await gitText(git, [...FSYNC_ARGS, 'update-ref', '-m', 'agt: set aside', stashRef(id), stash, none]);
}

/** For a person: git names what is in the way only after it has put back the rest, and then it cannot try again. */
export function listSetAside(ref: string): string {
  return `git stash show --include-untracked --name-only ${ref}`;
}

/** For a person, when nothing is in the way. The ref stays until git has put the work back. `options` are of git. */
export function applySetAside(ref: string, options = ''): string {
  return `git ${options}stash apply ${ref} && agt git ${options}update-ref -d ${ref}`;
}

async function stashTrees(place: InPlace, dirty: readonly DirtyPath[]) {
  const { git } = place;
  const directory = gitDir(place);
  return withIndexCopy(directory, readFileSync(join(directory, 'index')), async (copy) => {
    const index = await writeTree(git, copy);
    await gitText(git, [...FSYNC_ARGS, ...PLAIN_INDEX, 'add', '--update'], { env: { GIT_INDEX_FILE: copy } });
    const tracked = await writeTree(git, copy);
    const empty = join(copy, '../untracked');
    const paths = dirty.filter(({ isUntracked }) => isUntracked).map(({ path }) => `${path}\0`);
    const args = [...FSYNC_ARGS, ...PLAIN_INDEX, 'update-index', '--add', '-z', '--stdin'];
    await gitText(git, args, {
      env: { GIT_INDEX_FILE: empty },
      input: Buffer.from(paths.join(''), 'latin1'),
    });
    return { index, tracked, untracked: await writeTree(git, empty) };
  });
}

function writeTree(git: Git, index: string): Promise<string> {
  return gitText(git, [...FSYNC_ARGS, 'write-tree'], { env: { GIT_INDEX_FILE: index } });
}
