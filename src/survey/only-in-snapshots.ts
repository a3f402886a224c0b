/** Whether the last snapshot of a session has work that no commit has. Ignored files are none: they never land. */
import { listWorktrees } from '../git/files/worktree-registrations.ts';
import { findObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, entryOf, parseRawDiff } from '../git/objects/raw-diff.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import type { StatusEntry } from '../git/objects/status.ts';
import { gitBytes, inDirectory } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { ignoredPaths } from '../session/sandbox.ts';
import { emptyTree } from '../snapshot/tree.ts';
import type { Head } from './refs.ts';
import type { SandboxFacts } from './sandbox-facts.ts';

interface Asked {
  readonly facts: Pick<SandboxFacts, 'record' | 'gitDir'>;
  readonly head: Pick<Head, 'commit'>;
  /** The content that has landed. */
  readonly landed: string | undefined;
}

/**
 * Of those without a sandbox whose last snapshot has more than the commit or the start, and more than what has landed: in
 * which files it differs from the commit.
 */
export async function findOnlyInSnapshots<T extends Asked>(
  repository: Repository,
  all: readonly T[],
): Promise<ReadonlyMap<T, readonly StatusEntry[]>> {
  const gone = all.filter(({ facts }) => facts.gitDir === undefined);
  if (gone.length === 0) return new Map();
  const names = gone.flatMap(
    ({ facts: { record }, head: { commit = record.from_commit }, landed = commit }) => [
      `${record.branch}:sandbox`,
      `${commit}^{tree}`,
      `${landed}^{tree}`,
    ],
  );
  const found = await findObjects(repository.git, names);
  const empty = await emptyTree(repository.git);
  const pairs = gone.map((_, i) => {
    const [last, ...saved] = found.slice(3 * i, 3 * i + 3).map((object) => object?.oid);
    return last === undefined || saved.includes(last) ? [] : saved.map((tree = empty) => `${tree} ${last}`);
  });
  const differ = await differing(repository, pairs.flat(), empty);
  return new Map(
    gone.flatMap((one, i) => {
      const [files, ...others] = pairs[i]?.map((pair) => differ.get(pair)) ?? [];
      return files === undefined || others.includes(undefined) ? [] : [[one, files]];
    }),
  );
}

const TREE = '040000';
const DIFF = ['diff-tree', '--stdin', '-z', '--raw', '--no-renames'];
const HEADER = /(^|\0)([0-9a-f]{40,64} [0-9a-f]{40,64})\n/g;

/** By pair of trees: files that git does not ignore. Level by level, so that git lists no ignored directory. */
async function differing({ git, commonDir }: Repository, pairs: readonly string[], empty: string) {
  const found = new Map<string, StatusEntry[]>();
  const isBare = git.cwd === commonDir;
  const worktrees = isBare && pairs.length > 0 ? await listWorktrees(git) : [];
  const worktree = worktrees.find(({ bare, prunable }) => !bare && prunable === undefined)?.path;
  let open = pairs.map((pair) => ({ root: pair, pair, path: '' }));
  while (open.length > 0) {
    const input = [...new Set(open.map(({ pair }) => `${pair}\n`))].join('');
    const output = (await gitBytes(withoutIndex(git), DIFF, { input })).toString('latin1');
    const entries = parseRawDiff(output.replace(HEADER, '$1$2\0'), (path) => path);
    const below = open.flatMap(({ root, pair, path: above }) =>
      (entries.get(pair) ?? []).map(({ path, before, after }) => {
        const isTree = [before, after].every((one: DiffEntry['before']) => (one?.mode ?? TREE) === TREE);
        const next = `${before?.oid ?? empty} ${after?.oid ?? empty}`;
        const file = isTree ? undefined : ([before, after] as const);
        return { root, pair: next, path: `${above}${path}${isTree ? '/' : ''}`, file };
      }),
    );
    const ignored = await ignoredPaths(
      inDirectory(git, worktree ?? git.cwd),
      below.map(({ path }) => path),
    );
    const rest = below.filter(({ path }) => !ignored.has(path));
    for (const { root, path, file } of rest) {
      if (file === undefined) continue;
      if (!found.has(root)) found.set(root, []);
      found.get(root)?.push(entryOfSnapshot(path, ...file));
    }
    open = rest.filter(({ file }) => file === undefined);
  }
  return found;
}

/** As `git status` would tell it, with the object in place of a file on disk. */
function entryOfSnapshot(path: string, before: DiffEntry['before'], after: DiffEntry['after']): StatusEntry {
  const [kind, staged] =
    before === undefined ? (['untracked', '?'] as const) : (['tracked', after ? 'M' : 'D'] as const);
  return {
    path,
    kind,
    staged,
    unstaged: '.',
    index: entryOf(after) ?? '',
    isSubmodule: false,
    isDirtyInside: false,
  };
}
