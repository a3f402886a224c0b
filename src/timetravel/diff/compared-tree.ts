/**
 * The two trees of a comparison. Each is the tree of a session folder: of a snapshot, of a commit, of the files on disk,
 * or of those that git would commit. agt writes them as scratch objects.
 */

import { join } from 'node:path';
import { ObjectStream } from '../../autocommit/object-stream.ts';
import { linkedSandbox, observeFolder } from '../../autocommit/observe.ts';
import type { CaptureTarget } from '../../autocommit/request.ts';
import { readContent, UnstableFile } from '../../autocommit/scan/content.ts';
import { directoryForGit } from '../../autocommit/starting-refs.ts';
import { type IsInside, insideCheck } from '../../disk/is-inside.ts';
import { displayPath } from '../../disk/path-bytes.ts';
import { errorCode } from '../../errors.ts';
import { gitDirOf } from '../../git/files/discover-repository.ts';
import { SUBMODULE, treeMode } from '../../git/modes.ts';
import { listTree } from '../../git/objects/ls-tree.ts';
import {
  addAll,
  copyIndex,
  editTree,
  headIndex,
  type IndexEdit,
  withIndex,
  writeTree,
} from '../../git/objects/scratch-index.ts';
import type { ScratchObjects } from '../../git/objects/scratch-objects.ts';
import { type Git, gitText } from '../../git/run/git.ts';
import type { Repository } from '../../repository/repository.ts';
import type { SessionRecord } from '../../session/record.ts';
import { requireReadableSandbox, requireSandbox } from '../../session/sandbox-place.ts';
import type { Snapshot } from '../../snapshot/history.ts';
import { readSnapshotMetadata, type SnapshotManifest } from '../../snapshot/manifest.ts';
import { encodePath } from '../../snapshot/tree-names.ts';
import { captureTarget } from '../../workspace/capture-session.ts';
import { gitInSandbox } from './git-in-sandbox.ts';

export interface ComparedTree {
  /** A tree that holds `sandbox`, `xdg` and `config`, or its commit. */
  readonly tree: string;
  /** Metadata that a tree does not record; undefined for the commit that a session started at. */
  readonly manifest: SnapshotManifest | undefined;
  /** Paths that could not be read, as shown to people, relative to the session folder. */
  readonly uncompared: readonly { readonly path: string; readonly reason: string }[];
}

export async function treeOfSnapshot(git: Git, { commit }: Snapshot): Promise<ComparedTree> {
  return { tree: commit, manifest: (await readSnapshotMetadata(git, commit)).manifest, uncompared: [] };
}

/** The sandbox as `session new` made it. A submodule is not a file of the sandbox. */
export async function treeOfStart(scratch: ScratchObjects, startCommit: string): Promise<ComparedTree> {
  const listed = await listTree(scratch.git, startCommit, 'files');
  const submodules = listed.filter(({ mode }) => mode === SUBMODULE);
  const edits = submodules.map(({ path }): IndexEdit => [`sandbox/${path}`, undefined]);
  const tree = await editTree(editor(scratch), { tree: startCommit, prefix: 'sandbox/' }, edits);
  return { tree, manifest: undefined, uncompared: [] };
}

/** A commit as the sandbox that has it checked out. */
export async function treeOfCommit({ git }: ScratchObjects, commit: string): Promise<ComparedTree> {
  const input = `040000 tree ${await gitText(git, ['rev-parse', `${commit}^{tree}`])}\tsandbox\0`;
  return { tree: await gitText(git, ['mktree', '-z'], { input }), manifest: undefined, uncompared: [] };
}

/** The sandbox as `git add -A` would stage it: with uncommitted and untracked files, without ignored ones. */
export async function treeOfWork(
  repository: Repository,
  record: SessionRecord,
  scratch: ScratchObjects,
): Promise<ComparedTree> {
  requireReadableSandbox(repository, record);
  const git = gitInSandbox(scratch.git, repository, record);
  const file = join(scratch.dir, 'work-index');
  let index = await copyIndex(git, gitDirOf(record.sandbox), file);
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

export async function treeOfDisk(
  repository: Repository,
  record: SessionRecord,
  scratch: ScratchObjects,
  now: Date,
): Promise<ComparedTree> {
  requireSandbox(repository, record);
  const { agentEmail, maxFileSize } = repository.settings;
  const target = captureTarget(repository, record);
  const { refs, last, scanned, manifest } = await observeFolder(repository.git, target, {
    agentEmail,
    maxFileSize,
    now,
  });
  const hash = refs.tip.length === 64 ? 'sha256' : 'sha1';
  const { writes, unstable } = await storeFiles(scratch, target, [...scanned.writes.keys()], hash);
  const base = last.isFirst ? { tree: refs.tipTree, prefix: 'sandbox/' } : { tree: refs.tip, prefix: '' };
  const deletions = [...last.unstorable, ...scanned.deletions.map(encodePath)];
  const edits = [...deletions.map((path): IndexEdit => [path, undefined]), ...writes];
  const isEqual = base.prefix === '' && edits.length === 0;
  const uncompared = [
    ...scanned.failed.map(({ path, reason }) => ({ path: displayPath(path), reason })),
    ...unstable.map((path) => ({ path: displayPath(path), reason: 'keeps changing' })),
  ];
  const tree = isEqual ? base.tree : await editTree(editor(scratch), base, edits);
  return { tree, manifest, uncompared };
}

function editor({ git, dir }: ScratchObjects): Git {
  return withIndex(git, join(dir, 'index'));
}

interface StoredFiles {
  /** `mode oid` of each stored file by its path in a tree. */
  readonly writes: Map<string, string>;
  /** Files that changed at every attempt to read them, or that no longer exist. */
  readonly unstable: string[];
}

/** `paths` are relative to the session folder; one byte per character, as are all paths here. */
async function storeFiles(
  scratch: ScratchObjects,
  target: CaptureTarget,
  paths: readonly string[],
  hash: 'sha1' | 'sha256',
): Promise<StoredFiles> {
  const writes = new Map<string, string>();
  const unstable: string[] = [];
  const objects = new ObjectStream(scratch.git, scratch.dir, directoryForGit(scratch.git, target));
  const folder = Buffer.from(target.folder).toString('latin1');
  const isInside = insideCheck(folder, linkedSandbox(target));
  try {
    for (const path of paths) {
      const stored = await storeFile(objects, `${folder}/${path}`, hash, isInside);
      if (stored === undefined) unstable.push(path);
      else writes.set(encodePath(path), stored);
    }
    if (writes.size > 0) await objects.open().finish();
  } finally {
    await objects.close();
  }
  return { writes, unstable };
}

/** How often agt reads a file that changes while it is read. */
const READ_ATTEMPTS = 3;

/** `mode oid`; undefined if the file changed at every attempt or no longer exists. `path` is absolute. */
async function storeFile(
  objects: ObjectStream,
  path: string,
  hash: 'sha1' | 'sha256',
  isInside: IsInside,
): Promise<string | undefined> {
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
    try {
      const content = readContent(path, hash, isInside);
      if (await objects.store(path, content, isInside))
        return `${treeMode(content.stat.mode)} ${content.oid}`;
    } catch (error) {
      if (!(error instanceof UnstableFile) && errorCode(error) !== 'ENOENT') throw error;
    }
  }
  return undefined;
}
