/**
 * Measures the disk use of sessions: the objects that only shadow branches reach. If one history alone
 * reaches an object, the object counts as its own and is freed with it. If several reach it, it counts as
 * shared and is freed with the last.
 *
 * Objects that the user's branches, tags, remote-tracking branches or the work branches reach do not count.
 * agt does not look for a file in all old commits of those (src/git/objects/reachable.ts), so the figures can
 * be too high.
 */
import { statfsSync } from 'node:fs';
import { snapshotNamespaces, tipRef } from '../../filter/agent-refs.ts';
import { reachableObjects, sizesOnDisk } from '../../git/objects/reachable.ts';
import { type Git, gitLines } from '../../git/run/git.ts';
import { reportProgress } from '../../process/progress.ts';
import type { Repository } from '../../repository/repository.ts';
import { listRecords, type SessionRecord } from '../../session/record.ts';

/**
 * `histories` has the object or ref names of each history, by any key. Objects that `others` reach and objects in `excluded`
 * do not count. @returns in bytes: for each history what it alone and what others reach too, and the total of them all
 */
export async function costOf(
  git: Git,
  histories: ReadonlyMap<string, readonly string[]>,
  others: readonly string[],
  excluded: ReadonlySet<string> = new Set(),
) {
  const objectsOf = new Map<string, string[]>();
  const uses = new Map<string, number>();
  for (const [key, roots] of histories) {
    reportProgress('measuring histories', objectsOf.size + 1, histories.size);
    const objects = (await reachableObjects(git, roots, others)).filter((oid) => !excluded.has(oid));
    objectsOf.set(key, objects);
    for (const oid of objects) uses.set(oid, (uses.get(oid) ?? 0) + 1);
  }
  const oids = [...uses.keys()];
  const sizes = await sizesOnDisk(git, oids);
  const size = new Map(oids.map((oid, i) => [oid, sizes[i] ?? 0]));
  const sumOf = (objects: readonly string[]) => objects.reduce((sum, oid) => sum + (size.get(oid) ?? 0), 0);
  const each = [...objectsOf].map(([key, objects]) => {
    const own = sumOf(objects.filter((oid) => uses.get(oid) === 1));
    return [key, { own, shared: sumOf(objects) - own }] as const;
  });
  return { each: new Map(each), total: sumOf(oids) };
}

/**
 * The refs of snapshots, and all others: the user's and the work branches. For a branch also its tree: a file that it has
 * now does not count, whichever commit added it.
 */
export async function refsByUse({ git, prefixes }: Repository) {
  const namespaces = snapshotNamespaces(prefixes);
  const isOfSnapshots = (ref: string) => namespaces.some((namespace) => ref.startsWith(namespace));
  const refs = await gitLines(git, ['for-each-ref', '--format=%(refname)']);
  return {
    snapshots: refs.filter(isOfSnapshots),
    others: refs
      .filter((ref) => !isOfSnapshots(ref))
      .flatMap((ref) => (ref.startsWith('refs/heads/') ? [ref, `${ref}^{tree}`] : [ref])),
  };
}

/** They need not exist. */
export function refsOf(record: SessionRecord): string[] {
  return [tipRef(record.session_id), record.branch];
}

export async function diskUse(repository: Repository) {
  const { records } = listRecords(repository);
  const { snapshots, others } = await refsByUse(repository);
  const present = new Set(snapshots);
  const histories = records.map(
    (record) => [record.session_id, refsOf(record).filter((ref) => present.has(ref))] as const,
  );
  const costs = await costOf(repository.git, new Map(histories), others);
  return { ...costs, free: freeDisk(repository.commonDir) };
}

/** Bytes that this user can still write to that disk; Infinity if the file system does not report it. */
export function freeDisk(path: string): number {
  const { bavail, blocks, bsize } = statfsSync(path);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}
