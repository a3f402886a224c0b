/**
 * The state that the checkout is to have, as a snapshot and an index. The first snapshot is the user's state, byte for
 * byte. For the agent's beginning the uncommitted work is out of it; at the end new commits of the branch are in it. git
 * makes index and files of both in a directory of its own, so that agt writes all that is in the checkout by one plan.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withIndexCopy } from '../../autocommit/staged-index.ts';
import { parseIndex, SKIP_WORKTREE } from '../../git/files/index-file.ts';
import { FILE, IN_INDEX, LINK, PROGRAM, SUBMODULE } from '../../git/modes.ts';
import { type DiffEntry, diffIndex, diffTrees, editsOf, entryOf } from '../../git/objects/raw-diff.ts';
import { editIndex, editTree, withIndex } from '../../git/objects/scratch-index.ts';
import { fieldsOf, type Git, gitBytes, gitText } from '../../git/run/git.ts';
import { isUnder } from '../../snapshot/folders.ts';
import { readCapturedIndex } from '../../snapshot/format.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import { parentDirectories, readSnapshotTree, type TreeEntry } from '../../snapshot/tree.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { gitDir, type InPlace } from './checkout.ts';
import type { UsersSide } from './users-side.ts';

export interface Target {
  /** Its tree is no commit. */
  readonly snapshot: SnapshotMetadata;
  /** Undefined if there was none. */
  readonly index: Buffer | undefined;
  /** Submodules that the new commits change, and the user had not: they stay as the agent leaves them. */
  readonly submodules: ReadonlySet<string>;
  /** The user's paths that the new commits change as well: the target has those of the commits. */
  readonly conflicts: readonly string[];
}

/** `tip`: the commit of the branch. `withWork`: with the user's uncommitted work. */
export async function planTarget(
  place: InPlace,
  side: UsersSide,
  { tip, withWork }: { readonly tip: string; readonly withWork: boolean },
): Promise<Target> {
  const { git, record } = place;
  const start = await readSnapshotMetadata(git, side.first);
  const raw = (await readCapturedIndex(git, side.first))?.content ?? Buffer.alloc(0);
  const base = record.from_commit;
  const landed = tip === base ? [] : await diffTrees(git, base, tip);
  const own = new Set(side.repositories.filter((one) => one.isChanged).map(({ path }) => path));
  const links = landed.filter(isSubmodule).map(({ path }) => path);
  const replaced = links.filter((path) => side.changed.includes(path));
  const submodules = new Set(links.filter((path) => !own.has(path) && !replaced.includes(path)));
  const stays = (path: string) => submodules.has(path.slice('sandbox/'.length));
  const first = { ...start, emptyDirectories: start.emptyDirectories.filter((path) => !stays(path)) };
  if (withWork && landed.length === 0)
    return { snapshot: first, index: raw.length === 0 ? undefined : raw, submodules, conflicts: [] };
  return withIndexCopy(gitDir(place), raw, async (copy) => {
    const scratch = inScratch(git, gitDir(place), copy);
    if (raw.length === 0) await gitText(scratch, ['read-tree', '--empty']);
    const conflicts = new Set<string>(withWork ? replaced : []);
    if (!withWork) {
      await gitText(scratch, ['read-tree', '--reset', base]);
      await forgetStat(scratch, copy, base.length / 2, side.changed);
    } else {
      const staged = await diffIndex(scratch, base);
      const found = conflictsOf(entriesOf(staged), entriesOf(landed));
      for (const path of found) conflicts.add(path);
      const conflicting = staged.filter(({ path }) => found.has(path));
      await editIndex(scratch, editsOf(conflicting, 'before'), base.length);
    }
    // The worktree is empty, which git takes for unchanged. It heeds a sparse checkout this way.
    if (landed.length > 0)
      await gitText(scratch, ['read-tree', '-m', '-u', '--no-recurse-submodules', base, tip]);
    const index = readFileSync(copy);
    const changed = withWork ? [] : [...side.changed, ...side.untracked];
    const staying = side.repositories.filter((one) => !submodules.has(one.path));
    const written = landed.filter((one) => !isSubmodule(one) && !meetsRepository(staying, one.path));
    const paths = [...changed, ...replaced, ...written.map(({ path }) => path)];
    const files = await writtenFiles(scratch, index, base.length / 2, paths);
    const { entries } = parseIndex(index, base.length / 2);
    const directories = entries.flatMap(({ path, mode }) =>
      mode === IN_INDEX.submodule && files.has(path) ? `sandbox/${path}` : [],
    );
    if (withWork) for (const path of await fileConflicts(git, side, files)) conflicts.add(path);
    const wanted = new Map([...conflicts].map((path) => [path, undefined] as const));
    const changedFiles = await edited(git, first, new Map([...wanted, ...files]), copy);
    const emptyDirectories = [...changedFiles.emptyDirectories, ...directories];
    const snapshot = { ...changedFiles, emptyDirectories };
    return { snapshot, index, submodules, conflicts: [...conflicts].sort() };
  });
}

