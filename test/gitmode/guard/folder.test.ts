/** In a checkout that is in no session the guard takes a snapshot, if agt has taken one there before. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS, shimAction } from '../../../src/gitmode/commands.ts';
import {
  AGT,
  agtOk,
  GIT_MODE,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  write,
} from '../../harness/world.ts';
import { words } from '../../twin/compare.ts';

let shim: string;
const env = { PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}`, AGT_GIT_PATH: undefined };
beforeAll(() => {
  const dir = makeTempDir('shim');
  expect(run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env }).exitCode).toBe(0);
  shim = join(dir, 'git');
});

const FILES = { a: 'a\n', 'd/b': 'b\n', '.gitignore': '.env\n' };

function makeFolder(name: string): string {
  const made = makeRepository(FILES);
  const folder = join(dirname(made), name);
  if (name !== 'project') renameSync(made, folder);
  agtOk(folder, 'snapshot');
  return folder;
}

const stores = () => {
  const directory = join(process.env['HOME'] ?? '', '.local/state/agt/folders');
  return existsSync(directory) ? readdirSync(directory) : [];
};

describe.each([
  ['the executable', () => GIT_MODE],
  ['the shim', () => shim],
])('through %s', (_, program) => {
  const call = (cwd: string, line: string, more = {}) =>
    run(program(), words(line), { cwd, env: { ...env, ...more } });

  test.each(['reset --hard', 'clean -fdx', 'checkout -- .', 'restore .', 'stash -u', 'rm -rf a d'])(
    'git %s, and an undo',
    (line) => {
      const folder = makeFolder('project');
      const work = { a: 'work\n', 'd/b': 'more\n', 'new': 'new\n', '.env': 'KEY=1\n' };
      for (const [path, content] of Object.entries(work)) write(join(folder, path), content);
      const done = line.startsWith('clean')
        ? call(folder, line)
        : call(join(folder, 'd'), line.replace(/ \.$/, ' ..').replace('a d', '../a ../d/b'));
      expect(done.stderr).not.toContain('agt');
      agtOk(folder, 'undo');
      for (const [path, content] of Object.entries(work))
        expect([path, readFileSync(join(folder, path), 'utf8')]).toEqual([path, content]);
      expect(agtOk(folder, 'snapshot', 'list')).toContain(`before git ${line.split(' ')[0]}`);
    },
  );

  test.each([
    ['branch', 'branch -D wild', 'refs/heads/wild'],
    ['branch', 'branch --force wild HEAD~1', 'refs/heads/wild'],
    ['tag', 'tag -d wild', 'refs/tags/wild'],
  ])('a %s that was made since the last snapshot comes back after git %s', (kind, line, ref) => {
    const folder = makeFolder('project');
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'later');
    git(folder, kind, 'wild');
    const commit = git(folder, 'rev-parse', ref);
    expect(call(folder, line).exitCode).toBe(0);
    agtOk(folder, 'restore', `before git ${kind}`);
    expect(git(folder, 'rev-parse', ref)).toBe(commit);
  });

  test.each([
    'rebase --abort',
    'rebase --skip',
    '-C . rebase --abort',
    '--no-pager rebase --abort',
    'ra',
    'rs',
  ])('git %s: a resolution comes back', (line) => {
    const folder = makeFolder('project');
    git(folder, 'config', 'alias.ra', 'rebase --abort');
    git(folder, 'config', 'alias.rs', '!git rebase --abort');
    git(folder, 'switch', '-qc', 'topic');
    write(join(folder, 'a'), 'topic\n');
    git(folder, 'commit', '-qam', 'topic');
    git(folder, 'switch', '-q', 'main');
    write(join(folder, 'a'), 'main\n');
    git(folder, 'commit', '-qam', 'main');
    git(folder, 'switch', '-q', 'topic');
    expect(call(folder, 'rebase main').exitCode).toBe(1);
    write(join(folder, 'a'), 'my resolution\n');
    expect(call(folder, line).exitCode).toBe(0);
    expect(readFileSync(join(folder, 'a'), 'utf8')).not.toContain('my');
    agtOk(folder, 'undo');
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('my resolution\n');
  });

  test.each(['pull -q', 'rebase -q origin/main'])(
    'a file that git ignores comes back after git %s',
    (line) => {
      const upstream = makeFolder('upstream');
      const folder = join(dirname(upstream), 'project');
      git(upstream, 'clone', '-q', '.', folder);
      write(join(upstream, '.env'), 'of upstream\n');
      git(upstream, 'add', '-f', '.env');
      git(upstream, 'commit', '-qm', 'env');
      git(folder, 'fetch', '-q');
      agtOk(folder, 'snapshot');
      write(join(folder, '.env'), 'KEY=1\n');
      expect(call(folder, line).exitCode).toBe(0);
      agtOk(folder, 'undo');
      expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('KEY=1\n');
    },
  );

  test.each(['with.dot', '-dash-', 'two words', 'ä', `${'long'.repeat(15)}`, 'x.lock'])(
    'a folder named %s',
    (name) => {
      const folder = makeFolder(name);
      writeFileSync(join(folder, 'a'), 'work\n');
      expect(call(folder, 'checkout -q -- a')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
      agtOk(folder, 'undo');
      expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('work\n');
    },
  );

  test('nothing is made where agt has no snapshots, or where agt.guard is off', () => {
    const known = makeFolder('project');
    const other = makeRepository(FILES);
    const before = stores();
    for (const folder of [known, other]) writeFileSync(join(folder, 'a'), 'work\n');
    expect(call(other, 'reset -q --hard')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect(existsSync(join(other, '.git/agt'))).toBe(false);
    agtOk(known, 'config', 'set', 'agt.guard', 'false');
    expect(call(known, 'reset -q --hard')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect(stores()).toEqual(before);
    expect(JSON.parse(agtOk(known, 'snapshot', 'list', '--json'))).toHaveLength(1);
    expect(call(known, 'reset -q --hard', { HOME: '/nonexistent' })).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
  });

  test('a linked worktree has its own snapshots; a session beside it has its own, too', () => {
    const folder = makeFolder('project');
    const linked = join(dirname(folder), 'linked');
    git(folder, 'worktree', 'add', '-q', '-b', 'side', linked);
    agtOk(linked, 'snapshot');
    writeFileSync(join(linked, 'a'), 'linked\n');
    writeFileSync(join(folder, 'a'), 'main\n');
    call(linked, 'checkout -q -f');
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('main\n');
    agtOk(linked, 'undo');
    expect(readFileSync(join(linked, 'a'), 'utf8')).toBe('linked\n');
    expect(JSON.parse(agtOk(folder, 'snapshot', 'list', '--json'))).toHaveLength(1);
  });
});

test('the shim asks for each command that can destroy work whether agt has snapshots of the folder', () => {
  const text = readFileSync(shim, 'utf8');
  for (const [name, command] of COMMANDS)
    if (command.destroys !== undefined && !shimAction(command).startsWith('guard'))
      expect(text).toMatch(new RegExp(`[ \n]${name},[^)]*\\)\\n  if agt_is_known`));
});

test('a store that cannot be written: one warning, and git runs', () => {
  const folder = makeFolder('project');
  const { store } = JSON.parse(agtOk(folder, 'snapshot', 'status', '--json')) as { store: string };
  rmSync(join(store, 'HEAD'));
  mkdirSync(join(store, 'HEAD'));
  writeFileSync(join(folder, 'a'), 'work\n');
  const done = run(shim, ['reset', '-q', '--hard'], { cwd: folder, env });
  expect(done).toMatchObject({ exitCode: 0, stdout: '' });
  expect(done.stderr).toMatch(/^warning: agt: .*\n$/);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('a\n');
});
