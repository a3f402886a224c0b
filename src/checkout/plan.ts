/**
 * Plans how to bring a folder from one snapshot into another: files byte for byte, links, permissions and empty
 * directories. The plan changes no file that both have, nothing outside the scope, and nothing that was never captured.
 */
import { LINK, PROGRAM } from '../git/modes.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import type { Git } from '../git/run/git.ts';
import { isUnder, TOP_FOLDERS, underAny } from '../snapshot/folders.ts';
import type { SnapshotMetadata } from '../snapshot/manifest.ts';
import {
  type ChangedFile,
  diffSnapshots,
  listDirectories,
  parentDirectories,
  readSnapshotTree,
  type TreeEntry,
} from '../snapshot/tree.ts';
import { encodePath } from '../snapshot/tree-names.ts';

export interface FileToWrite {
  readonly path: string;
  readonly oid: string;
  readonly kind: 'file' | 'link';
  /** Permission bits; without meaning for a link. */
  readonly bits: number;
  /** The folder holds no captured file of this name. */
  readonly isNew: boolean;
}

export interface CheckoutPlan {
  /** Files and links to delete. */
  readonly deletions: readonly string[];
  /** Directories to delete if nothing is left in them, deepest first. */
  readonly emptiedDirectories: readonly string[];
  /** Directories that must exist, parents first, with the permission bits for those that do not exist yet. */
  readonly directories: ReadonlyMap<string, number>;
  readonly writes: readonly FileToWrite[];
  /** Empty directories that come or go. */
  readonly emptyDirectories: { readonly made: readonly string[]; readonly removed: readonly string[] };
  /** Permission bits to set on files and directories that stay. */
  readonly modes: ReadonlyMap<string, number>;
  /** The owners of files with a set-user-ID or set-group-ID bit, as far as the snapshot records them. */
  readonly owners: SnapshotMetadata['owners'];
  /** Paths that cannot be restored, because something that was never captured is in the way. */
  readonly blocked: readonly string[];
}

/** Files that have changed in a folder since its snapshot, for a plan that nobody carries out. */
export interface FolderOnDisk {
  readonly changes: readonly ChangedFile[];
  readonly directories: ReadonlySet<string>;
}

/**
 * Plans how to get from one snapshot to another within `scope`: files and directories that may change. Without `from` the
 * folder is empty. With `onDisk`, `from` describes the files there, and is the metadata of a snapshot only by its commit.
 */
export async function prepareCheckout(
  git: Git,
  from: SnapshotMetadata | undefined,
  to: SnapshotMetadata,
  scope: readonly string[],
  onDisk?: FolderOnDisk,
): Promise<CheckoutPlan> {
  const toWanted = await diffSnapshots(git, from?.commit, to.commit);
  const differences = onDisk === undefined ? toWanted : fromDisk(toWanted, onDisk.changes);
  const possible = possibleDirectories(from, to, differences);
  const [directories, directoriesBefore, files, unseen] = await Promise.all([
    listDirectories(git, to, possible),
    onDisk?.directories ?? (from === undefined ? new Set<string>() : listDirectories(git, from, possible)),
    defaultModesDiffer(from, to) ? readSnapshotTree(git, to.commit) : undefined,
    listUnseen(git, from, to, scope),
  ]);
  return planCheckout({ from, to, differences, directories, directoriesBefore, files, unseen, scope });
}

/** Files of which `from` has left a change out, and has the content of `to`: that is not what is on disk. */
async function listUnseen(
  git: Git,
  from: SnapshotMetadata | undefined,
  to: SnapshotMetadata,
  scope: readonly string[],
): Promise<string[]> {
  const paths = from?.skipped.filter((path) => isUnder(path, scope) && !to.skipped.includes(path)) ?? [];
  if (from === undefined || paths.length === 0) return [];
  const names = [from, to].flatMap(({ commit }) => paths.map((path) => `${commit}:${encodePath(path)}`));
  const oids = (await findObjects(git, names)).map((object) => object?.oid);
  return paths.filter((_, i) => oids[i] !== undefined && oids[i] === oids[i + paths.length]);
}

