/**
 * What has to be done to a folder that is in one snapshot, to bring it into another. Pure: the snapshots are read before, and
 * nothing is done here. Whatever was not captured is left alone, and so is everything outside the scope.
 */

import type { ChangedFile } from '../snapshot/diff.ts';
import { parentDirectories } from '../snapshot/directories.ts';
import { isUnder } from '../snapshot/folders.ts';
import type { SnapshotMetadata } from '../snapshot/metadata.ts';
import type { TreeEntry } from '../snapshot/tree.ts';

export interface FileToWrite {
  readonly path: string;
  readonly oid: string;
  readonly kind: 'file' | 'link';
  /** Permission bits; of a link they mean nothing. */
  readonly bits: number;
  /** Whether something of that name was captured before. */
  readonly isNew: boolean;
}

export interface CheckoutPlan {
  /** Files and links. */
  readonly deletions: readonly string[];
  /** Directories that go if nothing is left in them, deepest first. */
  readonly leavings: readonly string[];
  /** Directories that have to be there, parents first, with the permission bits of those that are not there yet. */
  readonly directories: ReadonlyMap<string, number>;
  readonly writes: readonly FileToWrite[];
  /** Permission bits of what stays. */
  readonly modes: ReadonlyMap<string, number>;
  /** Paths that stay as they are because something stands there that was not captured. */
  readonly kept: readonly string[];
}

export interface CheckoutWish {
  /** Undefined where the folder holds nothing. */
  readonly from: SnapshotMetadata | undefined;
  readonly to: SnapshotMetadata;
  readonly differences: readonly ChangedFile[];
  /** Every directory of `to`, and of `from`. */
  readonly directories: ReadonlySet<string>;
  readonly directoriesBefore: ReadonlySet<string>;
  /** Every file of `to`; wanted only where the two snapshots differ in what is usual (see `isOtherwiseUsual`). */
  readonly files: ReadonlyMap<string, TreeEntry> | undefined;
  /** Paths relative to the session folder, files or directories: what may change. */
  readonly scope: readonly string[];
}

export function planCheckout(wish: CheckoutWish): CheckoutPlan {
  const { from, to } = wish;
  const concerned = inScope(wish);
  const standing = new Standing([...(from?.skipped ?? []), ...to.skipped]);
  const kept = concerned.filter(({ path }) => standing.isInTheWayOf(path)).map(({ path }) => path);
  const changes = concerned.filter(({ path }) => !standing.isInTheWayOf(path));

  const deletions = changes.filter(({ after }) => after === undefined).map(({ path }) => path);
  const writes = changes.flatMap(({ path, before, after }): FileToWrite[] => {
    if (after === undefined) return [];
    const common = { path, oid: after.oid, isNew: before === undefined };
    if (after.mode === '120000') return [{ ...common, kind: 'link', bits: 0o777 }];
    const kind = after.mode === '100755' ? 'program' : 'file';
    return [{ ...common, kind: 'file', bits: to.modes.others.get(path) ?? to.modes.usual[kind] }];
  });
  const empty = to.emptyDirectories.filter(
    (path) => isUnder(path, wish.scope) && !standing.isInTheWayOf(path),
  );
  return {
    deletions,
    leavings: leavings(wish, deletions),
    directories: new Map(
      withParents([...writes.flatMap(({ path }) => parentDirectories(path).slice(0, 1)), ...empty]).map(
        (path) => [path, to.modes.others.get(path) ?? to.modes.usual.directory],
      ),
    ),
    writes,
    modes: changedModes(wish, changes),
    kept,
  };
}

/** What lies in the scope, and a file that stands where the scope needs a directory. */
function inScope({ differences, scope }: CheckoutWish): ChangedFile[] {
  const within = differences.filter(({ path }) => isUnder(path, scope));
  const needed = new Set(
    within.filter(({ after }) => after !== undefined).flatMap(({ path }) => parentDirectories(path)),
  );
  return [...within, ...differences.filter(({ path }) => !isUnder(path, scope) && needed.has(path))];
}

/** What was not captured stays: a path is blocked by it, by what lies in it and by what it lies in. */
class Standing {
  private readonly paths: ReadonlySet<string>;
  private readonly above: ReadonlySet<string>;

  constructor(paths: readonly string[]) {
    this.paths = new Set(paths);
    this.above = new Set(paths.flatMap(parentDirectories));
  }

  isInTheWayOf(path: string): boolean {
    if (this.paths.size === 0) return false;
    return this.above.has(path) || [path, ...parentDirectories(path)].some((part) => this.paths.has(part));
  }
}

function leavings({ from, directories, scope }: CheckoutWish, deletions: readonly string[]): string[] {
  const candidates = new Set(deletions.flatMap(parentDirectories));
  for (const path of from?.emptyDirectories ?? []) {
    if (isUnder(path, scope)) for (const part of [path, ...parentDirectories(path)]) candidates.add(part);
  }
  return [...candidates]
    .filter((path) => !directories.has(path) && path !== 'sandbox')
    .sort((a, b) => b.length - a.length);
}

function withParents(paths: readonly string[]): string[] {
  const all = new Set<string>();
  for (const path of paths) for (const part of [path, ...parentDirectories(path)]) all.add(part);
  return [...all].sort((a, b) => a.length - b.length);
}

/** Whether permission bits have to be looked at beyond those that the snapshots list. */
export function isOtherwiseUsual(from: SnapshotMetadata | undefined, to: SnapshotMetadata): boolean {
  const kinds = ['file', 'program', 'directory'] as const;
  return from !== undefined && kinds.some((kind) => from.modes.usual[kind] !== to.modes.usual[kind]);
}

/** Permission bits of the files and directories that both snapshots have. */
function changedModes(wish: CheckoutWish, changes: readonly ChangedFile[]): Map<string, number> {
  const { from, to, directories, directoriesBefore, files, scope } = wish;
  const changed = new Set(changes.map(({ path }) => path));
  const modes = new Map<string, number>();
  const listed = new Set([...to.modes.others.keys(), ...(from?.modes.others.keys() ?? [])]);
  if (isOtherwiseUsual(from, to))
    for (const path of [...(files?.keys() ?? []), ...directories]) listed.add(path);
  for (const path of listed) {
    if (from === undefined || changed.has(path) || !isUnder(path, scope)) continue;
    const isDirectory = directories.has(path);
    if (isDirectory !== directoriesBefore.has(path)) continue;
    if (files?.get(path)?.mode === '120000') continue;
    const [before, after] = [from, to].map((content) => content.modes.others.get(path));
    // The tree says that a file is as executable as it was.
    const isProgram = files?.get(path)?.mode === '100755' || ((before ?? after ?? 0) & 0o100) !== 0;
    const kind = isDirectory ? 'directory' : isProgram ? 'program' : 'file';
    const bits = after ?? to.modes.usual[kind];
    if (bits !== (before ?? from.modes.usual[kind])) modes.set(path, bits);
  }
  return modes;
}
