/** Random git commands in a worktree, by a user or an agent: the index, commits, submodules and repositories inside. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok, REAL_GIT } from './programs.ts';
import type { Worktree } from './worktree.ts';
import { text, type WorktreeStep } from './worktree-files.ts';

const COMMIT = ['commit', '-q', '--no-verify', '-m'];

export const INDEX_CHANGES: readonly WorktreeStep[] = [
  { name: 'add all', weight: 2, act: (tree) => tree.git(['add', '-A']) },
  { name: 'add -u', act: (tree) => tree.git(['add', '-u']) },
  { name: 'add -f .', weight: 0.7, act: (tree) => tree.git(['add', '-f', '.']) },
  {
    name: 'add paths',
    weight: 3,
    act: (tree) => tree.gitPaths(['add', '-f'], some(tree, tree.list('file'))),
  },
  { name: 'add -N', act: (tree) => tree.gitPaths(['add', '-N'], some(tree, tree.list('file'))) },
  { name: 'add --chmod', act: (tree) => tree.gitPaths(['add', '--chmod=+x'], some(tree, tree.list('file'))) },
  {
    name: 'rm --cached',
    weight: 0.7,
    act: (tree) => tree.gitPaths(['rm', '-q', '--cached'], some(tree, tree.tracked())),
  },
  { name: 'rm -f', weight: 0.7, act: (tree) => tree.gitPaths(['rm', '-qf'], some(tree, tree.tracked())) },
  { name: 'mv', act: move },
  {
    name: 'reset paths',
    weight: 0.7,
    act: (tree) => tree.gitPaths(['reset', '-q'], some(tree, tree.tracked())),
  },
  { name: 'stage other content', act: stageOther },
  { name: 'commit', weight: 2, act: (tree) => tree.git([...COMMIT, `staged ${tree.random.below(1000)}`]) },
  { name: 'commit -a', act: (tree) => tree.git([...COMMIT, `all ${tree.random.below(1000)}`, '-a']) },
  {
    name: 'stash',
    weight: 0.5,
    act: (tree) => tree.git(['stash', 'push', '-q', ...tree.random.pick([[], ['-u'], ['-k'], ['-a']])]),
  },
  { name: 'stash pop', weight: 0.3, act: (tree) => tree.git(['stash', 'pop', '-q', '--index']) },
  { name: 'branch', weight: 0.3, act: (tree) => tree.git(['branch', '-f', `topic-${tree.random.below(3)}`]) },
];

/** Flags of entries, and settings of the repository: only a user changes these. */
export const FLAG_CHANGES: readonly WorktreeStep[] = [
  { name: 'assume-unchanged', act: (tree) => flag(tree, '--assume-unchanged') },
  { name: 'skip-worktree', act: (tree) => flag(tree, '--skip-worktree') },
  { name: 'no flags', weight: 1.5, act: (tree) => flag(tree, '--no-assume-unchanged', '--no-skip-worktree') },
  {
    name: 'file mode',
    weight: 0.5,
    act: (tree) => tree.git(['config', 'core.fileMode', tree.random.pick(['false', 'true'])]),
  },
  {
    name: 'index version',
    weight: 0.3,
    act: (tree) => tree.git(['update-index', '--index-version', tree.random.pick(['2', '3', '4'])]),
  },
];

/** An agent's other acts on its branch and its worktree. */
export const BRANCH_CHANGES: readonly WorktreeStep[] = [
  {
    name: 'a new branch',
    weight: 0.5,
    act: (tree) => tree.git(['switch', '-q', '-c', `agents-${tree.random.below(4)}`]),
  },
  { name: 'back to the work branch', act: (tree) => tree.git(['switch', '-q', workBranch(tree)]) },
  { name: 'detach', weight: 0.3, act: (tree) => tree.git(['switch', '-q', '--detach']) },
  { name: 'merge', weight: 0.7, act: merge },
  { name: 'reset --hard', weight: 0.7, act: (tree) => tree.git(['reset', '-q', '--hard', ...commit(tree)]) },
  {
    name: 'reset',
    weight: 0.5,
    act: (tree) => tree.git(['reset', '-q', ...tree.random.pick([['--soft'], []]), ...commit(tree)]),
  },
  { name: 'checkout .', weight: 0.5, act: (tree) => tree.git(['checkout', '-q', '--', '.']) },
  {
    name: 'clean',
    weight: 0.5,
    act: (tree) => tree.git(['clean', '-qfd', ...tree.random.pick([[], [], ['-x'], ['-X']])]),
  },
  {
    name: 'cherry-pick',
    weight: 0.3,
    act: (tree) => tree.git(['cherry-pick', tree.random.pick(['main', 'HEAD~1'])]),
  },
  { name: 'give up', weight: 0.7, act: giveUp },
];

