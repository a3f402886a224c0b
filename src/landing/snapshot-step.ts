/** The step that a snapshot records: how the sandbox changed since the snapshot before, as git would store the files. */
import { existsSync } from 'node:fs';
import { type DiffEntry, parseRawDiff } from '../git/objects/raw-diff.ts';
import { FSYNC_ARGS, type Git, gitBytes, gitText, inDirectory, runGit } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import type { SessionRecord } from '../session/record.ts';
import { parentDirectories } from '../snapshot/directories.ts';
import type { Snapshot } from '../snapshot/history.ts';
import { decodePath } from '../snapshot/tree-names.ts';
import type { Workbench } from './workbench.ts';

/** In the sandbox. The first snapshot of a history follows the start commit, which has the files at its top. */
export async function changesOf(git: Git, record: SessionRecord, snapshot: Snapshot): Promise<DiffEntry[]> {
  const from =
    snapshot.previous === undefined ? `${record.from_commit}^{tree}` : `${snapshot.previous}:sandbox`;
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, `${snapshot.commit}:sandbox`];
  const output = (await gitBytes(git, args)).toString('latin1');
  return parseRawDiff(output, decodePath).get('') ?? [];
}

type Version = DiffEntry['before'];

/** A tree with other versions of some files: as git stores them; a snapshot has their bytes on disk. */
export async function treeWith(
  sandbox: Git,
  { git, objects }: Workbench,
  tree: string,
  versions: ReadonlyMap<string, Version>,
): Promise<string> {
  if (versions.size === 0) return tree;
  const lines: string[] = [];
  for (const [path, version] of versions) {
    const entry =
      version === undefined
        ? `0 ${'0'.repeat(tree.length)}`
        : await cleanEntry(sandbox, objects, path, version);
    lines.push(`${entry}\t${path}\0`);
  }
  await gitText(git, ['read-tree', tree]);
  const input = Buffer.from(lines.join(''), 'latin1');
  await gitBytes(git, ['update-index', '-z', '--index-info'], { input });
  return gitText(git, [...FSYNC_ARGS, 'write-tree']);
}

const LINK = '120000';

/** `mode oid` of a file as git stores it. */
async function cleanEntry(
  sandbox: Git,
  env: Workbench['objects'],
  path: string,
  version: NonNullable<Version>,
): Promise<string> {
  if (version.mode === LINK) return `${version.mode} ${version.oid}`;
  const input = await gitBytes(sandbox, ['cat-file', 'blob', version.oid]);
  const name = Buffer.from(path, 'latin1').toString();
  const args = [...FSYNC_ARGS, 'hash-object', '-w', '--stdin', `--path=${name}`];
  return `${version.mode} ${await gitText(sandbox, args, { input, env })}`;
}

export interface Step {
  readonly before: string;
  readonly after: string;
}

/**
 * Two trees that differ in the step alone; the rest of both is that of the sandbox's HEAD. Files that git ignores stay
 * out, and those of repositories inside the sandbox.
 */
export async function treesOfStep(
  repository: Repository,
  record: SessionRecord,
  bench: Workbench,
  snapshot: Snapshot,
): Promise<Step> {
  const sandbox = inDirectory(repository.git, record.sandbox);
  const changes = await withoutForeign(sandbox, await changesOf(repository.git, record, snapshot));
  const tree = await gitText(sandbox, ['rev-parse', '--verify', 'HEAD^{tree}']);
  const treeOf = (when: 'before' | 'after') =>
    treeWith(sandbox, bench, tree, new Map(changes.map((change) => [change.path, change[when]])));
  return { before: await treeOf('before'), after: await treeOf('after') };
}

async function withoutForeign(sandbox: Git, changes: readonly DiffEntry[]): Promise<DiffEntry[]> {
  const input = Buffer.from(changes.map(({ path }) => `${path}\0`).join(''), 'latin1');
  const run = await runGit(sandbox, ['check-ignore', '-z', '--stdin'], { input });
  const ignored = new Set(run.stdout.toString('latin1').split('\0'));
  const repositories = new Set(changes.flatMap(({ path }) => REPOSITORY.exec(path)?.[1] ?? []));
  const root = Buffer.from(`${sandbox.cwd}/`);
  const isRepository = (directory: string) =>
    repositories.has(directory) ||
    existsSync(Buffer.concat([root, Buffer.from(`${directory}/.git`, 'latin1')]));
  return changes.filter(({ path }) => !ignored.has(path) && !parentDirectories(path).some(isRepository));
}

/** A file of git's own, in a repository. */
const REPOSITORY = /^(.+?)\/\.git\//;
