/**
 * Brings the checkout back at the end of a session: files, repositories inside, index and HEAD as the user had them, on
 * top of what has come to the branch meanwhile. HEAD is the last to change. After a kill, the same steps are taken again.
 */
import { writeFileSync } from 'node:fs';
import { withIndexCopy } from '../../autocommit/staged-index.ts';
import { restoreGitDirFiles } from '../../checkout/git-dir-files.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { AgtError } from '../../errors.ts';
import { tipRef } from '../../filter/agent-refs.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import { parseIndex } from '../../git/files/index-file.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import { fieldsOf, type Git, gitBytes, gitText, inDirectory } from '../../git/run/git.ts';
import { shellQuote } from '../../process/shell-quote.ts';
import { removalOf, type SessionRecord } from '../../session/record.ts';
import { isUnder } from '../../snapshot/folders.ts';
import { readCapturedIndex } from '../../snapshot/format.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import { parentDirectories, type TreeEntry } from '../../snapshot/tree.ts';
import { captureSession } from '../../workspace/capture-session.ts';
import { dropDamagedIndex, gitDir, headBranch, type InPlace, putHead, refreshTimes } from './checkout.ts';
import { deleteLater, move, planMove, whatIsOnDisk } from './move-files.ts';
import { directoryOf, putRepositoryBack } from './nested.ts';
import { replacedByBranch, shown } from './set-aside.ts';
import { edited, inScratch, planTarget, type Target, writtenFiles } from './target.ts';
import { indexOf, putSettingsBack, requireUsersSide, type UsersSide } from './users-side.ts';

/** How often agt tries again if other programs change the checkout meanwhile, or the system refuses a file. */
const ATTEMPTS = 3;

/** @returns why something of the user's is not as before. Then the ref of what was set aside stays. */
export async function returnToUser(place: InPlace, now: Date): Promise<AgtError | undefined> {
  const { git, record, checkout, userBranch } = place;
  const side = await requireUsersSide(git, record);
  const isBack = (await headBranch(place)) === userBranch;
  if (!isBack) {
    // First: with either of them, git may refuse everything else.
    await putSettingsBack(git, side.settings);
    await dropDamagedIndex(place);
  }
  const tip = await gitText(git, ['rev-parse', '--verify', `${userBranch}^{commit}`]);
  const target = await planTarget(place, side, { tip, withWork: true });
  const inTheWay: string[] = [];
  const removal = removalOf(record);
  if (!isBack || removal?.keepsStash === true) {
    inTheWay.push(...(await bringFilesBack(place, side, target, now)));
    failurePoint('in place: files put back');
    for (const [i, one] of side.repositories.entries()) {
      const isThere = isBack && gitDirOf(directoryOf(checkout, one.path)) !== undefined;
      if (isThere || target.submodules.has(one.path) || (await putRepositoryBack(place, one, i))) continue;
      inTheWay.push(`sandbox/${one.path}/.git`);
    }
  }
  if (!isBack) {
    // The same command may be given again, when HEAD says that everything is back.
    if (inTheWay.length > 0 && removal !== undefined)
      place.session.write({ ...record, intent: { ...removal, keepsStash: true } });
    // A merge or rebase of the agent goes, and its sparse checkout. Before the index: git reads its marks by these.
    const branches = { workBranch: userBranch, snapshotWorkBranch: userBranch };
    await restoreGitDirFiles(git, gitDir(place), await readSnapshotMetadata(git, side.first), branches);
    await putHead(place, userBranch, target.index);
    failurePoint('in place: returned');
  }
  // New rules of the agent's go first.
  await deleteAgentFiles(place, side, target, (path) => /(^|\/)\.gitignore$/.test(path));
  await deleteAgentFiles(place, side, target, () => true);
  // Not before: git would take a file of the agent outside of a sparse checkout for one of the user's.
  await refreshTimes(place);
  failurePoint('in place: agent files removed');
  const { conflicts } = target;
  // The files given to the agent have landed with its work.
  const isExpected = conflicts.length === 0 || (side.isGiven && record.landed !== undefined);
  const replaced = isExpected ? undefined : replacedByBranch(record, conflicts, side);
  return inTheWay.length > 0 ? notAsBefore(record, side, inTheWay, replaced) : replaced;
}

/** @returns the paths that could not be brought back, in the session folder. */
async function bringFilesBack(place: InPlace, side: UsersSide, target: Target, now: Date): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const planned = await planReturn(place, side, target);
    const { changed, refused } = await move(place, planned);
    if ((changed.length === 0 && refused.length === 0) || attempt === ATTEMPTS)
      return [...new Set([...planned.plan.blocked, ...changed, ...refused.map(({ path }) => path)])];
    if (changed.length === 0) continue;
    const active = { ...place.record, state: 'active' as const };
    await captureSession(place.session.with(active), { now, label: 'before the return' });
  }
}

/** With `tracked`: paths of the agent's index. */
async function planReturn(place: InPlace, side: UsersSide, target: Target) {
  const { git, record } = place;
  const last = await gitText(git, ['rev-parse', '--verify', tipRef(record.session_id)]);
  const tracked = new Set((await indexOf(git, last)).map(({ path }) => path));
  const conflicts = new Set(target.conflicts.map((path) => `sandbox/${path}`));
  const wasInTheWay = await inTheWayOf(git, record.from_commit);
  const move = await planMove(place, {
    ...(await withHeldByGit(place, last, target)),
    // A build, a cache or a database goes on as the agent leaves it, unless the agent has committed or deleted it.
    stays: (path, isChange) =>
      isUnder(inside(path), [...target.submodules]) ||
      (isChange &&
        side.ignored.has(inside(path)) &&
        !tracked.has(inside(path)) &&
        !conflicts.has(path) &&
        !wasInTheWay(inside(path))),
    directories: side.repositories.map(({ path }) => `sandbox/${path}`),
    // A file built from a source must not become younger than the source.
    mtimeOf: (path) => side.ignored.get(inside(path)),
  });
  return { ...move, tracked };
}

