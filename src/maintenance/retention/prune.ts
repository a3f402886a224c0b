/** Deletes unreachable objects, then joins loose objects and small packs. README.md beside it has the limits. */
import { lstatSync, readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { failurePoint } from '../../disk/failure-point.ts';
import { isLocked, withLock } from '../../disk/lock.ts';
import { AgtError, EXIT, errorCode, isAgtError, usageError } from '../../errors.ts';
import { refuseBlockedWorktrees } from '../../git/files/worktree-registrations.ts';
import { abandonedFiles } from '../../git/objects/fast-import-cleanup.ts';
import { hasPromisorPacks, isPartialClone, objectStoreSize } from '../../git/objects/object-store.ts';
import { type MeasuredPack, measureUnreachable } from '../../git/objects/reachable.ts';
import { type Git, gitAnswer, gitText, runGit } from '../../git/run/git.ts';
import { locksDirectory, packLockFile, pruneLockFile } from '../../layout.ts';
import { throwIfInterrupted } from '../../process/interrupts.ts';
import { reportProgress } from '../../process/progress.ts';
import type { Repository } from '../../repository/repository.ts';
import { idProblem } from '../../session/id.ts';
import { lockedName } from '../../session/lock.ts';
import { freeDisk } from './du.ts';
import { joinPacks, rewritePacks } from './repack.ts';

/** agt rewrites a pack if it loses at least this part. A small pack costs little to rewrite. */
const WORTHWHILE = { large: 1 / 4, small: 1 / 20 };
const SMALL_PACK_BYTES = 32 * 1024 * 1024;

/** New packs may take these parts of the object store and the free disk, beside the old packs. */
const MOST_OF_STORE = 3 / 4;
const MOST_OF_FREE_DISK = 1 / 2;

/** The default of git-gc(1), if `gc.pruneExpire` is not set. */
const DEFAULT_EXPIRE = '2.weeks.ago';

export interface PruneResult {
  /** Bytes of the object store, before and after. */
  readonly before: number;
  readonly after: number;
  /** Bytes that `--prune=now` would delete as well. */
  readonly young: number;
  /** Bytes of unreachable objects in packs that no prune rewrites. */
  readonly left: number;
  /** Temporary files of a git that was killed, or that still writes them. */
  readonly garbage_removed: readonly GarbageFile[];
  readonly garbage_left: readonly GarbageFile[];
}

export interface GarbageFile {
  /** Relative to the object store. */
  readonly path: string;
  readonly bytes: number;
}

/** `expire` is a time in git's date syntax, `now` or `never`. */
export function pruneAndRepack(repository: Repository, expire: string): Promise<PruneResult> {
  const lock = packLockFile(repository.agtDir);
  return withLock(lock, 'the object store', () => pruneLocked(repository, expire), LONGEST_WAIT_MS);
}

/** Progress: find, delete, rewrite, join. */
const CLEANING = 'cleaning the object store';
const STEPS = 4;

/** Bytes of unreachable objects. `expired`: a prune would delete them now. `young`: they are too young. */
export async function previewPrune(repository: Repository, expire: string) {
  const { git, commonDir } = repository;
  const objectsDir = join(commonDir, 'objects');
  refuseBlockedWorktrees(commonDir);
  for (const name of ['refs', 'logs', 'worktrees']) requireReadable(join(commonDir, name));
  const before = objectStoreSize(objectsDir);
  const { packs, loose } = await measureUnreachable(git, objectsDir, await expireSeconds(git, expire));
  const isPartial = isPartialClone(repository);
  const limit = writeLimit(commonDir, before);
  // Also without a promisor, `git repack -a` writes all objects of such packs again, and keeps the old ones.
  const choose = (some: readonly MeasuredPack[]) =>
    hasPromisorPacks(commonDir) ? [] : choosePacks(some, limit);
  const chosen = choose(packs);
  const ofAnyAge = packs.map((pack) => ({ ...pack, expired: pack.expired + pack.young }));
  const atOnce = choose(ofAnyAge);
  const expired = loose.bytes + expiredIn(chosen);
  const young = Math.max(0, loose.bytes + loose.young + expiredIn(atOnce) - expired);
  const left = expiredIn(ofAnyAge.filter((pack) => !atOnce.includes(pack)));
  return { objectsDir, before, loose, isPartial, chosen, expired, young, left };
}

const expiredIn = (packs: readonly MeasuredPack[]) => packs.reduce((sum, { expired }) => sum + expired, 0);

async function pruneLocked(repository: Repository, expire: string): Promise<PruneResult> {
  const { git, commonDir } = repository;
  reportProgress(CLEANING, 0, STEPS);
  const found = await previewPrune(repository, expire);
  const { objectsDir, before, loose, isPartial, chosen, young, left } = found;
  const garbage = temporaryFiles(objectsDir);
  if (garbage.length + chosen.length + loose.count > 0) {
    await withIdleSessions(repository, async () => {
      failurePoint('gc: before prune');
      reportProgress(CLEANING, 1, STEPS);
      await gitText(git, ['prune', `--expire=${expire}`]);
      failurePoint('gc: pruned');
      reportProgress(CLEANING, 2, STEPS);
      if (chosen.length > 0) await rewritePacks(git, objectsDir, chosen, expire);
    });
  }
  reportProgress(CLEANING, 3, STEPS);
  if (!isPartial) await joinPacks(git, objectsDir, writeLimit(commonDir, before));
  const stays = new Set(temporaryFiles(objectsDir).map(({ path }) => path));
  return {
    before,
    after: objectStoreSize(objectsDir),
    young,
    left,
    garbage_removed: garbage.filter(({ path }) => !stays.has(path)),
    garbage_left: garbage.filter(({ path }) => stays.has(path)),
  };
}

/** Those that `git prune` deletes once they are old enough. */
function temporaryFiles(objectsDir: string): GarbageFile[] {
  return abandonedFiles(objectsDir).flatMap((file) => {
    const bytes = basename(file).startsWith('tmp_') && lstatSync(file, { throwIfNoEntry: false })?.size;
    return typeof bytes === 'number' ? { path: relative(objectsDir, file), bytes } : [];
  });
}

/** `agt gc` waits at most this long for each lock: a capture of a large folder takes a while. */
export const LONGEST_WAIT_MS = 60_000;
const POLL_MS = 50;

/**
 * Runs `action` while no session is in use: agt deletes objects only while no capture runs (README.md). A command that starts
 * now waits for the lock that this function takes (session/lock.ts), also if it creates a session. This function waits for
 * commands that started earlier. @throws AgtError with exit code 75 if a session stays in use
 */
export function withIdleSessions<T>(repository: Repository, action: () => Promise<T>): Promise<T> {
  return withLock(pruneLockFile(repository.agtDir), 'the object store', async () => {
    const locks = locksDirectory(repository.agtDir);
    for (const id of readdirSync(locks).filter((name) => idProblem(name) === undefined)) {
      const deadline = Date.now() + LONGEST_WAIT_MS;
      while (await isLocked(join(locks, id))) {
        if (Date.now() > deadline)
          throw new AgtError(`another agt is using ${lockedName(repository, id)}`, {
            exitCode: EXIT.busy,
            hints: ['agt deleted no objects; try again in a moment'],
          });
        await sleep(POLL_MS);
        throwIfInterrupted();
      }
    }
    return action();
  });
}

/** In Unix seconds. git may delete unreachable objects that are older. */
async function expireSeconds(git: Git, expire: string): Promise<number> {
  if (expire === 'now') return Number.POSITIVE_INFINITY;
  if (expire === 'never') return Number.NEGATIVE_INFINITY;
  const answer = await gitText(git, ['rev-parse', `--since=${expire}`]);
  return Number(answer.replace('--max-age=', ''));
}

/** In bytes. */
function writeLimit(commonDir: string, storeBytes: number): number {
  return Math.min(storeBytes * MOST_OF_STORE, freeDisk(commonDir) * MOST_OF_FREE_DISK);
}

/** Prefers the packs that lose the largest part. Rewriting them writes at most `limit` bytes. */
function choosePacks(packs: readonly MeasuredPack[], limit: number): MeasuredPack[] {
  const lostPart = ({ expired, bytes }: MeasuredPack) => expired / bytes;
  const chosen: MeasuredPack[] = [];
  let written = 0;
  for (const pack of [...packs].sort((a, b) => lostPart(b) - lostPart(a))) {
    const isWorthwhile = lostPart(pack) >= WORTHWHILE[pack.bytes <= SMALL_PACK_BYTES ? 'small' : 'large'];
    const rest = pack.bytes - pack.expired;
    if (pack.special || !isWorthwhile || written + rest > limit) continue;
    written += rest;
    chosen.push(pack);
  }
  return chosen;
}

/**
 * The age from which unreachable objects may be deleted: the user's --prune, or the setting of git-gc(1).
 * `git rev-parse --since` finds a time in any text, so agt lets a command that expires something check it:
 * those are strict.
 * @throws AgtError if the text is not a time.
 */
export async function expiryTime(git: Git, asked: string | undefined): Promise<string> {
  const configured = await gitAnswer(git, ['config', '--get', 'gc.pruneExpire']);
  const expire = asked ?? configured?.trim() ?? DEFAULT_EXPIRE;
  // Names no reflog, so it does nothing.
  const check = await runGit(git, ['reflog', 'expire', '--dry-run', `--expire=${expire}`]);
  if (check.exitCode === 0) return expire;
  const example = "for example: --prune='3 days ago', --prune=now, --prune=never";
  throw usageError(`"${expire}" is not a time`, example);
}

/** @throws AgtError for the first directory, of it and those below, that cannot be listed */
function requireReadable(directory: string): void {
  try {
    for (const entry of readdirSync(directory, { withFileTypes: true }))
      if (entry.isDirectory()) requireReadable(join(directory, entry.name));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return; // it never existed, or git has just deleted it
    if (isAgtError(error)) throw error;
    throw new AgtError(`cannot read ${directory} (${errorCode(error)})`, {
      hints: [
        'agt deleted no objects: git would treat everything that this directory refers to as unreachable',
      ],
      cause: error,
    });
  }
}
