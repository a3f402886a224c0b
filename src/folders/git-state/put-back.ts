/**
 * Puts the repository of an attached folder back into the state of a snapshot: a deleted `.git`, then refs and reflogs, HEAD,
 * the index, and the operation in progress. A ref that somebody else has moved since stays
 * where they have left it, and so do remote branches.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { UserRepository } from '../../autocommit/request.ts';
import { restoreGitDirFiles } from '../../checkout/git-dir-files.ts';
import { restoreIndex, restoreStaged } from '../../checkout/sandbox-git-dir.ts';
import { writeFileAtomic } from '../../disk/atomic-file.ts';
import { failurePoint } from '../../disk/failure-point.ts';
import { readRegularFile } from '../../disk/read-file.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { AgtError, attempt } from '../../errors.ts';
import { SHARED_STASH } from '../../filter/agent-refs.ts';
import type { GitDirectories } from '../../git/files/discover-repository.ts';
import { bringGitDirectory, bringObjects, keepGitDirectory } from '../../git/files/mirror-git-directory.ts';
import { shortOid } from '../../git/files/ref-files.ts';
import { findObjects } from '../../git/objects/object-reader.ts';
import {
  type Git,
  gitAnswer,
  gitText,
  inDirectory,
  inOtherRepository,
  runGit,
  updateRefs,
} from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Session } from '../../session/session.ts';
import { REFLOG_LINE } from '../../snapshot/git-dir-files.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import {
  claim,
  isWhole,
  type Kept,
  keptNamed,
  keptOf,
  LARGEST_COPY,
  newestKept,
  repositoryOf,
} from './kept-repositories.ts';
import { bringNestedBack } from './nested-repositories.ts';
import { isOtherRepository, isReplaceable } from './other-repository.ts';
import { capturedLogs, capturedPlaces, capturedRefs, readGitState, refsIn } from './read-state.ts';
import {
  describeLeft,
  isOfHead,
  LINK,
  NO_BRANCHES,
  NO_LOG,
  type Others,
  planRefs,
  type RefMove,
  type RefPlan,
  resolveRef,
  withoutBusyBranches,
} from './ref-plan.ts';

export interface PutBack {
  readonly moves: readonly RefMove[];
  readonly warnings: readonly string[];
  /** The index and the operation in progress are as in the snapshot. */
  readonly isWhole: boolean;
}

const NO_PLAN: RefPlan = { moves: [], left: [] };
const KEPT: RefPlan = { ...NO_PLAN, isKept: true };
const NOTHING: PutBack = { moves: [], warnings: [], isWhole: false };

/** Nothing where the snapshot or the folder has no repository. */
export async function previewGit(
  { repository, record }: Session,
  commit: string,
  { moved, hasReplaced, isNamed, command }: Others,
): Promise<RefPlan> {
  const folder = record.checkout ?? record.sandbox;
  const then = await capturedRefs(repository.git, commit);
  const state = then && (await readGitState(repository, folder));
  const places = await capturedPlaces(repository.git, commit);
  if (then === undefined || places === undefined) return repositoryOf(folder) === undefined ? NO_PLAN : KEPT;
  const isGone = repositoryOf(folder) === undefined && isWhole(keptNamed(repository.agtDir, places.kept));
  if (state === undefined) return isGone ? { ...NO_PLAN, gone: places.gitDir } : NO_PLAN;
  if (await isOtherRepository(repository, folder, places, then))
    return isReplaceable(folder, places) && (isNamed || !hasReplaced)
      ? { ...NO_PLAN, replaced: state.commonDir }
      : { ...NO_PLAN, other: folder };
  const git = inOtherRepository(repository.git, folder);
  return withoutBusyBranches(git, folder, state, planRefs(refsIn(state), then, moved, command), then);
}