/** Whether agt has set an ignored file aside, because the commit has a directory there, or a file above. */
async function inTheWayOf(git: Git, commit: string): Promise<(path: string) => boolean> {
  const files = new Set((await listTree(git, commit, 'files')).map(({ path }) => path));
  const directories = new Set([...files].flatMap(parentDirectories));
  return (path) => directories.has(path) || parentDirectories(path).some((one) => files.has(one));
}

function inside(path: string): string {
  return path.slice('sandbox/'.length);
}

/**
 * New files of the agent's, and those that the user or the branch has deleted. By now the rules are the user's again, so
 * that what they ignore stays.
 */
async function deleteAgentFiles(
  place: InPlace,
  side: UsersSide,
  target: Target,
  isMeant: (path: string) => boolean,
): Promise<void> {
  const { git, checkout } = place;
  const planned = await planReturn(place, side, target);
  if (!planned.later.some(isMeant)) return;
  const first = (await indexOf(git, side.first)).map(({ path }) => path);
  const known = new Set([...planned.tracked, ...first, ...side.changed]);
  const going = new Set(planned.later.filter((path) => known.has(inside(path))));
  for (const { path } of [{ path: '' }, ...side.repositories]) {
    if (!planned.later.some((one) => path === '' || inside(one).startsWith(`${path}/`))) continue;
    const others = inDirectory(git, directoryOf(checkout, path));
    // A file of the index there was deleted before the session.
    const kinds = path === '' ? ['--others'] : ['--others', '--cached'];
    const listed = await gitBytes(others, ['ls-files', ...kinds, '--exclude-standard', '-z']);
    for (const one of fieldsOf(listed)) going.add(`sandbox/${path === '' ? '' : `${path}/`}${one}`);
  }
  const deletions = planned.later.filter((path) => going.has(path) && isMeant(path));
  const { refused } = await deleteLater(place, planned, deletions);
  const [one] = refused;
  if (one === undefined) return;
  throw new AgtError(`agt cannot delete ${shown(one.path)}, a file of the session: ${one.reason}`, {
    hints: [`make it deletable, then: agt doctor --fix`],
  });
}

function notAsBefore(
  { session_id: id, checkout }: SessionRecord,
  side: UsersSide,
  paths: readonly string[],
  replaced: AgtError | undefined,
): AgtError {
  const one = paths.find((path) => !path.endsWith('/.git'));
  const found = one === undefined ? '' : shellQuote(`${side.first.slice(0, 10)}:${shown(one)}`);
  return new AgtError(`agt could not bring back ${paths.map(shown).join(', ')} in ${checkout}`, {
    hints: [
      ...(one === undefined ? [] : [`as before the session: agt session cat ${id} ${found}`]),
      ...(replaced === undefined ? [] : [replaced.message, ...replaced.hints]),
    ],
  });
}

/**
 * From the snapshot `commit` to the target, also with tracked files that no snapshot holds: larger than agt.maxFileSize, or
 * named in `.agtignore`. git's objects hold such a file if it is on disk as an index of git has it.
 */
async function withHeldByGit(
  place: InPlace,
  commit: string,
  { snapshot, index: wanted = Buffer.alloc(0) }: Pick<Target, 'snapshot' | 'index'>,
): Promise<{ readonly from: SnapshotMetadata; readonly to: SnapshotMetadata }> {
  const { git, record } = place;
  const from = await readSnapshotMetadata(git, commit);
  const skipped = [...from.skipped, ...snapshot.skipped].filter((path) => !path.endsWith('/.git'));
  const current = (await readCapturedIndex(git, commit))?.content ?? Buffer.alloc(0);
  const oidLength = commit.length / 2;
  const isSkipped = (path: string) => isUnder(`sandbox/${path}`, skipped);
  const paths = [current, wanted].flatMap((raw) => {
    const entries = skipped.length === 0 || raw.length === 0 ? [] : parseIndex(raw, oidLength).entries;
    return entries.map(({ path }) => path).filter(isSkipped);
  });
  if (paths.length === 0) return { from, to: snapshot };
  return withIndexCopy(gitDir(place), current, async (copy) => {
    const asWritten = (raw: Buffer, name: string) => {
      writeFileSync(name, raw);
      return writtenFiles(inScratch(git, gitDir(place), name), raw, oidLength, paths);
    };
    const before = await asWritten(current, copy);
    const after = await asWritten(wanted, `${copy}-wanted`);
    const held = new Map<string, TreeEntry | undefined>();
    whatIsOnDisk(record, (isOnDisk) => {
      for (const path of paths) {
        const versions = [undefined, before.get(path), after.get(path)];
        const found = versions.findIndex((one) => isOnDisk(path, one?.oid));
        if (found !== -1) held.set(path, versions[found]);
      }
    });
    const isLacking = (path: string) => isUnder(`sandbox/${path}`, snapshot.skipped);
    const goal = new Map([...held.keys()].filter(isLacking).map((path) => [path, after.get(path)]));
    const isHeld = (path: string) => [...held.keys()].some((one) => isUnder(`sandbox/${one}`, [path]));
    const including = async (one: SnapshotMetadata, files: ReadonlyMap<string, TreeEntry | undefined>) => ({
      ...(await edited(git, one, files, copy)),
      skipped: one.skipped.filter((path) => !isHeld(path)),
    });
    return { from: await including(from, held), to: await including(snapshot, goal) };
  });
}
