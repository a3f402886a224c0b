/**
 * The beginning of a session in the user's own checkout, and how it is undone. The user's uncommitted work goes into a
 * commit that `git stash apply` understands, under refs/agt/stash/<id>. Its fourth parent is the session's first
 * snapshot, which has the exact bytes, and its fifth one has the list of the user's side.
 */
import { lstatSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withIndexCopy } from '../../autocommit/staged-index.ts';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { systemPath } from '../../disk/long-path.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { AgtError, attempt, listSome } from '../../errors.ts';
import { stashRef, tipRef } from '../../filter/agent-refs.ts';
import { shortBranch } from '../../git/files/ref-files.ts';
import { addAll, copyIndex, withIndex, writeTree } from '../../git/objects/scratch-index.ts';
import { FSYNC_ARGS, gitFailed, gitText, resolveObject, runGit } from '../../git/run/git.ts';
import { inPlaceFile, nestedDirectory } from '../../layout.ts';
import { quotedPathspec, shellQuote } from '../../process/shell-quote.ts';
import type { LockedSession } from '../../session/lock.ts';
import { type SessionRecord, sessionFolder } from '../../session/record.ts';
import { AFTER_THE_SWITCH, BEFORE_THE_SESSION } from '../../snapshot/format.ts';
import { readSnapshotMetadata } from '../../snapshot/manifest.ts';
import { parentDirectories, readSnapshotTree } from '../../snapshot/tree.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { captureSession } from '../../workspace/capture-session.ts';
import { nextTick } from '../delete-folder.ts';
import { keepTaken } from '../user-changes.ts';
import {
  type DirtyPath,
  dirtyPaths,
  gitDir,
  headBranch,
  type InPlace,
  inPlace,
  isIndex,
  putHead,
  readIndex,
  refreshTimes,
} from './checkout.ts';
import { changedSince, deleteLater, move, planMove } from './move-files.ts';
import { keepGitDirectories } from './nested.ts';
import { planTarget, type Target } from './target.ts';
import { listUsersSide, readUsersSide, storeUsersSide, type UsersSide } from './users-side.ts';

/**
 * Afterwards the work branch is checked out: without any change, unless the agent is to go on with those of the user.
 * @returns readable paths of what was not committed
 */
export async function enterCheckout(place: InPlace, now: Date, withChanges: boolean): Promise<string[]> {
  const { git, record, session, checkout } = place;
  const active = { ...record, state: 'active' as const };
  await nextTick(sessionFolder(record));
  await captureSession(session.with(active), { now, label: BEFORE_THE_SESSION });
  failurePoint('in place: captured');
  const first = await gitText(git, ['rev-parse', '--verify', tipRef(record.session_id)]);
  const dirty = await dirtyPaths(git);
  await refuseUncaptured(place, first, dirty);
  const side = await listUsersSide(place, first, dirty, withChanges);
  keepGitDirectories(place, side.repositories);
  await writeStash(place, side);
  failurePoint('in place: set aside');
  writeFileAtomic(inPlaceFile(gitDir(place)), record.session_id);
  const { snapshot, index } = await planBeginning(place, side);
  const planned = await planMove(place, { from: await readSnapshotMetadata(git, first), to: snapshot });
  for (const step of [() => move(place, planned), () => deleteLater(place, planned, planned.later)]) {
    const { changed, refused } = await step();
    const [path] = [...changed, ...refused.map((one) => one.path)];
    if (path !== undefined)
      throw new AgtError(`agt could not set ${shown(path)} aside in ${checkout}`, {
        hints: [refused[0]?.reason ?? 'another program has changed it meanwhile; try again'],
      });
  }
  failurePoint('in place: files set aside');
  await putHead(place, record.work_branch, index);
  await refreshTimes(place);
  failurePoint('in place: switched');
  if (withChanges) await keepTaken(session);
  // The first step of the agent starts from here, not from the user's uncommitted work.
  await captureSession(session.with(active), { now, label: AFTER_THE_SWITCH });
  return dirty.map(({ path }) => displayPath(path));
}

