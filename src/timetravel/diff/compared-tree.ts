/**
 * The two trees of a comparison. Each is the tree of a session folder: of a snapshot, of a commit, of the files on disk,
 * or of those that git would commit. agt writes them as scratch objects.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryOf } from '../../folders/git-state/kept-repositories.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import { isReadableHead } from '../../git/files/head-file.ts';
import { DIRECTORY, PROGRAM, SUBMODULE } from '../../git/modes.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import { diffTrees, entryOf } from '../../git/objects/raw-diff.ts';
import {
  addAll,
  copyIndex,
  editTree,
  headIndex,
  type IndexEdit,
  withIndex,
  writeTree,
} from '../../git/objects/scratch-index.ts';
import { readAlso, type ScratchObjects } from '../../git/objects/scratch-objects.ts';
import { type Git, gitText, inDirectory } from '../../git/run/git.ts';
import { inScratch, writtenFiles } from '../../lifecycle/in-place/target.ts';
import type { Repository } from '../../repository/repository.ts';
import { isAttached, type SessionRecord } from '../../session/record.ts';
import { requireReadableSandbox, requireSandbox } from '../../session/sandbox.ts';
import type { Session } from '../../session/session.ts';
import { readSnapshotMetadata, type SnapshotMetadata } from '../../snapshot/manifest.ts';
import { parentDirectories } from '../../snapshot/tree.ts';
import { decodePath } from '../../snapshot/tree-names.ts';
import { captureInScratch } from '../../workspace/capture-session.ts';

export interface ComparedTree {
  /** A tree that holds `sandbox`, `xdg` and `config`, or its commit. */
  readonly tree: string;
  /** What a tree does not record; undefined for the commit that a session started at. */
  readonly metadata: SnapshotMetadata | undefined;
  /** Paths that could not be read, as shown to people, relative to the session folder. */
  readonly uncompared: readonly { readonly path: string; readonly reason: string }[];
}

/** The sandbox as `session new` made it. A submodule is not a file of the sandbox. */
export async function treeOfStart({ git, dir }: ScratchObjects, startCommit: string): Promise<ComparedTree> {
  const listed = await listTree(git, startCommit, 'files');
  const submodules = listed.filter(({ mode }) => mode === SUBMODULE);
  const edits = submodules.map(({ path }): IndexEdit => [`sandbox/${path}`, undefined]);
  const index = withIndex(git, join(dir, 'index'));
  const tree = await editTree(index, { tree: startCommit, prefix: 'sandbox/' }, edits);
  return { tree, metadata: undefined, uncompared: [] };
}

/** With the bytes that git writes as it checks a file out, where `after` has others. */
export async function asCheckedOut(
  { git, dir }: ScratchObjects,
  { commonDir }: Repository,
  { tree, ...start }: ComparedTree,
  after: ComparedTree,
): Promise<ComparedTree> {
  const changes = await diffTrees(git, tree, after.tree, { paths: ['sandbox'], countLines: false });
  const paths = changes.flatMap(({ path, before }) => (before ? path.slice('sandbox/'.length) : []));
  const file = join(dir, 'index');
  const index = inScratch(git, commonDir, file);
  await gitText(index, ['read-tree', `${tree}:sandbox`]);
  const files = await writtenFiles(index, readFileSync(file), tree.length / 2, paths);
  const edits = [...files].map(([path, entry]): IndexEdit => [`sandbox/${path}`, entryOf(entry)]);
  return { ...start, tree: await editTree(index, { tree }, edits) };
}

/** A commit as the sandbox that has it checked out. */
export async function treeOfCommit({ git }: ScratchObjects, commit: string): Promise<ComparedTree> {
  const input = `040000 tree ${await gitText(git, ['rev-parse', `${commit}^{tree}`])}\tsandbox\0`;
  return { tree: await gitText(git, ['mktree', '-z'], { input }), metadata: undefined, uncompared: [] };
}

/** The sandbox as `git add -A` would stage it: with uncommitted and untracked files, without ignored ones. */
export async function treeOfWork(session: Session, scratch: ScratchObjects): Promise<ComparedTree> {
  requireReadableSandbox(session);
  const user = isAttached(session.record) ? repositoryOf(session.record.sandbox) : undefined;
  // The store of a folder has not all that the user's index names.
  if (user) readAlso(scratch, join(user.commonDir, 'objects'));
  const git = gitInSandbox(scratch.git, session.repository, session.record);
  const file = join(scratch.dir, 'work-index');
  let index = await copyIndex(git, gitDirOf(session.record.sandbox), file);
  let staged = await addAll(index, ['--all', '--ignore-errors']);
  if (staged.exitCode > 1) {
    // Half of a split index, or a damaged one.
    index = await headIndex(git, file);
    staged = await addAll(index, ['--all', '--ignore-errors']);
  }
  const uncompared = staged.stderr.split('\n').flatMap((line) => {
    const path = /^error: open\("(.*)"\): /.exec(line)?.[1];
    return path === undefined ? [] : [{ path: `sandbox/${path}`, reason: 'cannot be read' }];
  });
  return { ...(await treeOfCommit(scratch, await writeTree(index))), uncompared };
}

