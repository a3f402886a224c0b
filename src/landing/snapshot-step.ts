/**
 * The step that a snapshot records: how the sandbox changed since the snapshot before, as git would store the files. The
 * steps of failed tool calls stay out of the work, unless a later step changed the same file.
 */
import { existsSync } from 'node:fs';
import { displayPath } from '../disk/path-bytes.ts';
import { LINK } from '../git/modes.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import { type DiffEntry, diffTrees } from '../git/objects/raw-diff.ts';
import { editTree, type IndexEdit, withIndex, withoutIndex } from '../git/objects/scratch-index.ts';
import { FSYNC_ARGS, type Git, gitBytes, gitText } from '../git/run/git.ts';
import { ignoredPaths } from '../session/sandbox.ts';
import type { Session } from '../session/session.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { parentDirectories, sandboxTree } from '../snapshot/tree.ts';
import { decodePath } from '../snapshot/tree-names.ts';
import type { SandboxContent } from './sandbox-content.ts';
import type { Workbench } from './workbench.ts';

/** In the sandbox. The first snapshot of a history follows the start commit, which has the files at its top. */
async function changesOf({ git, record }: Session, { previous, commit }: Snapshot): Promise<DiffEntry[]> {
  const from = previous === undefined ? `${record.from_commit}^{tree}` : await sandboxTree(git, previous);
  const to = await sandboxTree(git, commit);
  return diffTrees(withoutIndex(git), from, to, { countLines: false, decodePath });
}

/** What the newest snapshot has in another form. */
export async function changesSince(session: Session, { commit }: Snapshot): Promise<DiffEntry[]> {
  const [newest] = await session.history();
  return newest === undefined ? [] : changesOf(session, { ...newest, previous: commit });
}

type Version = DiffEntry['before'];

/** A tree with other versions of some files: as git stores them; a snapshot has their bytes on disk. */
async function treeWith(
  sandbox: Git,
  { git, index, objects }: Workbench,
  tree: string,
  versions: ReadonlyMap<string, Version>,
): Promise<string> {
  if (versions.size === 0) return tree;
  const edits: IndexEdit[] = [];
  for (const [path, version] of versions)
    edits.push([path, version && (await cleanEntry(sandbox, objects, path, version))]);
  return editTree(withIndex(git, index), { tree }, edits);
}

/** `mode oid` of a file as git stores it. */
async function cleanEntry(
  sandbox: Git,
  env: Workbench['objects'],
  path: string,
  version: NonNullable<Version>,
): Promise<string> {
  if (version.mode === LINK) return `${version.mode} ${version.oid}`;
  const input = await gitBytes(sandbox, ['cat-file', 'blob', version.oid]);
  const args = [...FSYNC_ARGS, 'hash-object', '-w', '--stdin', `--path=${displayPath(path)}`];
  return `${version.mode} ${await gitText(sandbox, args, { input, env })}`;
}

/** The tree of a step. Files that git ignores stay out, and those of repositories inside the sandbox. */
export async function ownChangesOf(session: Session, snapshot: Snapshot): Promise<DiffEntry[]> {
  const sandbox = session.sandboxGit;
  const changes = await changesOf(session, snapshot);
  const ignored = await ignoredPaths(
    sandbox,
    changes.map(({ path }) => path),
  );
  const repositories = new Set(changes.flatMap(({ path }) => REPOSITORY.exec(path)?.[1] ?? []));
  const root = Buffer.from(`${sandbox.cwd}/`);
  const isRepository = (directory: string) =>
    repositories.has(directory) ||
    existsSync(Buffer.concat([root, Buffer.from(`${directory}/.git`, 'latin1')]));
  return changes.filter(({ path }) => !ignored.has(path) && !parentDirectories(path).some(isRepository));
}

/** A file of git's own, in a repository. */
const REPOSITORY = /^(.+?)\/\.git\//;

/** Two trees that differ in these changes alone; the rest of both is that of the sandbox's HEAD. */
export async function treesOfStep(session: Session, bench: Workbench, changes: readonly DiffEntry[]) {
  const sandbox = session.sandboxGit;
  const tree = await gitText(sandbox, ['rev-parse', '--verify', 'HEAD^{tree}']);
  const treeOf = (when: 'before' | 'after') =>
    treeWith(sandbox, bench, tree, new Map(changes.map((change) => [change.path, change[when]])));
  return { base: await treeOf('before'), theirs: await treeOf('after') };
}

/**
 * The tree without them, and readable paths of the changes that are out. `newer`: readable paths that have changed since the
 * last snapshot, which is a later step, too.
 */
export async function withoutFailedCalls(
  session: Session,
  bench: Workbench,
  { tree, head }: SandboxContent,
  newer: ReadonlySet<string>,
) {
  const failed = await failedChanges(session);
  for (const path of failed.keys()) if (newer.has(displayPath(path))) failed.delete(path);
  if (failed.size === 0) return { tree, leftOut: [] };
  // Files that neither the work nor its commits nor its start have are ignored ones.
  const lists = [tree, head, session.record.from_commit].map((name) => listTree(bench.git, name, 'files'));
  const known = new Set((await Promise.all(lists)).flat().map(({ path }) => path));
  const left = new Map([...failed].filter(([path]) => known.has(path)));
  const leftOut = [...left.keys()].map(displayPath);
  return { tree: await treeWith(session.sandboxGit, bench, tree, left), leftOut };
}

/** Files that a failed call was the last to change, also if a redo brought them back: by path, with the version before. */
async function failedChanges(session: Session): Promise<Map<string, Version>> {
  const history = (await session.history()).toReversed();
  const first = history.findIndex(({ call }) => call?.outcome === 'failed');
  const targets = new Set(history.map(({ restored }) => restored));
  const failedAt = new Map<string | undefined, ReadonlyMap<string, Version>>();
  const failed = new Map<string, Version>();
  for (const snapshot of first < 0 ? [] : history.slice(first)) {
    const back = failedAt.get(snapshot.restored);
    for (const { path, before } of await changesOf(session, snapshot)) {
      if (back?.has(path)) failed.set(path, back.get(path));
      else if (snapshot.call?.outcome !== 'failed') failed.delete(path);
      else if (!failed.has(path)) failed.set(path, before);
    }
    if (targets.has(snapshot.commit)) failedAt.set(snapshot.commit, new Map(failed));
  }
  return failed;
}