/** The caller holds the session's lock, and has captured the folder. */
export async function putGitBack(
  { repository, record }: Session,
  wanted: SnapshotMetadata,
  { moved, hasReplaced, isNamed, command }: Others,
): Promise<PutBack> {
  const folder = record.checkout ?? record.sandbox;
  const store = repository.git;
  const inside = bringNestedBack({ folder, agtDir: repository.agtDir }, wanted.skipped);
  const notes = inside.map((gitDir) => `a repository in the folder was gone, and is back: ${gitDir}`);
  const then = await capturedRefs(store, wanted.commit);
  const places = await capturedPlaces(store, wanted.commit);
  const last = repositoryOf(folder) === undefined ? newestKept(repository.agtDir) : undefined;
  if (then === undefined || places === undefined) {
    const back = last === undefined || !isNamed ? [] : bringUsersRepository(repository, folder, last, false);
    const isKept = repositoryOf(folder) !== undefined && back.length === 0;
    return { ...NOTHING, warnings: [...notes, ...back, ...(isKept ? describeLeft(KEPT) : [])] };
  }
  const kept = keptNamed(repository.agtDir, places.kept);
  const isOther = await isOtherRepository(repository, folder, places, then);
  if (isOther && (!isReplaceable(folder, places) || (hasReplaced && !isNamed)))
    return { ...NOTHING, warnings: [...notes, ...describeLeft({ ...NO_PLAN, other: folder })] };
  // Not those in the repository that goes.
  const others = isOther ? new Map([...moved].filter(([, { of }]) => of === places.kept)) : moved;
  const warnings = [...notes, ...bringUsersRepository(repository, folder, { ...places, ...kept }, isOther)];
  const state = await readGitState(repository, folder);
  if (state === undefined)
    return {
      ...NOTHING,
      warnings: [...warnings, `there is no repository in ${folder} that agt can bring back`],
    };
  const git = inDirectory(store, folder);
  const planned = planRefs(refsIn(state), then, others, command);
  const plan = await withoutBusyBranches(git, folder, state, planned, then);
  const { moves, left } = plan;
  const logs = await capturedLogs(store, wanted.commit);
  if (then.has(SHARED_STASH) && !logs.has(SHARED_STASH)) logs.set(SHARED_STASH, NO_LOG);
  await requireObjects(git, kept.directory, state, [
    ...moves.flatMap(({ to }) => (to === undefined || to.startsWith(LINK) ? [] : to)),
    ...linesOf(logs.get(SHARED_STASH)).map(([, stash = '']) => stash),
  ]);
  const isItsHead = ({ ref }: RefMove) => isOfHead(ref, then) && (ref === 'HEAD' || !plan.detached);
  const ofOthers = moves.find((move) => isItsHead(move) && others.has(move.ref));
  const theirs = ofOthers && others.get(ofOthers.ref)?.commit;
  const unseen = theirs === undefined ? ofOthers : undefined;
  const isLeft = left.some(isItsHead);
  const other = isLeft ? moves.find(({ ref }) => ref === 'HEAD')?.to : unseen?.to;
  // A branch that has gone on, or goes where no snapshot has it. Its index comes first: once HEAD is there, nobody sees
  // that the index was of another one.
  if (other !== undefined) await gitAnswer(git, ['read-tree', other.replace(LINK, '')]);
  failurePoint('restore: index of the branch');
  await moveRefs(git, moves);
  failurePoint('restore: refs moved');
  await putLogsBack(state, logs, plan);
  const named = new Set([...logs.values()].flatMap(linesOf).flat());
  const commits = [...named].filter((oid) => !/^0+$/.test(oid));
  if ((await findObjects(git, commits)).includes(undefined)) bringObjects(kept.directory, state.commonDir);
  warnings.push(...describeLeft(plan));
  if (isLeft || unseen) await restoreStaged(store, git, wanted, resolveRef(then, 'HEAD'));
  else
    await restoreIndex(
      store,
      theirs === undefined ? wanted : await readSnapshotMetadata(store, theirs),
      folder,
    );
  if (!(await hasObjects(git, ['--indexed-objects', '--not', '--all'])))
    bringObjects(kept.directory, state.commonDir);
  if (isLeft || ofOthers) return { moves, warnings, isWhole: false };
  warnings.push(...(await restoreGitDirFiles(store, state.gitDir, wanted, NO_BRANCHES)));
  return { moves, warnings, isWhole: true };
}

/** If the folder has no repository any more, or another one, its `.git`, and what that leads to. Returns a note. */
function bringUsersRepository(
  { agtDir }: Repository,
  folder: string,
  kept: Kept & GitDirectories,
  isOther: boolean,
): string[] {
  const { gitDir, commonDir } = kept;
  if (!isWhole(kept) || (repositoryOf(folder) !== undefined && !isOther)) return [];
  const aside = `${commonDir}.agt-replaced`;
  if (isOther) setAside(agtDir, folder, { gitDir, commonDir }, aside);
  if (!existsSync(join(commonDir, 'HEAD'))) bringGitDirectory(kept.directory, commonDir);
  else if (!existsSync(join(gitDir, 'HEAD')))
    bringGitDirectory(join(kept.directory, gitDir.slice(commonDir.length + 1)), gitDir);
  claim(kept, kept, folder);
  if (existsSync(aside)) removeTree(aside);
  if (gitDir !== join(folder, '.git')) {
    rmSync(join(folder, '.git'), { recursive: true, force: true });
    writeFileSync(join(folder, '.git'), `gitdir: ${gitDir}\n`);
  }
  const other = isOther ? '; it takes the place of another one, which a restore can bring back' : '';
  return [`the repository of the snapshot is back: ${gitDir}${other}`];
}

