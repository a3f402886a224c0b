/**
 * What the states of sessions cost: the objects that only shadow branches hold. An object that one history alone holds
 * is that history's own and goes with it; one that several hold is shared and goes with the last of them.
 *
 * What the user's branches, tags, remotes and the work branches hold costs nothing here; but a file that only an old
 * commit of theirs holds is not looked for everywhere (src/git/objects/reachable.ts), so the figures err upwards.
 */
import { statfsSync } from 'node:fs';
import { reachableObjects, sizesOnDisk } from '../../git/objects/reachable.ts';
import type { Git } from '../../git/run/git.ts';
import { gitText } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import { listRecords, type SessionRecord, tipRef } from '../../session/record.ts';

export interface HistoryCost {
  /** Bytes that would go with this history alone. */
  readonly own: number;
  /** Bytes that it shares with other histories of agt. */
  readonly shared: number;
}

export interface Costs {
  readonly each: ReadonlyMap<string, HistoryCost>;
  /** Bytes of everything that at least one of the histories holds. */
  readonly total: number;
}

/** `histories` are object or ref names by any key; what `others` reach counts for none of them. */
export async function costOf(
  git: Git,
  histories: ReadonlyMap<string, readonly string[]>,
  others: readonly string[],
  without: ReadonlySet<string> = new Set(),
): Promise<Costs> {
  const holders = new Map<string, string | null>(); // null: more than one
  const held = new Map<string, string[]>();
  for (const [key, roots] of histories) {
    const objects = (await reachableObjects(git, roots, others)).filter((oid) => !without.has(oid));
    held.set(key, objects);
    for (const oid of objects) holders.set(oid, holders.has(oid) ? null : key);
  }
  const oids = [...holders.keys()];
  const sizes = await sizesOnDisk(git, oids);
  const size = new Map(oids.map((oid, i) => [oid, sizes[i] ?? 0]));
  const each = new Map<string, HistoryCost>();
  for (const [key, objects] of held) {
    let own = 0;
    let shared = 0;
    for (const oid of objects) {
      if (holders.get(oid) === null) shared += size.get(oid) ?? 0;
      else own += size.get(oid) ?? 0;
    }
    each.set(key, { own, shared });
  }
  return { each, total: sizes.reduce((sum, bytes) => sum + bytes, 0) };
}

/**
 * Every ref that is no record of states: the user's, and the work branches. Of branches the tree as well, so that a
 * file counts as theirs that they hold now, however it came there.
 */
export async function nonSnapshotRefs(repository: Repository): Promise<string[]> {
  const listed = await gitText(repository.git, ['for-each-ref', '--format=%(refname)']);
  const own = ['refs/agt/tip/', `refs/heads/${repository.settings.branchPrefix}`];
  return listed
    .split('\n')
    .filter((ref) => ref !== '' && !own.some((prefix) => ref.startsWith(prefix)))
    .flatMap((ref) => (ref.startsWith('refs/heads/') ? [ref, `${ref}^{tree}`] : [ref]));
}

/** Refs of the session's states that are there. */
export async function snapshotRefsBySession(
  repository: Repository,
  records: readonly SessionRecord[],
): Promise<Map<string, string[]>> {
  const there = new Set((await gitText(repository.git, ['for-each-ref', '--format=%(refname)'])).split('\n'));
  return new Map(
    records.map((record) => [
      record.session_id,
      [tipRef(record.session_id), record.branch].filter((ref) => there.has(ref)),
    ]),
  );
}

export interface DiskUse extends Costs {
  /** Bytes that this user may still write where the objects are; Infinity where the file system does not say. */
  readonly free: number;
}

export async function diskUse(repository: Repository): Promise<DiskUse> {
  const { records } = listRecords(repository);
  const costs = await costOf(
    repository.git,
    await snapshotRefsBySession(repository, records),
    await nonSnapshotRefs(repository),
  );
  return { ...costs, free: freeDisk(repository.commonDir) };
}

export function freeDisk(path: string): number {
  const { bavail, blocks, bsize } = statfsSync(path);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}
