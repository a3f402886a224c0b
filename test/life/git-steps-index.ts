/** Random git commands on the index, the worktree and the store. */
import { type GitStep, one } from './git-scene.ts';

const MANY = 3;

export const INDEX_STEPS: readonly GitStep[] = [
  one('add all', MANY, () => ['add', '-A']),
  one('add -u', 1, () => ['add', '-u']),
  one('add -f', 0.5, () => ['add', '-f', '.']),
  { name: 'add paths', weight: MANY, make: (scene) => scene.withPaths(['add'], scene.present()) },
  { name: 'add -N', weight: 1, make: (scene) => scene.withPaths(['add', '-N'], scene.present()) },
  {
    name: 'add --chmod',
    weight: 1,
    make: (scene) => scene.withPaths(['add', '--chmod=+x'], scene.present()),
  },
  {
    name: 'stage a part',
    weight: 2,
    make: (scene) => {
      const path = scene.plainTracked();
      if (path === undefined) return undefined;
      const part = `staged only ${scene.random.below(1000)}\n`;
      const oid = scene.ask(['hash-object', '-w', '--stdin'], part);
      return oid === undefined
        ? undefined
        : [{ args: ['update-index', '--add', '--cacheinfo', `100644,${oid},${path}`] }];
    },
  },
  { name: 'assume-unchanged', make: (scene) => scene.flag('--assume-unchanged') },
  { name: 'no-assume-unchanged', make: (scene) => scene.flag('--no-assume-unchanged') },
  { name: 'skip-worktree', make: (scene) => scene.flag('--skip-worktree') },
  { name: 'no-skip-worktree', make: (scene) => scene.flag('--no-skip-worktree') },
  { name: 'force-remove', make: (scene) => scene.flag('--force-remove') },
  { name: 'update-index --chmod', make: (scene) => scene.flag('--chmod=+x') },
  one('update-index --refresh', 1, () => ['update-index', '-q', '--really-refresh']),
  one('index version', 0.5, ({ random }) => [
    'update-index',
    '--index-version',
    random.pick(['2', '3', '4']),
  ]),
  one('untracked cache', 0.3, ({ random }) => [
    'update-index',
    random.pick(['--untracked-cache', '--no-untracked-cache']),
  ]),
  one('split index', 0.2, ({ random }) => [
    'update-index',
    random.pick(['--split-index', '--no-split-index']),
  ]),
  { name: 'rm', make: (scene) => scene.withPaths(['rm', '-q'], scene.tracked()) },
  { name: 'rm -f', make: (scene) => scene.withPaths(['rm', '-qf'], scene.tracked()) },
  { name: 'rm --cached', make: (scene) => scene.withPaths(['rm', '-q', '--cached'], scene.tracked()) },
  {
    name: 'mv',
    make: (scene) => {
      const path = scene.plainTracked();
      return path === undefined
        ? undefined
        : [
            {
              args: [
                'mv',
                ...scene.random.pick([[], ['-f'], ['-k']]),
                '--',
                path,
                scene.random.pick(['a', 'mv-1']),
              ],
            },
          ];
    },
  },
  one('clean -fd', 0.7, () => ['clean', '-fdq']),
  one('clean -fdx', 0.5, () => ['clean', '-fdxq']),
  one('clean -fX', 0.5, () => ['clean', '-fXq']),
  { name: 'restore', make: (scene) => scene.withPaths(['restore'], scene.tracked()) },
  { name: 'restore --staged', make: (scene) => scene.withPaths(['restore', '--staged'], scene.tracked()) },
  { name: 'restore -SW', make: (scene) => scene.withPaths(['restore', '-SW'], scene.tracked()) },
  {
    name: 'restore --source',
    make: (scene) => scene.withPaths(['restore', `--source=${scene.commit()}`], scene.tracked()),
  },
  one('restore all', 0.5, () => ['restore', '.']),
  { name: 'checkout paths', make: (scene) => scene.withPaths(['checkout'], scene.tracked()) },
  {
    name: 'checkout HEAD~1 paths',
    make: (scene) => scene.withPaths(['checkout', 'HEAD~1'], scene.tracked()),
  },
  one('checkout --ours', 0.5, ({ random }) => ['checkout', random.pick(['--ours', '--theirs']), '.']),
  { name: 'reset paths', make: (scene) => scene.withPaths(['reset', '-q'], scene.tracked()) },
  one('read-tree HEAD', 0.5, () => ['read-tree', 'HEAD']),
  one('read-tree -m -u', 0.5, (scene) => ['read-tree', '-m', '-u', 'HEAD', scene.existing()]),
  one('read-tree --reset -u', 0.4, (scene) => ['read-tree', '--reset', '-u', scene.commit()]),
  one('read-tree --empty', 0.2, () => ['read-tree', '--empty']),
  one('checkout-index', 0.5, () => ['checkout-index', '-f', '-a', '-q']),
  one('write-tree', 0.3, () => ['write-tree']),
  one('git sparse-checkout', 0.6, ({ random }) => [
    'sparse-checkout',
    ...random.pick([
      ['set', 'src'],
      ['set', '--no-cone', '/a', '/lib/*'],
      ['disable'],
      ['add', 'lib'],
      ['reapply'],
    ]),
  ]),
  {
    name: 'apply a patch',
    make: (scene) => {
      const path = scene.plainTracked();
      const patch = path === undefined ? undefined : scene.ask(['diff', 'HEAD~1', 'HEAD', '--', path]);
      const way = scene.random.pick([['--cached'], ['--index'], [], ['--3way']]);
      return patch === undefined || patch === ''
        ? undefined
        : [{ args: ['apply', ...way], input: `${patch}\n` }];
    },
  },
  {
    name: 'git apply -R',
    make: (scene) => {
      const patch = scene.ask(['diff']);
      return patch === undefined || patch === ''
        ? undefined
        : [{ args: ['apply', scene.random.pick(['-R', '--reverse'])], input: `${patch}\n` }];
    },
  },
  one('gc', 0.4, () => ['gc', '-q']),
  one('gc --prune=now', 0.3, () => ['gc', '-q', '--prune=now']),
  one('prune', 0.3, () => ['prune', '--expire=now']),
  one('repack', 0.3, ({ random }) => ['repack', '-q', ...random.pick([['-ad'], ['-d'], ['-Ad']])]),
  one('pack-refs', 0.4, () => ['pack-refs', '--all']),
  one('reflog expire', 0.3, () => ['reflog', 'expire', '--expire=now', '--expire-unreachable=now', '--all']),
  one('reflog delete', 0.3, () => ['reflog', 'delete', '--rewrite', 'HEAD@{1}']),
  one('commit-graph', 0.2, () => ['commit-graph', 'write', '--reachable']),
  one('maintenance', 0.2, () => ['maintenance', 'run', '--quiet', '--task=loose-objects']),
  one('status', 1, ({ random }) => ['status', ...random.pick([[], ['-s'], ['--ignored']])]),
  one('show', 0.5, ({ random }) =>
    random.pick([
      ['show', '--stat'],
      ['log', '--oneline', '-3'],
      ['diff', '--stat'],
    ]),
  ),
];