/** The agent's. */
function planBeginning(place: InPlace, side: UsersSide): Promise<Target> {
  return planTarget(place, side, { tip: place.record.from_commit, withWork: side.isGiven });
}

/** For a person: a path of the session folder. */
export function shown(path: string): string {
  return displayPath(path.replace(/^sandbox\//, ''));
}

/** @throws AgtError if agt could not bring such a file back. */
async function refuseUncaptured({ git, checkout }: InPlace, first: string, dirty: readonly DirtyPath[]) {
  const files = await readSnapshotTree(git, first);
  const top = Buffer.from(checkout).toString('latin1');
  const isCaptured = (path: string) => files.has(`sandbox/${path}`);
  // Below a link that is in the place of a directory there is nothing.
  const left = dirty.filter(
    ({ path }) => ![path, ...parentDirectories(path)].some(isCaptured) && isFile(`${top}/${path}`),
  );
  if (left.length === 0) return;
  const paths = left.map(({ path }) => displayPath(path));
  throw new AgtError(`cannot capture what is not committed in ${checkout}: ${listSome(paths)}`, {
    hints: ['no snapshot takes them, as for agt.maxFileSize or .agtignore; move them away, or commit them'],
  });
}

function isFile(path: string): boolean {
  // A directory on the way may have become a file.
  return attempt(() => lstatSync(systemPath(path)))?.isDirectory() === false;
}

async function writeStash(place: InPlace, side: UsersSide): Promise<void> {
  const { git, record, session, userBranch } = place;
  const { from_commit: base, session_id: id } = record;
  const trees = await stashTrees(place, side);
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
  const list = await commit(await storeUsersSide(git, side), `the user's side of session ${id}`);
  const parents = [base, index, untracked, side.first, list];
  const stash = await commit(trees.tracked, `On ${name}: uncommitted work before session ${id}`, ...parents);
  const none = '0'.repeat(base.length);
  await gitText(git, [...FSYNC_ARGS, 'update-ref', '-m', 'agt: set aside', stashRef(id), stash, none]);
}

async function stashTrees(place: InPlace, { untracked }: UsersSide) {
  const { git } = place;
  return withIndexCopy(gitDir(place), Buffer.alloc(0), async (file) => {
    const copy = await copyIndex(git, gitDir(place), file);
    const index = await writeTree(copy);
    const added = await addAll(copy, ['--update']);
    if (added.exitCode !== 0) throw gitFailed(['add'], added);
    const tracked = await writeTree(copy);
    const other = withIndex(git, join(dirname(file), 'untracked'));
    const input = Buffer.from(untracked.map((path) => `${path}\0`).join(''), 'latin1');
    await gitText(other, [...FSYNC_ARGS, 'update-index', '--add', '-z', '--stdin'], { input });
    return { index, tracked, untracked: await writeTree(other) };
  });
}

/** For a person: how to see it, to get what the checkout lacks of it, and to let go of it. */
export function aboutSetAside(ref: string): string[] {
  return [
    `see which files it has: git stash show --include-untracked --name-only ${ref}`,
    `get your changes of one file: git diff --binary ${ref}^1 ${ref} -- PATH | git apply --3way; ` +
      `a file that is new there: git show ${ref}^4:sandbox/PATH >PATH`,
    `or all of it, where nothing else is changed: git stash apply --index ${ref}`,
    `when you need it no more: ${deleteSetAside(ref)}`,
  ];
}

function deleteSetAside(ref: string, options = ''): string {
  return `agt git ${options}update-ref -d ${ref}`;
}

export async function dropStash(session: LockedSession): Promise<void> {
  const { git } = session;
  const ref = stashRef(session.id);
  const stash = await resolveObject(git, ref);
  if (stash !== undefined) await gitText(git, ['update-ref', '-d', ref, stash]);
  rmSync(nestedDirectory(session.repository.agtDir, session.id), { recursive: true, force: true });
}

function notPutBack({ session_id: id }: SessionRecord, paths: readonly string[]): AgtError {
  const work = `the work that you had not committed when session "${id}" began`;
  const changed = `${paths.join(', ')} ${paths.length === 1 ? 'has' : 'have'} changed`;
  return new AgtError(`agt could not put back ${work}: ${changed}`, { hints: aboutSetAside(stashRef(id)) });
}

/** All else is back. */
export function replacedByBranch(record: SessionRecord, paths: readonly string[], side: UsersSide): AgtError {
  const { session_id: id } = record;
  const [ref, options] = [stashRef(id), inCheckout(record)];
  const tracked = paths.filter((path) => side.changed.includes(path)).map(displayPath);
  const one = paths.find((path) => !side.changed.includes(path));
  const diff = `git ${options}diff --binary ${ref}^1 ${ref} -- ${tracked.map(quotedPathspec).join(' ')}`;
  const file = shellQuote(`${ref}^4:${encodePath(`sandbox/${one}`)}`);
  const own = `session "${id}" has ended, but the branch has its own ${paths.map(displayPath).join(', ')} now`;
  return new AgtError(`${own}; yours, as before the session, is set aside, and all else of yours is back`, {
    hints: [
      ...(tracked.length > 0 ? [`merge your changes into it: ${diff} | git ${options}apply --3way`] : []),
      ...(one === undefined ? [] : [`see yours: git ${options}show ${file}`]),
      `when you need it no more: ${deleteSetAside(ref, options)}`,
    ],
  });
}

/** The files are back, and somebody has changed the index meanwhile. */
function indexDiffers(record: SessionRecord): AgtError {
  const { session_id: id } = record;
  const [ref, options] = [stashRef(id), inCheckout(record)];
  const command = `git ${options}read-tree ${ref}^2 && ${deleteSetAside(ref, options)}`;
  return new AgtError(
    `agt left your index as it is now; to get the one of before session "${id}": ${command}`,
  );
}

function inCheckout({ checkout }: SessionRecord): string {
  return checkout === undefined ? '' : `-C ${shellQuote(checkout)} `;
}

/**
 * Undoes a beginning that failed or was killed. Files that somebody has changed since then stay as they are.
 * @returns `trouble`: why something of the user's stays under the ref of what was set aside; undefined if
 * changes would be lost: nothing has changed then
 */
export async function undoEntering(session: LockedSession) {
  const place = inPlace(session);
  const undone = await putBack(place);
  if (undone === undefined) return undefined;
  if (undone.trouble === undefined) await dropStash(session);
  rmSync(inPlaceFile(gitDir(place)), { force: true });
  return undone;
}

async function putBack(place: InPlace) {
  const { git, record, userBranch } = place;
  const base = record.from_commit;
  const side = await readUsersSide(git, record);
  if (side === undefined) return { trouble: undefined };
  const isOnWork = (await headBranch(place)) === record.work_branch;
  if (isOnWork && (await resolveObject(git, userBranch)) !== base) return undefined;
  const emptied = await planBeginning(place, side);
  const before = await planTarget(place, side, { tip: base, withWork: true });
  // agt knows by content which of the two states each file is in.
  const planned = await planMove(place, { from: emptied.snapshot, to: before.snapshot });
  const found = readIndex(place);
  const isBase = async () =>
    (await runGit(git, ['diff-index', '--cached', '--quiet', base, '--'])).exitCode === 0;
  const staged = !(side.isGiven ? isIndex(place, before.index) : await isBase());
  const inTheWay = changedSince(planned);
  if (isOnWork && (staged || inTheWay.length > 0)) return undefined;
  // One that somebody has changed stays as it is, and stops no other.
  const { changed, refused } = await move(place, planned);
  await deleteLater(place, planned, planned.later);
  const left = [
    ...new Set([...inTheWay, ...planned.plan.blocked, ...changed, ...refused.map(({ path }) => path)]),
  ];
  // agt may not have replaced the index yet, or the user has staged something since.
  const isMine = !staged || isOnWork;
  if (isMine) await putHead(place, userBranch, before.index, found);
  await refreshTimes(place);
  if (left.length > 0) return { trouble: notPutBack(record, left.map(shown)) };
  return { trouble: isMine || isIndex(place, before.index) ? undefined : indexDiffers(record) };
}
