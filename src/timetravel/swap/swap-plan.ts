/**
 * Plans how to make of a frozen moment what a restore would leave in the session folder: the paths of the restore as in the
 * snapshot, and all others as they are now. It is a pure function of two stat caches and the plan of the restore. A file
 * that has the same stat data in both caches is the same one, with everything that no snapshot has: times, owner, extended
 * attributes, hard links. All others come from the session folder.
 */
import type { CachedDirectories } from '../../autocommit/stat-cache/cached-directories.ts';
import type { CachedFiles } from '../../autocommit/stat-cache/cached-files.ts';
import { isSameFile, pairRows } from '../../autocommit/stat-cache/compare-files.ts';
import type { CheckoutPlan, FileToWrite } from '../../checkout/plan.ts';
import { parentPath } from '../../disk/parent-path.ts';
import { parentDirectories } from '../../snapshot/directories.ts';

/** A stat cache of a folder in which everything is captured. */
export interface CachedFolder {
  readonly files: CachedFiles;
  readonly directories: CachedDirectories;
}

/** Paths are relative to the session folder, one byte per character. */
export interface SwapPlan {
  /** For the clone, before anything is copied. It sets no permission bits. */
  readonly first: CheckoutPlan;
  /** Files, links and directories of the session folder to copy with all that belongs to them; of a directory only itself. */
  readonly copied: readonly string[];
  /** In bytes. */
  readonly copiedSize: number;
  /** Files that the moment has as in the snapshot, and the session folder in another way. */
  readonly replacing: readonly string[];
  /** Permission bits to set last. */
  readonly modes: ReadonlyMap<string, number>;
  /** Number of paths to write, copy or delete in the clone. */
  readonly size: number;
}

/** A share of the cost of writing the file. */
const COST_OF_NEW_TIME = 0.1;

const TYPE = 0o170000;
const LINK = 0o120000;
const REGULAR = 0o100000;
const BITS = 0o7777;
const SET_ID_BITS = 0o6000;

/** `restore` leads from the session folder as it is now, whose stat cache is `now`, to the snapshot. */
export function planSwap(restore: CheckoutPlan, now: CachedFolder, moment: CachedFolder): SwapPlan {
  const files = compareFiles(restore, now.files, moment.files);
  const directories = compareDirectories(restore, now, moment.directories, files.inhabited);
  const { deletions, copied: copiedFiles, writes } = files;
  const copied = [...copiedFiles, ...directories.copied];
  const modes = new Map([...directories.modes, ...restore.modes]);
  const first = {
    ...{ deletions, writes, blocked: [], modes: new Map<string, number>(), owners: restore.owners },
    ...{ directories: restore.directories, emptiedDirectories: directories.emptied },
    emptyDirectories: { made: [], removed: [] },
  };
  const replacing = restore.writes
    .filter(({ path, isNew }) => !isNew && files.kept.has(path))
    .map(({ path }) => path);
  const written = deletions.length + writes.length + copied.length + modes.size + directories.emptied.length;
  const size = written + replacing.length * COST_OF_NEW_TIME;
  return { first, copied, copiedSize: files.copiedSize, replacing, modes, size };
}

interface ComparedFiles {
  readonly deletions: readonly string[];
  readonly copied: readonly string[];
  readonly copiedSize: number;
  readonly writes: readonly FileToWrite[];
  /** Files of the snapshot that the moment has already. */
  readonly kept: ReadonlySet<string>;
  /** Directories of the session folder in which a file stays. */
  readonly inhabited: ReadonlySet<string>;
}

function compareFiles(restore: CheckoutPlan, now: CachedFiles, moment: CachedFiles): ComparedFiles {
  const written = new Map(restore.writes.map((file) => [file.path, file]));
  const deleted = new Set(restore.deletions);
  const changedIn = new Set([...written.keys(), ...deleted].map(parentPath));
  const mayChange = now.columns.directories.map((path) => changedIn.has(path));
  const isChanged = (path: string) => written.has(path) || deleted.has(path);
  const used = new Uint8Array(moment.length);
  const inhabited = new Uint8Array(now.columns.directories.length);
  const copied: string[] = [];
  let copiedSize = 0;
  for (const [row, pair] of pairRows(now, moment).entries()) {
    const directory = now.columns.directoryOf[row] as number;
    if (mayChange[directory] && isChanged(now.path(row))) continue;
    inhabited[directory] = 1;
    if (pair >= 0) used[pair] = 1;
    if (pair >= 0 && isSameFile(now, row, moment, pair)) continue;
    copied.push(now.path(row));
    copiedSize += now.size(row);
  }
  const kept = new Set<string>();
  const writes: FileToWrite[] = [];
  for (const file of restore.writes) {
    const row = moment.find(file.path);
    if (row >= 0) used[row] = 1;
    if (row >= 0 && isWanted(moment, row, file)) kept.add(file.path);
    else writes.push({ ...file, isNew: row < 0 });
  }
  const deletions: string[] = [];
  for (let row = used.indexOf(0); row >= 0; row = used.indexOf(0, row + 1)) deletions.push(moment.path(row));
  const names = now.columns.directories.filter((_, number) => inhabited[number] === 1);
  return { deletions, copied, copiedSize, writes, kept, inhabited: new Set(names) };
}

/** A file that runs with the rights of its owner is written, as a restore would. */
function isWanted(files: CachedFiles, row: number, { oid, kind, bits }: FileToWrite): boolean {
  const mode = files.mode(row);
  if (files.oid(row) !== oid) return false;
  if (kind === 'link') return (mode & TYPE) === LINK;
  return (mode & TYPE) === REGULAR && (mode & BITS) === bits && (bits & SET_ID_BITS) === 0;
}

interface ComparedDirectories {
  /** Those of the moment, deepest first. */
  readonly emptied: readonly string[];
  readonly copied: readonly string[];
  readonly modes: ReadonlyMap<string, number>;
}

function compareDirectories(
  restore: CheckoutPlan,
  now: CachedFolder,
  moment: CachedDirectories,
  inhabited: ReadonlySet<string>,
): ComparedDirectories {
  const staying = stayingDirectories(restore, now.directories, inhabited);
  const copied: string[] = [];
  for (const path of staying) {
    const row = moment.find(path);
    if (row < 0 || !now.directories.isAsIn(now.directories.find(path), moment, row)) copied.push(path);
  }
  const modes = new Map<string, number>();
  for (const [path, bits] of restore.directories) {
    const row = moment.find(path);
    if (!staying.has(path) && row >= 0 && (moment.mode(row) & BITS) !== bits) modes.set(path, bits);
  }
  const emptied = moment.paths.filter((path) => !staying.has(path) && !restore.directories.has(path));
  // Parents come before what is in them, so that each exists when it is copied.
  const byLength = (a: string, b: string) => a.length - b.length;
  return { emptied: emptied.sort(byLength).reverse(), copied: copied.sort(byLength), modes };
}

/** The directories of the session folder that the restore leaves. */
function stayingDirectories(
  { emptiedDirectories, directories: made }: CheckoutPlan,
  { paths }: CachedDirectories,
  inhabited: ReadonlySet<string>,
): ReadonlySet<string> {
  const mayGo = new Set(emptiedDirectories);
  const occupied = new Set(
    [...inhabited, ...made.keys()].flatMap((path) => [path, ...parentDirectories(path)]),
  );
  const staying = new Set<string>();
  for (const path of [...paths].sort((a, b) => b.length - a.length)) {
    if (mayGo.has(path) && !occupied.has(path)) continue;
    staying.add(path);
    for (const parent of parentDirectories(path)) occupied.add(parent);
  }
  return staying;
}
