/** Git mode finds the repository that git finds: from subdirectories, by variables, options and links, bare, in submodules. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { GIT_MODE, git, makeTempDir, REAL_GIT, run } from '../harness/world.ts';
import { compareLines, describeDifference, type Subject } from './compare.ts';
import { buildTwin, SIDES, type Twin } from './shapes.ts';

const LINES = [
  'branch -a',
  'branch --list',
  'for-each-ref',
  'show-ref',
  'log --all --oneline --decorate',
  'log -1',
  'rev-list --all --count',
  'rev-parse --all',
  'show-branch',
  'worktree list',
  'describe --all',
  'status',
];

const EXECUTABLE: Subject = { program: GIT_MODE, env: { AGT_GIT_PATH: REAL_GIT } };

async function expectSame(twin: Twin, env: Record<string, string> = {}, lines = LINES): Promise<void> {
  const differences = await compareLines(twin, lines, { ...EXECUTABLE, env: { ...EXECUTABLE.env, ...env } });
  expect(differences.map(describeDifference).join('\n')).toBe('');
}

describe('git mode finds the repository', () => {
  let twin: Twin;
  beforeAll(() => {
    twin = buildTwin('merges');
    for (const side of SIDES) {
      const project = join(twin.root, side, 'project');
      mkdirSync(join(project, 'deep', 'down'), { recursive: true });
      mkdirSync(join(twin.root, side, 'elsewhere'));
      cpSync(join(project, '.git'), join(twin.root, side, 'bare.git'), { recursive: true });
      git(join(twin.root, side, 'bare.git'), 'config', 'core.bare', 'true');
      symlinkSync(join(project, 'deep'), join(twin.root, side, 'link'));
    }
  });

  test('from a subdirectory', () => expectSame({ ...twin, cwd: 'project/deep/down' }));
  test('through a symbolic link', () => expectSame({ ...twin, cwd: 'link/down' }));
  test('from .git', () => expectSame({ ...twin, cwd: 'project/.git' }));
  test('from .git/refs', () => expectSame({ ...twin, cwd: 'project/.git/refs' }));
  test('that is bare', () => expectSame({ ...twin, cwd: 'bare.git' }));
  test('by GIT_DIR', () => expectSame({ ...twin, cwd: 'elsewhere' }, { GIT_DIR: '../project/.git' }));
  test('by GIT_DIR and GIT_WORK_TREE', () =>
    expectSame({ ...twin, cwd: 'elsewhere' }, { GIT_DIR: '../project/.git', GIT_WORK_TREE: '../project' }));
  test('by GIT_DIR that names a bare repository', () =>
    expectSame({ ...twin, cwd: 'elsewhere' }, { GIT_DIR: '../bare.git' }));
  test('or none, by GIT_DIR that names no repository', () =>
    expectSame({ ...twin, cwd: 'project' }, { GIT_DIR: '../elsewhere' }));
  test('by GIT_COMMON_DIR', () =>
    expectSame({ ...twin, cwd: 'project' }, { GIT_DIR: '.git', GIT_COMMON_DIR: '../bare.git' }));
  test('with GIT_NAMESPACE', () => expectSame(twin, { GIT_NAMESPACE: 'space' }));
  test('or none, outside of any', () => expectSame({ ...twin, cwd: 'elsewhere' }));
  test('by several -C, --git-dir and --work-tree', () =>
    expectSame({ ...twin, cwd: 'elsewhere' }, {}, [
      '-C .. -C project branch -a',
      '-C ../project --git-dir=.git log --all --oneline',
      '--git-dir ../project/.git --work-tree=../project for-each-ref',
      '--git-dir=../bare.git branch',
      '-C ../bare.git --bare log --all --oneline',
      "-C '' branch",
    ]));
});

test('git mode hides the sessions of a submodule, in it and outside of it', async () => {
  const twin = buildTwin('linear');
  for (const side of SIDES) {
    const outer = join(twin.root, side, 'outer');
    git('/', 'init', '-q', '-b', 'main', '--template=', outer);
    git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '../project', 'sub');
    git(outer, 'commit', '-q', '-m', 'with a submodule');
  }
  const sub = join(twin.root, 'with', 'outer', 'sub');
  git(sub, 'branch', 'agt/inner');
  git(sub, 'update-ref', 'refs/agt/tip/inner', 'HEAD');
  // The submodule was cloned from a repository that does not hide its sessions from fetch.
  for (const name of ['agt', 'agtsessions']) {
    for (const ref of git(sub, 'for-each-ref', '--format=%(refname)', `refs/remotes/origin/${name}`).split(
      '\n',
    )) {
      expect(ref).toMatch(/^refs\/remotes\/origin\/agt/);
    }
  }
  await expectSame({ ...twin, cwd: 'outer/sub' });
  await expectSame({ ...twin, cwd: 'outer' });
});

test('git mode hides sessions in a reftable repository', async (context) => {
  const dir = makeTempDir('reftable');
  const made = run(REAL_GIT, ['init', '-q', '--ref-format=reftable', join(dir, 'probe')], { cwd: dir });
  if (made.exitCode !== 0) context.skip('this git has no reftable');
  const twin = { name: 'reftable', root: dir, cwd: 'project' };
  for (const side of SIDES) {
    const project = join(dir, side, 'project');
    git('/', 'init', '-q', '-b', 'main', '--ref-format=reftable', project);
    for (const n of [1, 2, 3]) git(project, 'commit', '-q', '--allow-empty', '-m', `commit ${n}`);
    git(project, 'branch', 'feature', 'HEAD~1');
    git(project, 'tag', 'v1');
  }
  const project = join(dir, 'with', 'project');
  git(project, 'branch', 'agt/s1', 'HEAD~1');
  git(project, 'branch', 'agtsessions/s1');
  git(project, 'worktree', 'add', '-q', join(dir, 'with', 'sandbox'), 'agt/s1');
  git(join(dir, 'with', 'sandbox'), 'commit', '-q', '--allow-empty', '-m', 'by the agent');
  await expectSame(twin);
});
