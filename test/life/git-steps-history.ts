/** Random git commands that make commits and branches, merge and rebase. */
import { type GitStep, one } from './git-scene.ts';

/** The sequence editor makes the first step of a rebase stop. */
const STOP_FIRST = { GIT_SEQUENCE_EDITOR: "sed -i -e '1s/^pick/edit/'" };

export const HISTORY_STEPS: readonly GitStep[] = [
  one('commit', 4, (scene) => ['commit', '-q', '-m', scene.message()]),
  one('commit -a', 4, (scene) => ['commit', '-qam', scene.message()]),
  one('commit --amend', 1, (scene) => ['commit', '-q', '--amend', '-m', scene.message()]),
  one('commit -a --amend', 1, () => ['commit', '-qa', '--amend', '--no-edit']),
  one('commit --allow-empty', 1, (scene) => ['commit', '-q', '--allow-empty', '-m', scene.message()]),
  {
    name: 'commit paths',
    make: (scene) => scene.withPaths(['commit', '-q', '-m', scene.message()], scene.tracked()),
  },
  one('commit --fixup', 0.5, () => ['commit', '-q', '--allow-empty', '--fixup', 'HEAD']),
  one('reset', 1, () => ['reset', '-q']),
  one('reset --soft', 1, (scene) => ['reset', '--soft', scene.commit()]),
  one('reset --mixed', 0.7, (scene) => ['reset', '-q', scene.commit()]),
  one('reset -N', 0.3, () => ['reset', '-q', '-N']),
  one('reset --hard', 1, () => ['reset', '-q', '--hard']),
  one('reset --hard to', 1, (scene) => ['reset', '-q', '--hard', scene.commit()]),
  one('reset --merge', 0.5, (scene) => ['reset', '--merge', scene.commit()]),
  one('reset --keep', 0.5, (scene) => ['reset', '--keep', scene.commit()]),
  one('checkout a branch', 2, (scene) => ['checkout', '-q', scene.existing()]),
  one('checkout -b', 1, (scene) => ['checkout', '-q', '-b', scene.branch()]),
  one('checkout -B', 0.5, (scene) => ['checkout', '-q', '-B', scene.branch(), scene.commit()]),
  one('checkout -f', 0.5, (scene) => ['checkout', '-qf', scene.existing()]),
  one('checkout -m', 0.5, (scene) => ['checkout', '-qm', scene.existing()]),
  one('checkout --detach', 1, (scene) => ['checkout', '-q', '--detach', scene.commit()]),
  one('checkout --orphan', 0.3, (scene) => ['checkout', '-q', '--orphan', `orphan-${scene.random.below(9)}`]),
  one('checkout the work branch', 3, (scene) => ['checkout', '-q', workBranch(scene.cwd)]),
  one('switch', 1, (scene) => ['switch', '-q', scene.existing()]),
  one('switch -', 1, () => ['switch', '-q', '-']),
  one('switch -c', 0.7, (scene) => ['switch', '-q', '-c', scene.branch()]),
  one('switch -C', 0.5, (scene) => ['switch', '-q', '-C', scene.branch(), scene.commit()]),
  one('switch --detach', 0.5, (scene) => ['switch', '-q', '--detach', scene.commit()]),
  one('switch --discard-changes', 0.5, (scene) => ['switch', '-q', '--discard-changes', scene.existing()]),
  one('symbolic-ref HEAD', 0.2, (scene) => ['symbolic-ref', 'HEAD', `refs/heads/${workBranch(scene.cwd)}`]),
  one('branch', 1, (scene) => ['branch', scene.branch(), scene.commit()]),
  one('branch -f', 0.5, (scene) => ['branch', '-f', scene.branch(), scene.commit()]),
  one('branch -d', 0.3, (scene) => ['branch', '-q', '-d', scene.branch()]),
  one('branch -D', 0.5, (scene) => ['branch', '-q', '-D', scene.branch()]),
  one('branch -m', 0.4, (scene) => ['branch', '-M', scene.branch(), scene.branch()]),
  one('branch -c', 0.3, (scene) => ['branch', '-C', scene.branch(), scene.branch()]),
  one('tag', 0.5, (scene) => ['tag', scene.tag(), scene.commit()]),
  one('tag -a', 0.3, (scene) => ['tag', '-f', '-a', '-m', 'x', scene.tag()]),
  one('tag -d', 0.3, (scene) => ['tag', '-d', scene.tag()]),
  one('merge', 2, (scene) => ['merge', '-q', scene.existing()]),
  one('merge --no-ff', 1, (scene) => ['merge', '-q', '--no-ff', scene.existing()]),
  one('merge --no-commit', 0.7, (scene) => ['merge', '-q', '--no-commit', '--no-ff', scene.existing()]),
  one('merge --squash', 0.5, (scene) => ['merge', '-q', '--squash', scene.existing()]),
  one('merge -X ours', 0.3, (scene) => ['merge', '-q', '-X', 'ours', scene.existing()]),
  one('merge --autostash', 0.3, (scene) => ['merge', '-q', '--autostash', scene.existing()]),
  one('merge goes on', 1, ({ random }) => ['merge', random.pick(['--abort', '--continue', '--quit'])]),
  one('pull', 0.3, (scene) => ['pull', '-q', '--no-rebase', '.', scene.existing()]),
  one('rebase', 1, (scene) => ['rebase', '-q', scene.commit()]),
  one('rebase --onto', 0.5, (scene) => ['rebase', '-q', '--onto', scene.existing(), 'HEAD~2']),
  one('rebase --apply', 0.4, (scene) => ['rebase', '-q', '--apply', scene.existing()]),
  one('rebase --autostash', 0.7, (scene) => ['rebase', '-q', '--autostash', scene.commit()]),
  one('rebase --exec', 0.3, () => ['rebase', '-q', '--exec', 'false', 'HEAD~1']),
  one('rebase goes on', 2, ({ random }) => [
    'rebase',
    random.pick(['--abort', '--continue', '--skip', '--quit']),
  ]),
  {
    name: 'rebase -i',
    make: (scene) => [
      {
        args: [
          'rebase',
          '-i',
          ...scene.random.pick([[], ['--autostash']]),
          `HEAD~${1 + scene.random.below(3)}`,
        ],
        env: STOP_FIRST,
      },
    ],
  },
  one('cherry-pick', 1, (scene) => ['cherry-pick', scene.existing()]),
  one('cherry-pick -n', 0.4, (scene) => ['cherry-pick', '-n', scene.existing()]),
  one('cherry-pick several', 1.2, (scene) => {
    const branch = scene.existing();
    return [
      'cherry-pick',
      ...scene.random.pick([[`HEAD..${branch}`], [`${branch}~1`, branch], [`${branch}~2..${branch}`]]),
    ];
  }),
  one('cherry-pick goes on', 1, ({ random }) => [
    'cherry-pick',
    random.pick(['--abort', '--continue', '--skip', '--quit']),
  ]),
  one('revert', 1, (scene) => ['revert', '--no-edit', scene.commit()]),
  one('revert -n', 0.4, (scene) => ['revert', '-n', scene.commit()]),
  one('revert several', 0.7, () => ['revert', '--no-edit', 'HEAD~2..HEAD']),
  one('revert goes on', 1, ({ random }) => [
    'revert',
    random.pick(['--abort', '--continue', '--skip', '--quit']),
  ]),
  one('stash', 1.5, ({ random }) => [
    'stash',
    'push',
    '-q',
    ...random.pick([[], ['-u'], ['-a'], ['-k'], ['-S']]),
  ]),
  one('stash pop', 1, ({ random }) => ['stash', 'pop', '-q', ...random.pick([[], ['--index']])]),
  one('stash apply', 0.7, ({ random }) => [
    'stash',
    'apply',
    '-q',
    ...random.pick([[], ['--index'], ['stash@{1}']]),
  ]),
  one('stash drop', 0.4, ({ random }) => ['stash', 'drop', '-q', ...random.pick([[], ['stash@{1}']])]),
  one('stash clear', 0.2, () => ['stash', 'clear']),
  one('stash branch', 0.2, (scene) => ['stash', 'branch', `from-stash-${scene.random.below(5)}`]),
  {
    name: 'stash paths',
    weight: 0.5,
    make: (scene) => scene.withPaths(['stash', 'push', '-q'], scene.tracked()),
  },
  one('bisect start', 0.5, () => ['bisect', 'start', 'HEAD', 'HEAD~3']),
  one('bisect', 1, ({ random }) => ['bisect', random.pick(['good', 'bad', 'skip', 'reset', 'log'])]),
  one('update-ref', 0.5, (scene) => ['update-ref', `refs/worktree/${scene.tag()}`, scene.commit()]),
  one('update-ref -d', 0.3, (scene) => ['update-ref', '-d', `refs/heads/${scene.branch()}`]),
  {
    name: 'am',
    make: (scene) => {
      const patch = scene.ask(['format-patch', '-1', '--stdout', scene.existing()]);
      const way = scene.random.pick([[], ['-3'], ['--reject']]);
      return patch === undefined || patch === ''
        ? undefined
        : [{ args: ['am', '-q', ...way], input: `${patch}\n` }];
    },
  },
  one('am goes on', 0.7, ({ random }) => ['am', random.pick(['--abort', '--continue', '--skip', '--quit'])]),
  one('notes', 0.4, (scene) => [
    'notes',
    ...scene.random.pick([['add', '-f', '-m', scene.message()], ['remove']]),
  ]),
  one('config', 0.3, (scene) => ['config', 'user.name', scene.message()]),
  one('git config --worktree', 0.3, (scene) => ['config', '--worktree', 'user.name', scene.message()]),
  one('worktree add beside the sandbox', 0.3, () => ['worktree', 'add', '-q', '--detach', '../beside-tree']),
  one('rerere', 0.2, ({ random }) => ['config', 'rerere.enabled', random.pick(['true', 'false'])]),
  one('rebase.updateRefs', 0.1, ({ random }) => [
    'config',
    'rebase.updateRefs',
    random.pick(['true', 'false']),
  ]),
  one('push to itself', 0.2, (scene) => [
    'push',
    '-q',
    '.',
    `HEAD:refs/heads/pushed-${scene.random.below(3)}`,
  ]),
  one('fetch', 0.2, (scene) => ['fetch', '-q', '.', scene.existing()]),
];

/** The work branch of the sandbox at `cwd`. */
function workBranch(cwd: string): string {
  return `agt/${cwd.split('/').at(-2)}`;
}