/** From the disk to the wanted snapshot, given how each of them differs from the last snapshot. */
function fromDisk(toWanted: readonly ChangedFile[], toDisk: readonly ChangedFile[]): ChangedFile[] {
  const all = new Map(toWanted.map((difference) => [difference.path, difference]));
  for (const { path, before, after: onDisk } of toDisk) {
    const wanted = all.has(path) ? all.get(path)?.after : before;
    if (wanted?.oid === onDisk?.oid && wanted?.mode === onDisk?.mode) all.delete(path);
    else all.set(path, { path, before: onDisk, after: wanted });
  }
  return [...all.values()];
}

interface CheckoutRequest {
  readonly from: SnapshotMetadata | undefined;
  readonly to: SnapshotMetadata;
  readonly differences: readonly ChangedFile[];
  /** The directories of `to`, at least those among `possibleDirectories`. */
  readonly directories: ReadonlySet<string>;
  /** The directories of `from`, as far. */
  readonly directoriesBefore: ReadonlySet<string>;
  /** Every file of `to`, if `defaultModesDiffer`. */
  readonly files: ReadonlyMap<string, TreeEntry> | undefined;
  readonly unseen: readonly string[];
  readonly scope: readonly string[];
}

function planCheckout(request: CheckoutRequest): CheckoutPlan {
  const { from, to, scope } = request;
  const isThere = blockedBy(from?.skipped ?? []);
  const isLeftOut = blockedBy([...(from?.skipped ?? []), ...to.skipped]);
  // A snapshot keeps what an earlier one has of a file that has become too large.
  const isBlocked = ({ path, after }: ChangedFile) => (after === undefined ? isLeftOut : isThere)(path);
  const wanted = differencesInScope(request);
  const changes = wanted.filter((change) => !isBlocked(change));
  const deletions = changes.filter(({ after }) => after === undefined).map(({ path }) => path);
  const writes = changes.flatMap((change) => fileToWrite(change, to) ?? []);
  const emptyDirectories = to.emptyDirectories.filter((path) => isUnder(path, scope) && !isLeftOut(path));
  const emptied = emptiedDirectories(request, deletions);
  const emptyBefore = new Set(from?.emptyDirectories);
  return {
    deletions,
    emptiedDirectories: emptied,
    emptyDirectories: {
      made: emptyDirectories.filter((path) => !request.directoriesBefore.has(path)),
      removed: emptied.filter((path) => emptyBefore.has(path)),
    },
    directories: directoriesToMake(writes, emptyDirectories, to),
    writes,
    modes: changedModes(request, changes),
    owners: to.owners,
    blocked: [...wanted.filter(isBlocked).map(({ path }) => path), ...request.unseen],
  };
}

/** The paths that a plan must know as a directory or not; undefined for all. */
function possibleDirectories(
  from: SnapshotMetadata | undefined,
  to: SnapshotMetadata,
  differences: readonly ChangedFile[],
): Set<string> | undefined {
  if (defaultModesDiffer(from, to)) return undefined;
  const deletions = differences.filter(({ after }) => after === undefined).map(({ path }) => path);
  const emptyDirectories = from?.emptyDirectories ?? [];
  return new Set([
    ...TOP_FOLDERS,
    ...to.emptyDirectories,
    ...deletions.flatMap(parentDirectories),
    ...emptyDirectories.flatMap((path) => [path, ...parentDirectories(path)]),
    ...to.modes.others.keys(),
    ...(from?.modes.others.keys() ?? []),
  ]);
}

/** The differences in the scope, and files outside it whose path must become a directory for a file in the scope. */
function differencesInScope({ differences, scope }: CheckoutRequest): ChangedFile[] {
  const within = differences.filter(({ path }) => isUnder(path, scope));
  const neededDirectories = new Set(
    within.filter(({ after }) => after !== undefined).flatMap(({ path }) => parentDirectories(path)),
  );
  const inTheWay = differences.filter(({ path }) => !isUnder(path, scope) && neededDirectories.has(path));
  return [...within, ...inTheWay];
}

/** Whether a path that was never captured blocks another one: itself, all below it and every directory above it. */
function blockedBy(paths: readonly string[]): (path: string) => boolean {
  const parents = new Set(paths.flatMap(parentDirectories));
  const isUnderOne = underAny(paths);
  return (path) => parents.has(path) || isUnderOne(path);
}

