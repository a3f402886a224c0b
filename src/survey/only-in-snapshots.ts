/** Whether the last snapshot of a session has work that no commit has. Ignored files are none: they never land. */
import { REMOTES } from '../git/files/ref-files.ts';
import { listWorktrees } from '../git/files/worktree-registrations.ts';
import { SUBMODULE } from '../git/modes.ts';
import { findObjects, readObjects } from '../git/objects/object-reader.ts';
import { type DiffEntry, entryOf, parseRawDiff } from '../git/objects/raw-diff.ts';
import { withoutIndex } from '../git/objects/scratch-index.ts';
import type { StatusEntry } from '../git/objects/status.ts';
import { type Git, gitBytes, inDirectory } from '../git/run/git.ts';
import type { Repository } from '../repository/repository.ts';
import { ignoredPaths } from '../session/sandbox.ts';
import { emptyTree } from '../snapshot/tree.ts';
import { decodePath } from '../snapshot/tree-names.ts';
import type { Head } from './refs.ts';
import type { SandboxFacts } from './sandbox-facts.ts';

interface Asked {
  readonly facts: Pick<SandboxFacts, 'record' | 'gitDir'>;
  readonly head: Pick<Head, 'commit'>;
  /** The content that has landed. */
  readonly landed: string | undefined;
}

/**
 * Of those without a sandbox whose last snapshot has more than the commit or the start, than what has landed, and than the
 * branch of the remote to which it was exported: in which files it differs from the commit.
 */
export async function findOnlyInSnapshots<T extends Asked>(
  repository: Repository,
  all: readonly T[],
): Promise<ReadonlyMap<T, readonly StatusEntry[]>> {
  const gone = all.filter(({ facts }) => facts.gitDir === undefined);
  if (gone.length === 0) return new Map();
  const names = gone.flatMap(
    ({ facts: { record }, head: { commit = record.from_commit }, landed = commit }) => {
      const { branch, exported } = record;
      const sent = exported ? `${REMOTES}${exported.remote}/${exported.branch}` : landed;
      return [`${branch}:sandbox`, ...[commit, landed, sent].map((one) => `${one}^{tree}`)];
    },
  );
  const found = await findObjects(repository.git, names);
  const empty = await emptyTree(repository.git);
  const pairs = gone.map((_, i) => {
    const [last, ...saved] = found.slice(4 * i, 4 * i + 4).map((object) => object?.oid);
    return last === undefined || saved.includes(last) ? [] : saved.map((tree = empty) => `${tree} ${last}`);
  });
  const differ = await differing(repository, [...new Set(pairs.flat())], empty);
  return new Map(
    gone.flatMap((one, i) => {
      const [files, ...others] = pairs[i]?.map((pair) => differ.get(pair)) ?? [];
      if (files === undefined || others.includes(undefined)) return [];
      return [[one, files.map(({ path, sides }) => entryOfSnapshot(path, ...sides))]];
    }),
  );
}

const TREE = '040000';
const DIFF = ['diff-tree', '--stdin', '-z', '--raw', '--no-renames'];
const HEADER = /(^|\0)([0-9a-f]{40,64} [0-9a-f]{40,64})\n/g;

/** By pair of trees: files that git does not ignore. Level by level, so that git lists no ignored directory. */
async function differing({ git, commonDir }: Repository, pairs: readonly string[], empty: string) {
  const files: { root: string; path: string; sides: Sides }[] = [];
  const isBare = git.cwd === commonDir;
  const worktrees = isBare && pairs.length > 0 ? await listWorktrees(git) : [];
  const worktree = worktrees.find(({ bare, prunable }) => !bare && prunable === undefined)?.path;
  let open = pairs.map((pair) => ({ root: pair, pair, path: '' }));
  while (open.length > 0) {
    const input = [...new Set(open.map(({ pair }) => `${pair}\n`))].join('');
    const output = (await gitBytes(withoutIndex(git), DIFF, { input })).toString('latin1');
    const entries = parseRawDiff(output.replace(HEADER, '$1$2\0'), decodePath);
    const below = open.flatMap(({ root, pair, path: above }) =>
      (entries.get(pair) ?? []).flatMap(({ path, before, after }) => {
        // The files of a submodule are in the snapshot, and none if it has not been cloned.
        if (before?.mode === SUBMODULE && (after?.mode ?? TREE) === TREE) return [];
        const isTree = [before, after].every((one: DiffEntry['before']) => (one?.mode ?? TREE) === TREE);
        const next = `${before?.oid ?? empty} ${after?.oid ?? empty}`;
        const file = isTree ? undefined : ([before, after] as const);
        return [{ root, pair: next, path: `${above}${path}${isTree ? '/' : ''}`, file }];
      }),
    );
    const ignored = await ignoredPaths(
      inDirectory(git, worktree ?? git.cwd),
      below.map(({ path }) => path),
    );
    const rest = below.filter(({ path }) => !ignored.has(path));
    files.push(...rest.flatMap(({ root, path, file }) => (file ? [{ root, path, sides: file }] : [])));
    open = rest.filter(({ file }) => file === undefined);
  }
  const isConverted = await findConverted(
    git,
    files.map(({ sides }) => sides),
  );
  const changed = files.filter(({ sides }) => !isConverted(sides));
  return Map.groupBy(changed, ({ root }) => root);
}

type Sides = readonly [before: DiffEntry['before'], after: DiffEntry['after']];

/** Files that differ in the ends of their lines alone, which git converts on the way to disk. */
async function findConverted(git: Git, files: readonly Sides[]): Promise<(sides: Sides) => boolean> {
  const both = files.filter(([before, after]) => before && after && before.mode === after.mode);
  const names = both.flatMap((sides) => sides.flatMap((one) => one?.oid ?? []));
  const sizes = (await findObjects(git, names)).map((object) => object?.size ?? 0);
  const grown = both.filter((_, i) => {
    const [from = 0, to = 0] = sizes.slice(2 * i);
    return from < to && to <= 2 * from && to <= LARGEST_READ;
  });
  const read = await readObjects(
    git,
    grown.flatMap((sides) => sides.flatMap((one) => one?.oid ?? [])),
  );
  const texts = read.map((object) => object?.content.toString('latin1'));
  const same = grown.filter((_, i) => texts[2 * i + 1]?.replaceAll('\r\n', '\n') === texts[2 * i]);
  const found = new Set(same);
  return (sides) => found.has(sides);
}

const LARGEST_READ = 1024 * 1024;

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
