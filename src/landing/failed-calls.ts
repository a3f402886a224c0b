/** Takes the changes of failed tool calls out of the work of a session, unless a later step changed the same file. */
import { displayPath } from '../disk/path-bytes.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import { type DiffEntry, parseRawDiff } from '../git/objects/raw-diff.ts';
import { FSYNC_ARGS, type Git, gitBytes, gitText, inDirectory } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, snapshotRefs } from '../session/record.ts';
import { readHistory, type Snapshot } from '../snapshot/history.ts';
import { decodePath } from '../snapshot/tree-names.ts';
import type { SandboxContent } from './sandbox-content.ts';
import type { Workbench } from './workbench.ts';

interface WithoutFailed {
  readonly tree: string;
  /** Readable paths of the changes that are out. */
  readonly leftOut: readonly string[];
}

export async function withoutFailedCalls(
  repository: Repository,
  record: SessionRecord,
  bench: Workbench,
  { tree, head }: SandboxContent,
): Promise<WithoutFailed> {
  const failed = await failedChanges(repository.git, record);
  if (failed.size === 0) return { tree, leftOut: [] };
  const sandbox = inDirectory(repository.git, record.sandbox);
  // Files that neither the work nor its commits have are ignored ones.
  const known = new Set(
    (await Promise.all([tree, head].map((name) => listTree(bench.git, name, { recurse: 'files' }))))
      .flat()
      .map(({ path }) => path),
  );
  const lines: string[] = [];
  for (const [path, before] of failed) {
    if (!known.has(path)) continue;
    const entry = before === undefined ? undefined : await cleanEntry(sandbox, bench, path, before);
    lines.push(`${entry ?? `0 ${'0'.repeat(head.length)}`}\t${path}\0`);
  }
  if (lines.length === 0) return { tree, leftOut: [] };
  await gitText(bench.git, ['read-tree', tree]);
  const input = Buffer.from(lines.join(''), 'latin1');
  await gitBytes(bench.git, ['update-index', '-z', '--index-info'], { input });
  const left = [...failed.keys()].filter((path) => known.has(path));
  return {
    tree: await gitText(bench.git, [...FSYNC_ARGS, 'write-tree']),
    leftOut: left.map(displayPath),
  };
}

type Version = DiffEntry['before'];

/** Files that a failed call was the last to change, by path in the sandbox, with the version before. */
async function failedChanges(git: Git, record: SessionRecord): Promise<Map<string, Version>> {
  const history = (await readHistory(git, snapshotRefs(record))).toReversed();
  const first = history.findIndex(({ call }) => call?.outcome === 'failed');
  const failed = new Map<string, Version>();
  for (const snapshot of first < 0 ? [] : history.slice(first)) {
    for (const { path, before } of await changesOf(git, record, snapshot)) {
      if (snapshot.call?.outcome !== 'failed') failed.delete(path);
      else if (!failed.has(path)) failed.set(path, before);
    }
  }
  return failed;
}

/** In the sandbox. The first snapshot of a history follows the start commit, which has the files at its top. */
async function changesOf(git: Git, record: SessionRecord, snapshot: Snapshot): Promise<DiffEntry[]> {
  const from =
    snapshot.previous === undefined ? `${record.from_commit}^{tree}` : `${snapshot.previous}:sandbox`;
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, `${snapshot.commit}:sandbox`];
  const output = (await gitBytes(git, args)).toString('latin1');
  return parseRawDiff(output, decodePath).get('') ?? [];
}

/** `mode oid` of a file as git stores it: a snapshot has its bytes on disk. */
async function cleanEntry(
  sandbox: Git,
  { objects }: Workbench,
  path: string,
  before: NonNullable<Version>,
): Promise<string> {
  if (before.mode === '120000') return `${before.mode} ${before.oid}`;
  const input = await gitBytes(sandbox, ['cat-file', 'blob', before.oid]);
  const name = Buffer.from(path, 'latin1').toString();
  const args = [...FSYNC_ARGS, 'hash-object', '-w', '--stdin', `--path=${name}`];
  return `${before.mode} ${await gitText(sandbox, args, { input, env: objects })}`;
}