function fileToWrite({ path, before, after }: ChangedFile, to: SnapshotMetadata): FileToWrite | undefined {
  if (after === undefined) return undefined;
  const common = { path, oid: after.oid, isNew: before === undefined };
  if (after.mode === LINK) return { ...common, kind: 'link', bits: 0o777 };
  return {
    ...common,
    kind: 'file',
    bits: permissionBits(to, path, after.mode === PROGRAM ? 'program' : 'file'),
  };
}

function permissionBits({ modes }: SnapshotMetadata, path: string, kind: keyof typeof modes.usual): number {
  return modes.others.get(path) ?? modes.usual[kind];
}

function emptiedDirectories(
  { from, directories, scope }: CheckoutRequest,
  deletions: readonly string[],
): string[] {
  // A new session has all of its top-level folders. In the snapshot one of them may be a link.
  const made = from === undefined ? TOP_FOLDERS.filter((top) => isUnder(top, scope)) : [];
  const candidates = new Set([...made, ...deletions.flatMap(parentDirectories)]);
  for (const path of from?.emptyDirectories ?? []) {
    if (isUnder(path, scope)) for (const part of [path, ...parentDirectories(path)]) candidates.add(part);
  }
  return [...candidates]
    .filter((path) => !directories.has(path) && path !== 'sandbox')
    .sort((a, b) => b.length - a.length);
}

function directoriesToMake(
  writes: readonly FileToWrite[],
  emptyDirectories: readonly string[],
  to: SnapshotMetadata,
): Map<string, number> {
  const needed = [...writes.flatMap(({ path }) => parentDirectories(path)), ...emptyDirectories];
  const all = new Set(needed.flatMap((path) => [path, ...parentDirectories(path)]));
  const parentsFirst = [...all].sort((a, b) => a.length - b.length);
  return new Map(parentsFirst.map((path) => [path, permissionBits(to, path, 'directory')]));
}

/** Whether the snapshots differ in the bits of most files: then it is not enough to compare the bits that they list. */
function defaultModesDiffer(from: SnapshotMetadata | undefined, to: SnapshotMetadata): boolean {
  const kinds = ['file', 'program', 'directory'] as const;
  return from !== undefined && kinds.some((kind) => from.modes.usual[kind] !== to.modes.usual[kind]);
}

/** Permission bits of files and directories that are in both snapshots. */
function changedModes(request: CheckoutRequest, changes: readonly ChangedFile[]): Map<string, number> {
  const { from, to, directories, directoriesBefore, files, scope } = request;
  const modes = new Map<string, number>();
  if (from === undefined) return topFolderModes(request);
  const isNotCaptured = underAny(to.skipped);
  const changed = new Set(changes.map(({ path }) => path));
  for (const path of pathsToCompare(request, from)) {
    if (changed.has(path) || !isUnder(path, scope) || isNotCaptured(path)) continue;
    const isDirectory = directories.has(path);
    if (isDirectory !== directoriesBefore.has(path)) continue;
    if (files?.get(path)?.mode === LINK) continue;
    const listed = from.modes.others.get(path) ?? to.modes.others.get(path) ?? 0;
    // The file has not changed, so it is as executable in one snapshot as in the other.
    const isProgram = files?.get(path)?.mode === PROGRAM || (listed & 0o100) !== 0;
    const kind = isDirectory ? 'directory' : isProgram ? 'program' : 'file';
    const bits = permissionBits(to, path, kind);
    if (bits !== permissionBits(from, path, kind)) modes.set(path, bits);
  }
  return modes;
}

/** Somebody else made the top-level folders of an empty session folder. */
function topFolderModes({ to, directories, scope }: CheckoutRequest): Map<string, number> {
  const folders = TOP_FOLDERS.filter((top) => directories.has(top) && isUnder(top, scope));
  return new Map(folders.map((top) => [top, permissionBits(to, top, 'directory')]));
}

/** The paths whose bits one of the snapshots lists; all paths if the bits of most files differ. */
function pathsToCompare({ to, files, directories }: CheckoutRequest, from: SnapshotMetadata): Set<string> {
  const paths = new Set([...to.modes.others.keys(), ...from.modes.others.keys()]);
  if (!defaultModesDiffer(from, to)) return paths;
  for (const path of [...(files?.keys() ?? []), ...directories]) paths.add(path);
  return paths;
}