/** git takes a file of another size than the entry for changed, even where only its line ends are others. */
async function forgetStat(scratch: Git, index: string, oidLength: number, paths: readonly string[]) {
  const known = new Set(paths);
  const entries = paths.length === 0 ? [] : parseIndex(readFileSync(index), oidLength).entries;
  const fresh = entries.filter(({ path, flags }) => known.has(path) && (flags & SKIP_WORKTREE) === 0);
  const edits = fresh.map(({ path, mode, oid }) => [path, `${mode.toString(8)} ${oid}`] as const);
  await editIndex(scratch, edits);
}

type Files = ReadonlyMap<string, TreeEntry | undefined>;

function isSubmodule({ before, after }: DiffEntry): boolean {
  return before?.mode === SUBMODULE || after?.mode === SUBMODULE;
}

/** With a worktree beside the index, which is empty at first. */
export function inScratch(git: Git, directory: string, index: string): Git {
  const { env, ...scratch } = withIndex(git, index);
  const worktree = join(dirname(index), 'worktree');
  mkdirSync(worktree, { recursive: true });
  return { ...scratch, cwd: worktree, env: { ...env, GIT_DIR: directory, GIT_WORK_TREE: worktree } };
}

/** The files as git writes them into the checkout: by the attributes and filters of that index. */
export async function writtenFiles(scratch: Git, index: Buffer, oidLength: number, paths: readonly string[]) {
  const wanted = new Set(paths);
  const files = new Map<string, TreeEntry | undefined>(paths.map((path) => [path, undefined]));
  const regular = new Map<string, string>();
  const top = Buffer.from(scratch.cwd).toString('latin1');
  for (const { path, mode, oid, flags } of parseIndex(index, oidLength).entries) {
    if (!wanted.has(path)) continue;
    // Outside of a sparse checkout git has written such a file here, and writes it into the checkout.
    const isLeftOut = (flags & SKIP_WORKTREE) !== 0 && !existsSync(Buffer.from(`${top}/${path}`, 'latin1'));
    if (isLeftOut) continue;
    const octal = mode.toString(8);
    if (octal === LINK) files.set(path, { mode: octal, oid });
    else if (octal !== SUBMODULE) regular.set(path, octal);
  }
  if (regular.size === 0) return files;
  const input = Buffer.from([...regular.keys()].map((path) => `${path}\0`).join(''), 'latin1');
  const args = ['checkout-index', '--ignore-skip-worktree-bits', '--temp', '-z', '--stdin'];
  const listed = await gitBytes(scratch, args, { input });
  const temporary = fieldsOf(listed).map(
    (line) => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)] as const,
  );
  const names = temporary.map(([name]) => `${name}\n`).join('');
  const hashing = ['hash-object', '-w', '--no-filters', '--stdin-paths'];
  const oids = (await gitText(scratch, hashing, { input: names })).split('\n');
  for (const [i, [, path]] of temporary.entries())
    files.set(path, { mode: regular.get(path) ?? FILE, oid: oids[i] ?? '' });
  return files;
}

/** The snapshot with other files. */
export async function edited(git: Git, snapshot: SnapshotMetadata, files: Files, copy: string) {
  if (files.size === 0) return snapshot;
  const edits = [...files].map(([path, entry]) => [encodePath(`sandbox/${path}`), entryOf(entry)] as const);
  const tree = await editTree(withIndex(git, `${copy}-tree`), { tree: snapshot.commit }, edits);
  const others = new Map(snapshot.modes.others);
  for (const [path, entry] of files) {
    others.delete(`sandbox/${path}`);
    // As git writes a file; the snapshot may say something else of most of its files.
    if (entry !== undefined && entry.mode !== LINK)
      others.set(`sandbox/${path}`, (entry.mode === PROGRAM ? 0o777 : 0o666) & ~process.umask());
  }
  const isFile = (path: string) => files.get(path.slice('sandbox/'.length)) !== undefined;
  const emptyDirectories = snapshot.emptyDirectories.filter(
    (path) => ![path, ...parentDirectories(path)].some(isFile),
  );
  return { ...snapshot, commit: tree, modes: { ...snapshot.modes, others }, emptyDirectories };
}

function entriesOf(changes: readonly DiffEntry[]): Files {
  return new Map(changes.map(({ path, after }) => [path, after]));
}

/** Paths of the user's side that cannot stay beside what has landed: a file may be where the other has a directory. */
function conflictsOf(own: Files, landed: Files): Set<string> {
  const found = new Set<string>();
  for (const [path, entry] of own) {
    if (landed.has(path) && entryOf(entry) !== entryOf(landed.get(path))) found.add(path);
    if (entry !== undefined && parentDirectories(path).some((parent) => landed.get(parent) !== undefined))
      found.add(path);
  }
  for (const [path, entry] of landed)
    if (entry !== undefined)
      for (const parent of parentDirectories(path)) if (own.get(parent) !== undefined) found.add(parent);
  return found;
}

/** A repository of the user's stays, and git status shows what the branch has there. */
function meetsRepository(repositories: UsersSide['repositories'], path: string): boolean {
  return repositories.some((one) => isUnder(path, [one.path]) || isUnder(one.path, [path]));
}

/** `landed`: as git would write them. */
async function fileConflicts(git: Git, side: UsersSide, landed: Files): Promise<Set<string>> {
  const files = await readSnapshotTree(git, side.first);
  const own = [...side.changed, ...side.untracked, ...side.hidden, ...side.ignored.keys()];
  return conflictsOf(new Map(own.map((path) => [path, files.get(`sandbox/${path}`)])), landed);
}
