/** Which repository a command means is what git says, whether or not git was asked. */
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

const PLACES: readonly (readonly [what: string, make: () => string])[] = [
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
  ['the worktree of one that says it is bare', () => repository(['core.bare', 'true'])],
  [
    'one that says so without a value',
    () => {
      const path = repository();
      write(join(path, '.git/config'), '[core]\n\trepositoryformatversion = 0\n\tbare\n');
      return path;
    },
  ],
  ['one whose worktree is another place', () => repository(['core.worktree', elsewhere()])],
  [
    'one that says so in another file',
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
  ['a format that is not known', () => repository(['core.repositoryFormatVersion', '99'])],
  [
    'settings that cannot be read',
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
    'one of somebody else',
    () => {
      const path = repository();
      chownSync(join(path, '.git'), 12_345, 12_345);
      return path;
    },
  ],
  [
    'a broken one in a whole one',
    () => {
      const path = join(repository(), 'deep');
      mkdirSync(join(path, '.git'));
      return path;
    },
  ],
  ['no repository', elsewhere],
];

/** What git itself says. */
function asGitHasIt(cwd: string): { commonDir: string; worktree: string | undefined } | undefined {
  const say = (...args: string[]) => run(REAL_GIT, ['rev-parse', '--path-format=absolute', ...args], { cwd });
  const common = say('--git-common-dir');
  if (common.exitCode !== 0) return undefined;
  const top = say('--show-toplevel');
  return {
    commonDir: common.stdout.trimEnd(),
    worktree: top.exitCode === 0 ? top.stdout.trimEnd() : undefined,
  };
}

const isRoot = process.geteuid?.() === 0;

test.for(PLACES)('%s', async ([what, make], { skip }) => {
  skip(what === 'one of somebody else' && !isRoot, 'only root can give files away');
  const place = make();
  const found = await findRepository(openGit(REAL_GIT, place, process.env), place);
  expect(found).toEqual(asGitHasIt(place));
});

test('a session folder beside its sandbox, and a link to it', async () => {
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

test('no process is started where the answer is plain', () => {
  const path = makeRepository();
  const trace = (cwd: string) =>
    run(join(import.meta.dirname, '../../dist/agt'), ['session', 'list'], {
      cwd,
      env: { AGT_TRACE: '1' },
    }).stderr;
  expect(trace(path)).toBe('');
  git(path, 'config', 'include.path', 'more');
  expect(trace(path)).toContain(`agt: trace: ${REAL_GIT} rev-parse --path-format=absolute`);
});