/** Another repository, made after `rm -rf .git`. A later restore can bring that one back. @throws AgtError */
function setAside(agtDir: string, folder: string, places: GitDirectories, aside: string): void {
  const present = keptOf(agtDir, places.commonDir);
  const [large] = keepGitDirectory(places.commonDir, present.directory, LARGEST_COPY);
  if (large !== undefined)
    throw new AgtError(`another repository is at "${places.commonDir}", and agt cannot keep ${large}`, {
      hints: ['move that repository away, and try again'],
    });
  claim(present, places, folder);
  renameSync(places.commonDir, aside);
  failurePoint('restore: repository set aside');
}

/** @throws AgtError if a commit is nowhere any more. Nothing has changed then. */
async function requireObjects(
  git: Git,
  kept: string,
  { commonDir }: UserRepository,
  oids: readonly string[],
): Promise<void> {
  if (oids.length === 0) return;
  const areThere = async () => {
    if ((await findObjects(git, oids)).includes(undefined)) return false;
    return hasObjects(git, [...oids, '--not', '--all']);
  };
  if (await areThere()) return;
  bringObjects(kept, commonDir);
  if (await areThere()) return;
  throw new AgtError(`commits that the snapshot names are gone, such as ${shortOid(oids[0] ?? '')}`, {
    hints: ['restore the files alone: add --files-only'],
  });
}

/** Whether git has all objects that the arguments of rev-list lead to. */
async function hasObjects(git: Git, args: readonly string[]): Promise<boolean> {
  const env = { GIT_NO_LAZY_FETCH: '1' };
  return (await runGit(git, ['rev-list', '--objects', '--quiet', ...args], { env })).exitCode === 0;
}

const REASON = 'agt: restore';

/** HEAD first, so that no branch goes under it. Then deletions: such a ref may be in the way of a new one. */
async function moveRefs(git: Git, moves: readonly RefMove[]): Promise<void> {
  const links = moves.filter(({ to }) => to?.startsWith(LINK));
  for (const { ref, to = '' } of links)
    await gitText(git, ['symbolic-ref', '-m', REASON, ref, to.slice(LINK.length)]);
  const head = moves.find(({ ref }) => ref === 'HEAD')?.to;
  if (head?.startsWith(LINK) === false)
    await gitText(git, ['update-ref', '--no-deref', '-m', REASON, 'HEAD', head]);
  const others = moves.filter((move) => move.ref !== 'HEAD' && !links.includes(move));
  const line = ({ ref, from = '', to }: RefMove) => {
    const old = from.startsWith(LINK) ? '' : ` ${from}`;
    return `option no-deref\n${to === undefined ? 'delete' : 'update'} ${[ref, to].filter(Boolean).join(' ')}${old}`;
  };
  for (const isGone of [true, false]) {
    const some = others.filter(({ to }) => (to === undefined) === isGone);
    await updateRefs(git, some.map(line), REASON);
  }
}

/** The stash is its reflog. Other logs lose no line: those that the present one lacks come back. */
async function putLogsBack(
  state: UserRepository,
  then: ReadonlyMap<string, Buffer>,
  { moves, left }: RefPlan,
): Promise<void> {
  const gone = new Set(moves.filter(({ to }) => to === undefined).map(({ ref }) => ref));
  const present = new Set([...refsIn(state).keys(), ...moves.map(({ ref }) => ref)]);
  for (const [ref, log] of then) {
    if (!present.has(ref) || gone.has(ref)) continue;
    const path = join(ref === 'HEAD' ? state.gitDir : state.commonDir, 'logs', ref);
    const now = attempt(() => readRegularFile(path)) ?? Buffer.alloc(0);
    const isStash = ref === SHARED_STASH;
    if (isStash ? now.equals(log) || left.some((move) => move.ref === ref) : isStart(log, now)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileAtomic(path, isStash ? log : Buffer.concat([log, linesBeside(log, now)]));
  }
}

function linesBeside(log: Buffer, now: Buffer): Buffer {
  const known = new Set(log.toString('latin1').split('\n'));
  const added = now
    .toString('latin1')
    .split('\n')
    .filter((line) => !known.has(line));
  return Buffer.from(added.map((line) => `${line}\n`).join(''), 'latin1');
}

/** The old commit and the new one of each line. */
function linesOf(log: Buffer = NO_LOG): string[][] {
  return [...log.toString('latin1').matchAll(REFLOG_LINE)].map((line) => line.slice(1, 3));
}

function isStart(log: Buffer, of: Buffer): boolean {
  return of.subarray(0, log.length).equals(log);
}
