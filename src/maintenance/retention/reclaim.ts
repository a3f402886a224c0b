/**
 * Gives back the disk that unreachable objects take, and joins many small packs and loose objects into few packs.
 *
 * A pack loses objects only by being written anew beside itself. So that this never takes twice the disk, only packs of
 * which a good part goes are written anew, and what survives of them stays within three quarters of the store and half
 * of the free disk. The others are left for later.
 */

import { join } from 'node:path';
import { failurePoint } from '../../disk/failure-point.ts';
import { withLock } from '../../disk/lock.ts';
import { usageError } from '../../errors.ts';
import { listPacks, objectStoreSize, type Pack } from '../../git/objects/object-store.ts';
import {
  type MeasuredPack,
  measureUnreachable,
  type UnreachableObjects,
} from '../../git/objects/unreachable.ts';
import { type Git, gitAnswer, gitText, runGit } from '../../git/run/git.ts';
import { packLockFile } from '../../repository/layout.ts';
import type { Repository } from '../../repository/repository.ts';
import { patiently } from '../../session/wait.ts';
import { freeDisk } from './du.ts';
import { PATIENCE_MS, withQuietSessions } from './quiet.ts';
import { requireReadable } from './readable.ts';

/** The part of a pack that must go for it to be written anew. */
const WORTHWHILE = { large: 1 / 4, small: 1 / 20 };
const SMALL_PACK = 32 * 1024 * 1024;

/** What every rewriting of packs here says to git, whatever is configured. */
const REPACK = [
  '-c',
  'repack.writeBitmaps=false',
  '-c',
  'repack.packKeptObjects=false',
  'repack',
  '-d',
  '-l',
  '-q',
];

export interface Reclaimed {
  /** Bytes of the object store. */
  readonly before: number;
  readonly after: number;
  /** Bytes of unreachable objects that are too young to go. */
  readonly young: number;
  /** Bytes of unreachable objects in packs of which too little would go. */
  readonly left: number;
}

/** `expire` is a time in git's words, `now` or `never`. One process at a time writes packs anew. */
export function reclaim(repository: Repository, expire: string): Promise<Reclaimed> {
  return patiently(PATIENCE_MS, () =>
    withLock(packLockFile(repository.agtDir), 'the object store', () => reclaimNow(repository, expire)),
  );
}

async function reclaimNow(repository: Repository, expire: string): Promise<Reclaimed> {
  const { git } = repository;
  const objectsDir = join(repository.commonDir, 'objects');
  requireReadable(repository.commonDir);
  const before = objectStoreSize(objectsDir);
  const survey = await measureUnreachable(git, objectsDir, await secondsOf(git, expire));
  const partial = await isPartialClone(git);
  const chosen = partial ? [] : choosePacks(survey, mayWrite(repository, before));
  if (chosen.length + survey.loose.count > 0) {
    await withQuietSessions(repository, async () => {
      failurePoint('gc: before prune');
      await gitText(git, ['prune', `--expire=${expire}`]);
      failurePoint('gc: pruned');
      if (chosen.length > 0) await rewritePacks(git, objectsDir, chosen, expire);
    });
  }
  if (!partial) await joinPacks(git, objectsDir, mayWrite(repository, before));
  const goes = new Set(chosen.map(({ name }) => name));
  const left = survey.packs.reduce((sum, pack) => sum + (goes.has(pack.name) ? 0 : pack.expired), 0);
  return { before, after: objectStoreSize(objectsDir), young: survey.young, left };
}

/** Unix seconds; what is older may go. */
async function secondsOf(git: Git, expire: string): Promise<number> {
  if (expire === 'now') return Number.POSITIVE_INFINITY;
  if (expire === 'never') return Number.NEGATIVE_INFINITY;
  const answer = await gitText(git, ['rev-parse', `--since=${expire}`]);
  return Number(answer.replace('--max-age=', ''));
}

/** Bytes that may stand beside the old packs for a while. */
function mayWrite(repository: Repository, store: number): number {
  return Math.min((store * 3) / 4, freeDisk(repository.commonDir) / 2);
}

/** The packs of which most goes first. */
function choosePacks({ packs }: UnreachableObjects, limit: number): MeasuredPack[] {
  const share = ({ expired, bytes }: MeasuredPack) => expired / bytes;
  const chosen: MeasuredPack[] = [];
  let written = 0;
  for (const pack of [...packs].sort((a, b) => share(b) - share(a))) {
    const worthwhile = share(pack) >= WORTHWHILE[pack.bytes <= SMALL_PACK ? 'small' : 'large'];
    const survives = pack.bytes - pack.expired;
    if (!worthwhile || pack.special || written + survives > limit) continue;
    written += survives;
    chosen.push(pack);
  }
  return chosen;
}

async function rewritePacks(
  git: Git,
  objectsDir: string,
  chosen: readonly Pack[],
  expire: string,
): Promise<void> {
  const names = new Set(chosen.map(({ name }) => name));
  const keep = listPacks(objectsDir).filter(({ name }) => !names.has(name));
  const cruft = ['--cruft', `--cruft-expiration=${expire}`];
  await gitText(git, [...REPACK, '-a', ...cruft, ...keep.map(({ name }) => `--keep-pack=${name}`)]);
}

/**
 * Joins loose objects and small packs, so that each pack has at least twice the objects of the next smaller one. Packs
 * that would lead beyond `limit` bytes of writing stay as they are. Safe beside other writers: git removes only packs
 * whose objects it has just written. Nothing in a partial clone, where old gits mix promised objects with others.
 */
export async function joinPacks(git: Git, objectsDir: string, limit: number): Promise<void> {
  let written = 0;
  const keep: string[] = [];
  for (const { name, bytes, special } of listPacks(objectsDir).sort((a, b) => a.bytes - b.bytes)) {
    if (special || written + bytes > limit) keep.push(`--keep-pack=${name}`);
    else written += bytes;
  }
  await gitText(git, [...REPACK, '--geometric=2', ...keep]);
}

export async function isPartialClone(git: Git): Promise<boolean> {
  const pattern = '^(extensions\\.partialclone|remote\\..*\\.promisor)$';
  return ((await gitAnswer(git, ['config', '--get-regexp', pattern])) ?? '') !== '';
}

/**
 * How old an unreachable object must be to go: as asked for, or as git-gc(1) has it. git finds some time in any word where
 * it only parses one; where it expires something it is strict.
 * @throws AgtError for what is no time.
 */
export async function expiryTime(git: Git, asked: string | undefined): Promise<string> {
  const configured = await gitAnswer(git, ['config', '--get', 'gc.pruneExpire']);
  const expire = asked ?? configured?.trim() ?? '2.weeks.ago';
  const trial = await runGit(git, ['reflog', 'expire', '--dry-run', `--expire=${expire}`]); // of no reflog
  if (trial.exitCode === 0) return expire;
  throw usageError(`'${expire}' is no time`, "for example: --prune='3 days ago', --prune=now, --prune=never");
}