export async function treeOfDisk(session: Session, scratch: ScratchObjects): Promise<ComparedTree> {
  requireSandbox(session);
  const { commit = '', failed } = await captureInScratch(session, { now: new Date() }, scratch);
  return { tree: commit, metadata: await readSnapshotMetadata(scratch.git, commit), uncompared: failed };
}

/**
 * For a comparison in the sandbox, where the `.gitattributes` and `.gitignore` files apply. In an attached folder without
 * a repository, and for a damaged HEAD, git gets the common directory.
 */
export function gitInSandbox(git: Git, { commonDir }: Repository, record: SessionRecord): Git {
  const inSandbox = inDirectory(git, record.sandbox);
  const gitDir = gitDirOf(record.sandbox);
  const isUsual = gitDir === undefined ? !isAttached(record) : isReadableHead(gitDir);
  if (isUsual) return inSandbox;
  return { ...inSandbox, env: { ...git.env, GIT_DIR: commonDir, GIT_WORK_TREE: record.sandbox } };
}

export interface MetadataDiff {
  /** Relative to the session folder, one byte per character. A directory ends in a slash. */
  readonly path: string;
  readonly status: 'A' | 'D' | 'M';
  /** Permission bits, octal; undefined for an empty directory that was added or deleted. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export async function metadataDiff(git: Git, a: ComparedTree, b: ComparedTree): Promise<MetadataDiff[]> {
  const [before, after] = [a.metadata, b.metadata];
  if (before === undefined || after === undefined) return [];
  const listed = new Set([...before.modes.others.keys(), ...after.modes.others.keys()]);
  const otherBits = [...listed].filter(
    (path) => before.modes.others.get(path) !== after.modes.others.get(path),
  );
  const newlyEmpty = after.emptyDirectories.filter((path) => !before.emptyDirectories.includes(path));
  const onceEmpty = before.emptyDirectories.filter((path) => !after.emptyDirectories.includes(path));
  if (otherBits.length + newlyEmpty.length + onceEmpty.length === 0) return [];

  const kindsBefore = await readKinds(git, a.tree, before.emptyDirectories);
  const kindsAfter = await readKinds(git, b.tree, after.emptyDirectories);
  const added = newlyEmpty.filter((path) => !kindsBefore.has(path));
  const deleted = onceEmpty.filter((path) => !kindsAfter.has(path));
  const changed = otherBits.flatMap((path): MetadataDiff[] => {
    const [kindBefore, kindAfter] = [kindsBefore.get(path), kindsAfter.get(path)];
    if (kindBefore === undefined || kindAfter === undefined) return []; // added or deleted: reported as such
    const oldBits = before.modes.others.get(path) ?? before.modes.usual[kindBefore];
    const newBits = after.modes.others.get(path) ?? after.modes.usual[kindAfter];
    if (oldBits === newBits) return [];
    const shown = kindAfter === 'directory' ? `${path}/` : path;
    return [{ path: shown, status: 'M', before: oldBits.toString(8), after: newBits.toString(8) }];
  });
  const directory = (status: 'A' | 'D') => (path: string) =>
    ({ path: `${path}/`, status, before: undefined, after: undefined }) as const;
  const all = [...added.map(directory('A')), ...deleted.map(directory('D')), ...changed];
  return all.sort((one, other) => (one.path < other.path ? -1 : 1));
}

type Kind = 'file' | 'program' | 'directory';

/** Every file and directory, with the empty directories and those above them. */
async function readKinds(
  git: Git,
  tree: string,
  emptyDirectories: readonly string[],
): Promise<Map<string, Kind>> {
  const kinds = new Map<string, Kind>();
  for (const { path, mode } of await listTree(git, tree, 'both')) {
    const kind = mode === DIRECTORY ? 'directory' : mode === PROGRAM ? 'program' : 'file';
    kinds.set(decodePath(path), kind);
  }
  for (const path of emptyDirectories)
    for (const part of [path, ...parentDirectories(path)]) kinds.set(part, 'directory');
  return kinds;
}
