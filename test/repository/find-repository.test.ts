/** findRepository finds the same repository as git, whether or not it starts git. */
import { chownSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openGit } from '../../src/git/run/git.ts';
import { findRepository } from '../../src/repository/find-repository.ts';
import { agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

function repository(...settings: [key: string, value: string][]): string {
  const path = makeRepository({ 'deep/er/file': 'x\n' });
  for (const setting of settings) git(path, 'config', ...setting);
  return path;
}

function linked(main: string): string {
  const path = join(makeTempDir('linked'), 'worktree');
  git(main, 'worktree', 'add', '-q', path);
  return path;
}

function elsewhere(): string {
  return makeTempDir('elsewhere');
}

const OWNED_BY_OTHERS = 'a repository of another user';

const DIRECTORIES: readonly (readonly [what: string, make: () => string])[] = [
  ['a worktree', repository],
  ['a folder in it', () => join(repository(), 'deep/er')],
  ['a linked worktree', () => linked(repository())],
  ['a folder in that', () => join(linked(repository()), 'deep')],
  ['the git directory', () => join(repository(), '.git/refs')],
  [
    'the git directory of a linked worktree',
    () => {
      const path = repository();
      linked(path);
      return join(path, '.git/worktrees/worktree');
    },
  ],
  ['a worktree of a bare repository', () => linked(repository(['core.bare', 'true']))],
  ['the worktree of a repository with core.bare', () => repository(['core.bare', 'true'])],
  [
    'the worktree of a repository with core.bare without a value',
    () => {
      const path = repository();
      write(join(path, '.git/config'), '[core]\n\trepositoryformatversion = 0\n\tbare\n');
      return path;
    },
  ],
  ['a repository with core.worktree', () => repository(['core.worktree', elsewhere()])],
  [
    'a repository with core.worktree in an included file',
    () => {
      const file = join(elsewhere(), 'more');
      write(file, `[core]\n\tworktree = ${elsewhere()}\n`);
      return repository(['include.path', file]);
    },
  ],
  [
    'a linked worktree with settings of its own',
    () => {
      const path = linked(repository(['extensions.worktreeConfig', 'true']));
      git(path, 'config', '--worktree', 'core.worktree', elsewhere());
      return path;
    },
  ],
  [
    'a worktree with settings of its own',
    () => {
      const path = repository(['extensions.worktreeConfig', 'true']);
      git(path, 'config', '--worktree', 'core.worktree', elsewhere());
      return path;
    },
  ],
  ['an unknown repository format', () => repository(['core.repositoryFormatVersion', '99'])],
  [
    'a configuration that cannot be parsed',
    () => {
      const path = repository();
      write(join(path, '.git/config'), '[core\n');
      return path;
    },
  ],
  [
    'a submodule',
    () => {
      const path = repository();
      git(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', repository(), 'sub');
      return join(path, 'sub');
    },
  ],
  [
    OWNED_BY_OTHERS,
    () => {
      const path = repository();
      chownSync(join(path, '.git'), 12_345, 12_345);
      return path;
    },
  ],
  [
    'a broken repository inside another one',
    () => {
      const path = join(repository(), 'deep');
      mkdirSync(join(path, '.git'));
      return path;
    },
  ],
  [
    'a folder with a .git that leads nowhere',
    () => {
      const path = elsewhere();
      symlinkSync('/nowhere', join(path, '.git'));
      return path;
    },
  ],
  ['no repository', elsewhere],
];

/** The repository that git finds, or why it refuses the one that is there. */
function findWithGit(cwd: string): { commonDir: string; worktree: string | undefined } | string | undefined {
  const revParse = (...args: string[]) =>
    run(REAL_GIT, ['rev-parse', '--path-format=absolute', ...args], { cwd });
  const common = revParse('--git-common-dir');
  if (/not a git repository/.test(common.stderr)) return undefined;
  if (common.exitCode !== 0) return common.stderr.split('\n')[0]?.replace('fatal: ', '');
  const top = revParse('--show-toplevel');
  return {
    commonDir: common.stdout.trimEnd(),
    worktree: top.exitCode === 0 ? top.stdout.trimEnd() : undefined,
  };
}

const isRoot = process.geteuid?.() === 0;

test.for(DIRECTORIES)('finds the same as git from %s', async ([what, make], { skip }) => {
  skip(what === OWNED_BY_OTHERS && !isRoot, 'only root can give files away');
  const directory = make();
  const found = findRepository(openGit(REAL_GIT, directory, process.env), directory);
  const expected = findWithGit(directory);
  if (typeof expected === 'string')
    await expect(found).rejects.toThrow(`git cannot use this repository: ${expected}`);
  else expect(await found).toEqual(expected);
});

test('finds the repository from a session folder and through a symbolic link', async () => {
  const path = makeRepository();
  const { sandbox } = JSON.parse(agtOk(path, 'session', 'new', '--id', 's1', '--json'));
  const own = openGit(REAL_GIT, path, process.env);
  const expected = { commonDir: join(path, '.git'), worktree: sandbox };
  expect(await findRepository(own, join(sandbox, '../xdg'))).toEqual(expected);
  const link = join(elsewhere(), 'link');
  symlinkSync(sandbox, link);
  const outcome = agtOk(link, 'session', 'path');
  expect([outcome.trimEnd(), existsSync(sandbox)]).toEqual([sandbox, true]);
});

test('starts no git if the repository is plain, or if there is none', () => {
  const path = makeRepository();
  const trace = (cwd: string) =>
    run(join(import.meta.dirname, '../../dist/agt'), ['session', 'list'], {
      cwd,
      env: { AGT_TRACE: '1' },
    }).stderr;
  const looksForFirst = /^agt: trace: .* rev-parse .*'HEAD\^\{commit\}'$/gm; // where a session could begin
  expect([trace(path), trace(elsewhere())].join('').replace(looksForFirst, '')).not.toContain('agt: trace');
  git(path, 'config', 'include.path', 'more');
  expect(trace(path)).toContain(`agt: trace: ${REAL_GIT} rev-parse --path-format=absolute`);
});
