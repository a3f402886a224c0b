/**
 * Brings the files of the checkout from one snapshot into another, as a restore does. agt replaces and deletes only what
 * the first one holds, by content. A path that is already as wanted stays: so the same step can be taken again after a kill.
 */
import type { Stats } from 'node:fs';
import { linkedSandbox } from '../../autocommit/observe.ts';
import { hasContent } from '../../autocommit/scan/content.ts';
import { applyPlan, type Unfinished } from '../../checkout/apply.ts';
import type { TargetFolder } from '../../checkout/folder-writer.ts';
import { type CheckoutPlan, type FileToWrite, prepareCheckout } from '../../checkout/plan.ts';
import { requireSpaceFor } from '../../checkout/required-space.ts';
import { insideCheck } from '../../disk/is-inside.ts';
import { type LinkedEntry, withDisk } from '../../disk/open-directories.ts';
import { parentPath } from '../../disk/path-bytes.ts';
import type { SessionRecord } from '../../session/record.ts';
import type { SnapshotMetadata } from '../../snapshot/manifest.ts';
import { diffSnapshots, parentDirectories } from '../../snapshot/tree.ts';
import { folderPath, sweepTemporary } from '../../workspace/killed-restore.ts';
import type { InPlace } from './checkout.ts';

/** Paths in a move are relative to the session folder, one byte per character. */
export interface Move {
  /** Without what is already as wanted, and without `later`. */
  readonly plan: CheckoutPlan;
  /** Files that the other snapshot has not, and that are in nothing's way. */
  readonly later: readonly string[];
  /** The directories of all files that differ: a killed agt may have left something there. */
  readonly parents: ReadonlySet<string>;
  readonly folder: TargetFolder;
}

export interface Moving {
  readonly from: SnapshotMetadata;
  readonly to: SnapshotMetadata;
  /** Whether a path stays as it is. `isChange`: both snapshots have the file. */
  readonly stays?: (path: string, isChange: boolean) => boolean;
  /** Directories that come, though no file of the snapshot is in them. */
  readonly directories?: readonly string[];
  /** In seconds. */
  readonly mtimeOf?: TargetFolder['mtimeOf'];
}

export async function planMove(place: InPlace, moving: Moving): Promise<Move> {
  const { git, record } = place;
  const { from, to, stays = () => false, directories = [], mtimeOf } = moving;
  // A `.git` that was there at the beginning is in nothing's way now: `from` has those that are.
  const wanted = { ...to, skipped: to.skipped.filter((one) => !one.endsWith('/.git')) };
  const whole = await prepareCheckout(git, from, wanted, ['sandbox']);
  const before = new Map(
    (await diffSnapshots(git, from.commit, to.commit)).map((one) => [one.path, one.before]),
  );
  const path = folderPath(record);
  const linked = linkedSandbox(record);
  const has = contentCheck(path, linked);
  const isCaptured = (one: string, stat: Stats) => has(one, stat, before.get(one)?.oid);
  const isWanted = (file: FileToWrite, stat: Stats | undefined) =>
    stat !== undefined &&
    stat.isSymbolicLink() === (file.kind === 'link') &&
    (file.kind === 'link' || (stat.mode & PERMISSIONS) === file.bits) &&
    has(file.path, stat, file.oid);
  const writes = withDisk(path, linked, (disk) =>
    whole.writes.filter((one) => !stays(one.path, !one.isNew) && !isWanted(one, disk.lstat(one.path))),
  );
  const files = new Set(whole.writes.map((file) => file.path));
  const coming = new Set(directories.flatMap((one) => [one, ...parentDirectories(one)]));
  const isInTheWay = (one: string) =>
    whole.directories.has(one) ||
    coming.has(one) ||
    parentDirectories(one).some((parent) => files.has(parent));
  // A directory that has come in the place of the file is not the file.
  const going = withDisk(path, linked, (disk) =>
    whole.deletions.filter((one) => !(stays(one, false) || disk.lstat(one)?.isDirectory())),
  );
  // A killed agt may have made a directory, and not yet given it its bits.
  const made = [...whole.directories].filter(([one]) => one !== 'sandbox');
  const modes = new Map([...made, ...whole.modes].filter(([one]) => !stays(one, true)));
  return {
    plan: { ...whole, writes, deletions: going.filter(isInTheWay), modes },
    later: going.filter((one) => !isInTheWay(one)),
    parents: new Set(whole.writes.map((file) => parentPath(file.path))),
    folder: { path, linked, isCaptured, mtimeOf, durable: true },
  };
}

const PERMISSIONS = 0o7777;

/** The files on disk that are neither as in the one snapshot nor as in the other. */
export function changedSince({ plan, later, folder }: Move): string[] {
  const { path, linked, isCaptured } = folder;
  const touched = [...plan.writes.map((file) => file.path), ...plan.deletions, ...later];
  return withDisk(path, linked, (disk) =>
    touched.filter((one) => {
      const stat = disk.lstat(one);
      return stat !== undefined && !stat.isDirectory() && !isCaptured(one, stat);
    }),
  );
}

export async function move({ git }: InPlace, { plan, parents, folder }: Move): Promise<Unfinished> {
  sweepTemporary(parents, folder);
  await requireSpaceFor(git, plan, Buffer.from(folder.path, 'latin1').toString(), folder.linked);
  return applyPlan(git, plan, folder);
}

/** Deletes files of `later`, and the directories that are empty then. */
export function deleteLater({ git }: InPlace, { plan, folder }: Move, deletions: readonly string[]) {
  const nothing = { directories: new Map(), writes: [], modes: new Map() };
  return applyPlan(git, { ...plan, ...nothing, deletions }, folder);
}

/** Compares the content of a file with a blob. */
function contentCheck(folder: string, linked: LinkedEntry | undefined) {
  const isInside = insideCheck(folder, linked);
  return (path: string, stat: Stats, oid: string | undefined): boolean =>
    oid !== undefined &&
    (stat.isFile() || stat.isSymbolicLink()) &&
    hasContent(`${folder}/${path}`, oid, isInside);
}

/** `isOnDisk`: whether a file of the checkout has the content of a blob; with undefined: whether nothing is there. */
export function whatIsOnDisk(
  record: SessionRecord,
  action: (isOnDisk: (path: string, oid: string | undefined) => boolean) => void,
): void {
  const path = folderPath(record);
  const linked = linkedSandbox(record);
  const has = contentCheck(path, linked);
  withDisk(path, linked, (disk) =>
    action((one, oid) => {
      const stat = disk.lstat(`sandbox/${one}`);
      return stat === undefined ? oid === undefined : has(`sandbox/${one}`, stat, oid);
    }),
  );
}
