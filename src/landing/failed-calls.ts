/** Takes the changes of failed tool calls out of the work of a session, unless a later step changed the same file. */
import { displayPath } from '../disk/path-bytes.ts';
import { listTree } from '../git/objects/ls-tree.ts';
import type { DiffEntry } from '../git/objects/raw-diff.ts';
import { type Git, inDirectory } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { type SessionRecord, snapshotRefs } from '../session/record.ts';
import { readHistory } from '../snapshot/history.ts';
import type { SandboxContent } from './sandbox-content.ts';
import { changesOf, treeWith } from './snapshot-step.ts';
import type { Workbench } from './workbench.ts';

interface WithoutFailed {
  readonly tree: string;
  /** Readable paths of the changes that are out. */
  readonly leftOut: readonly string[];
}

/** `newer`: readable paths that have changed since the last snapshot, which is a later step, too. */
export async function withoutFailedCalls(
  repository: Repository,
  record: SessionRecord,
  bench: Workbench,
  { tree, head }: SandboxContent,
  newer: ReadonlySet<string>,
): Promise<WithoutFailed> {
  const failed = await failedChanges(repository.git, record);
  for (const path of failed.keys()) if (newer.has(displayPath(path))) failed.delete(path);
  if (failed.size === 0) return { tree, leftOut: [] };
  const sandbox = inDirectory(repository.git, record.sandbox);
  // Files that neither the work nor its commits nor its start have are ignored ones.
  const lists = [tree, head, record.from_commit].map((name) => listTree(bench.git, name, 'files'));
  const known = new Set((await Promise.all(lists)).flat().map(({ path }) => path));
  const left = new Map([...failed].filter(([path]) => known.has(path)));
  return {
    tree: await treeWith(sandbox, bench, tree, left),
    leftOut: [...left.keys()].map(displayPath),
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