export const SUBMODULE_CHANGES: readonly WorktreeStep[] = [
  { name: 'add a submodule', weight: 0.7, act: addSubmodule },
  {
    name: 'commit in a repository inside',
    weight: 1.5,
    act: (tree) => inside(tree, (path) => commitInside(tree, path)),
  },
  {
    name: 'another commit inside',
    act: (tree) => inside(tree, (path) => tree.git(['checkout', '-q', '--detach', 'HEAD~1'], '', path)),
  },
  {
    name: 'a file inside',
    weight: 1.5,
    act: (tree) =>
      inside(tree, (path) =>
        tree.put(`${path}/${tree.random.pick(['one', 'new', 'x.log', 'deep/y'])}`, text(tree)),
      ),
  },
  {
    name: 'staged inside',
    weight: 0.7,
    act: (tree) => inside(tree, (path) => tree.git(['add', '-A'], '', path)),
  },
  {
    name: 'stage a repository inside',
    weight: 1.5,
    act: (tree) => inside(tree, (path) => tree.git(['add', '--', path])),
  },
  {
    name: 'submodule update',
    weight: 0.5,
    act: (tree) => tree.git(['submodule', '-q', 'update', '--init', ...tree.random.pick([[], ['--force']])]),
  },
  {
    name: 'submodule deinit',
    weight: 0.2,
    act: (tree) => inside(tree, (path) => tree.git(['submodule', '-q', 'deinit', '-f', '--', path])),
  },
  {
    name: 'rm of a submodule',
    weight: 0.2,
    act: (tree) => inside(tree, (path) => tree.git(['rm', '-qf', '--', path])),
  },
  {
    name: 'mv of a submodule',
    weight: 0.2,
    act: (tree) => inside(tree, (path) => tree.git(['mv', path, `sub-moved-${tree.random.below(3)}`])),
  },
  { name: 'a repository inside', weight: 0.5, act: newInside },
];

function some(tree: Worktree, paths: readonly string[]): string[] {
  return paths.length === 0 ? [] : tree.random.some(paths, 3);
}

/** A tracked path that can be an argument. */
function plainTracked(tree: Worktree): string | undefined {
  const plain = tree.tracked().filter((path) => /^[\x20-\x7e]+$/.test(path) && path.length < 100);
  return plain.length === 0 ? undefined : tree.random.pick(plain);
}

function move(tree: Worktree): void {
  const path = plainTracked(tree);
  if (path !== undefined) tree.git(['mv', '-f', '--', path, `mv-${tree.random.below(4)}`]);
}

function stageOther(tree: Worktree): void {
  const path = plainTracked(tree);
  if (path === undefined || path === '.gitmodules') return;
  const oid = tree
    .git(['hash-object', '-w', '--stdin'], `staged only ${tree.random.below(1000)}\n`)
    .stdout.trim();
  const mode = tree.random.pick(['100644', '100644', '100755']);
  tree.git(['update-index', '--add', '--cacheinfo', `${mode},${oid},${path}`]);
}

function flag(tree: Worktree, ...flags: string[]): void {
  const path = plainTracked(tree);
  if (path !== undefined) tree.git(['update-index', ...flags, '--', path]);
}

function workBranch(tree: Worktree): string {
  const all = tree.ask(['for-each-ref', '--format=%(refname:short)', 'refs/heads/agt/']) ?? '';
  return all.split('\n')[0] || 'main';
}

function commit(tree: Worktree): string[] {
  return [tree.random.pick(['HEAD', 'HEAD', 'HEAD~1', 'main'])];
}

function merge(tree: Worktree): void {
  const branch = tree.random.pick(['main', 'side', 'agents-0', 'agents-1']);
  const isWhole = tree.git(['merge', '-q', '--no-edit', branch]).exitCode === 0;
  if (!isWhole && tree.random.chance(0.7)) tree.git(['merge', '--abort']);
}

function giveUp(tree: Worktree): void {
  for (const command of ['merge', 'cherry-pick']) tree.git([command, '--abort']);
}

function inside(tree: Worktree, act: (path: string) => unknown): string | undefined {
  const path = tree.pick('repository');
  if (path !== undefined) act(path);
  return path;
}

function commitInside(tree: Worktree, path: string): void {
  tree.put(`${path}/${tree.random.pick(['one', 'two'])}`, text(tree));
  tree.git(['add', '-A'], '', path);
  tree.git([...COMMIT, `inside ${tree.random.below(1000)}`], '', path);
}

function addSubmodule(tree: Worktree): void {
  const path = tree.random.pick(['sub', 'libs/sub']);
  const origin = join(
    tree.ask(['rev-parse', '--path-format=absolute', '--git-common-dir'])?.trim() ?? '',
    '../../origin',
  );
  if (tree.kindOf(path) !== undefined || !existsSync(origin)) return;
  tree.git(['submodule', '-q', 'add', '--force', '--name', path, origin, path]);
  if (tree.random.chance(0.7)) tree.git([...COMMIT, `submodule ${path}`, '--', path, '.gitmodules']);
}

function newInside(tree: Worktree): void {
  const path = tree.random.pick(['nested', 'src/nested', 'build/nested']);
  tree.clear(path);
  tree.git(['init', '-q', '-b', 'main', path]);
  if (tree.random.chance(0.85)) commitInside(tree, path);
}

/** Submodules come from here: it stands beside the repository of a life. */
export function makeOrigin(origin: string): void {
  mkdirSync(origin);
  ok(REAL_GIT, ['init', '-q', '-b', 'main'], origin);
  for (const number of [1, 2, 3]) {
    writeFileSync(join(origin, 'one'), `${number}\n`);
    writeFileSync(join(origin, '.gitignore'), '*.log\n');
    ok(REAL_GIT, ['add', '-A'], origin);
    ok(REAL_GIT, ['commit', '-q', '-m', `origin ${number}`], origin);
  }
}
