/**
 * Each session has a stash of its own. In a sandbox, git mode does with it what real git does in a worktree of a
 * repository without agt; nothing of it is seen or changed outside, and nothing of the user's stash inside.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { AGT, agtOk, GIT_MODE, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { words } from './compare.ts';

let root: string;
let shim: string;
const SANDBOX = 'project.agt/sessions/s1/sandbox';

/** `with` has the user's stash and a session; `none` has a worktree in its place; `alone` the user's part. */
beforeAll(() => {
  root = makeTempDir('stashes');
  for (const side of ['with', 'none', 'same']) {
    const project = join(root, side, 'project');
    git('/', 'init', '-q', '-b', 'main', '--template=', project);
    for (const name of ['a', 'd/b', 'c']) write(join(project, name), `${name}\n`);
    write(join(project, '.gitignore'), '*.o\n');
    git(project, 'add', '-A');
    git(project, 'commit', '-q', '-m', 'first');
    git(project, 'branch', 'other');
    if (side === 'none') {
      git(project, 'worktree', 'add', '-q', '-b', 'agt/s1', join(root, side, SANDBOX));
      continue;
    }
    for (const text of ['one', 'two']) {
      write(join(project, 'a'), `of the user: ${text}\n`);
      git(project, 'stash', 'push', '-q', '-m', `user ${text}`);
    }
    git(project, 'pack-refs', '--all');
  }
  agtOk(join(root, 'with', 'project'), 'session', 'new', '--id', 's1');
  // A snapshot before most lines would double the time; it changes nothing of what git does.
  agtOk(join(root, 'with', 'project'), 'config', 'set', '--global', 'agt.guard', 'false');
  const dir = makeTempDir('shim');
  const env = { PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}`, AGT_GIT_PATH: undefined };
  expect(run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env }).exitCode).toBe(0);
  shim = join(dir, 'git');
});

/** Runs the line in the sandbox and in its twin, and compares output, files, index, HEAD and its reflog. */
function inBoth(line: string, { cwd = '', program = GIT_MODE, input = '' } = {}): string {
  const sides = (['with', 'none'] as const).map((side) => {
    const sandbox = join(root, side, SANDBOX);
    const outcome = run(side === 'with' ? program : REAL_GIT, words(line), {
      cwd: join(sandbox, cwd),
      input,
      env: { AGT_GIT_PATH: program === shim ? undefined : REAL_GIT, PATH: path() },
    });
    const gitDir = join(root, side, 'project/.git/worktrees/sandbox');
    const read = (file: string) => (existsSync(file) ? readFileSync(file, 'latin1') : 'none');
    const state = [
      git(sandbox, 'status', '--porcelain=v2', '--branch', '--ignored', '--untracked-files=all'),
      ...['a', 'd/b', 'c', 'new', 'x.o'].map((name) => read(join(sandbox, name))),
      ...['ORIG_HEAD', 'logs/HEAD', 'MERGE_HEAD', 'AUTO_MERGE'].map((name) => read(join(gitDir, name))),
    ];
    const text = `exit ${outcome.exitCode}\n${outcome.stdout}--- stderr\n${outcome.stderr}--- state\n${state.join('\n--\n')}`;
    return text.replaceAll(join(root, side), '/ROOT');
  });
  expect(`${line}\n${sides[0]}`).toBe(`${line}\n${sides[1]}`);
  return sides[0] ?? '';
}

function put(path: string, text: string): void {
  for (const side of ['with', 'none']) writeFileSync(join(root, side, SANDBOX, path), text);
}

/** By real git, which is faster. */
function tidy(branch?: string): void {
  for (const side of ['with', 'none']) {
    const sandbox = join(root, side, SANDBOX);
    git(sandbox, 'reset', '-q', '--hard');
    git(sandbox, 'clean', '-fdxq');
    if (branch !== undefined) git(sandbox, 'switch', '-q', branch);
  }
}

const path = () => `${dirname(REAL_GIT)}:${process.env['PATH']}`;

/** The stash and the refs in the user's worktree, as git mode, or real git in the twin, shows them. */
function ofUser(side: 'with' | 'same'): string {
  const cwd = join(root, side, 'project');
  const bundle = join(makeTempDir('bundle'), 'all');
  const say = (line: string) =>
    run(side === 'with' ? GIT_MODE : REAL_GIT, words(line), { cwd, env: { PATH: path() } });
  say(`bundle create -q ${bundle} --all`);
  say(`clone -q --mirror --no-local . ${bundle}.git`);
  return [
    ...['stash list -p', 'for-each-ref', 'log --all --format=%H%d', 'log -g stash', 'reflog --all'].map(
      (line) => JSON.stringify(say(line)),
    ),
    git(`${bundle}.git`, 'for-each-ref'),
    git(cwd, 'bundle', 'list-heads', bundle),
    readFileSync(join(cwd, '.git/logs/refs/stash'), 'utf8'),
  ].join('\n--\n');
}

describe('in a sandbox', () => {
  test('git stash in all its forms equals a worktree where the user has stashed nothing', () => {
    for (const line of ['stash', 'stash pop', 'stash show', 'stash clear']) inBoth(line);
    put('a', 'one\n');
    inBoth('stash');
    put('a', 'staged\n');
    inBoth('add a');
    put('a', 'two\n');
    put('new', 'untracked\n');
    put('x.o', 'ignored\n');
    inBoth('stash push -u -m "a message"');
    put('d/b', 'three\n');
    put('c', 'not stashed\n');
    inBoth('stash push --all -- b', { cwd: 'd' });
    expect(inBoth('stash list')).toContain('stash@{2}: WIP on agt/s1');
    for (const line of [
      'stash list --stat',
      'stash show -p 1',
      'stash show stash@{2}',
      'stash show -u stash@{1}',
    ])
      inBoth(line);
    expect(ofUser('with')).toBe(ofUser('same'));
    inBoth('stash apply --index 1');
    inBoth('stash pop');
    tidy();
    inBoth('stash pop --index stash@{1}');
    tidy();
    for (const line of ['stash list', 'stash drop 7', 'stash pop nonsense', 'stash apply refs/stash'])
      inBoth(line);
    put('a', 'in the way\n');
    inBoth('stash pop');
    inBoth('commit -q -a -m "in the way"');
    inBoth('stash pop'); // conflicts
    inBoth('stash list');
    tidy();
    inBoth('stash branch from-stash');
    tidy();
    put('a', 'for a branch\n');
    inBoth('stash');
    tidy('agt/s1');
    inBoth('stash branch agt/s1');
    inBoth('stash branch from-entry 0');
    inBoth('stash branch from-nothing');
    tidy();
    tidy('agt/s1');
    put('a', 'part one\n');
    put('c', 'part two\n');
    inBoth('stash push -p', { input: 'y\nn\n' });
    inBoth('stash store -m stored HEAD');
    inBoth('stash save "old form"');
    inBoth('stash clear');
    for (const side of ['with', 'none'])
      git(join(root, side, 'project'), 'branch', '-q', '-D', 'from-stash', 'from-entry');
    expect(ofUser('with')).toBe(ofUser('same'));
  });

  test('stash ends a merge that is resolved, as git does', () => {
    inBoth('switch -q -c side other');
    put('c', 'on the side\n');
    inBoth('commit -q -a -m side');
    inBoth('switch -q agt/s1');
    inBoth('merge --no-commit --no-ff side');
    inBoth('stash');
    inBoth('stash pop');
    inBoth('reset -q --hard');
    inBoth('branch -q -D side');
  });

  test.each([
    ['the executable', () => GIT_MODE],
    ['the shim', () => shim],
  ])('the stash of the user is in no list, through %s', (_, program) => {
    for (const line of [
      'for-each-ref',
      'for-each-ref --format=%(refname) refs/heads refs/stash',
      'show-ref',
      'log --all --oneline --decorate',
      'rev-list --all --count',
      'rev-parse --all',
      'rev-list --glob=refs/ --count',
      'describe --all --always',
      'log --oneline -3 --decorate',
    ])
      inBoth(line, { program: program() });
  });

  test.each([
    ['the executable', () => GIT_MODE],
    ['the shim', () => shim],
  ])("lines that name the stash mean the session's own, through %s", (_, program) => {
    for (const text of ['older', 'newer']) {
      put('a', `${text}\n`);
      put('new', `${text} untracked\n`);
      inBoth(`stash push -q -u -m ${text}`);
    }
    for (const line of ['rev-list --all', 'log --all --no-decorate', 'rev-list --reflog --all --count'])
      inBoth(line, { program: program() });
    for (const line of [
      'show stash@{0}',
      'show --format=%H stash',
      'show stash@{1}:a',
      'diff stash@{0}',
      'diff stash@{1} stash -- a',
      'rev-parse stash stash@{1} refs/stash ^stash~ stash^3:new',
      'rev-list HEAD..stash',
      'log --format=%H -2 stash@{1}',
      'cat-file -p stash@{0}:a',
      'merge-base stash HEAD',
      'grep -h untracked stash^3',
      'checkout -q stash@{1} -- a',
      'restore --source=stash@{0} a',
      'restore -s stash^3 -- new',
      'commit -q -a -m "stash@{0} is a name, and so is stash"',
      'reset -q --hard HEAD~',
      'cherry-pick -n -m1 stash@{0}',
      'reset -q --hard',
      'branch from-rev stash@{0}',
      'branch -D from-rev',
      'update-ref -d refs/stash',
      'stash list',
    ])
      inBoth(line, { program: program() });
    inBoth('clean -fdxq');
    inBoth('stash clear');
  });

  test('work that --autostash cannot apply again goes into the stash of the session', () => {
    put('a', 'committed\n');
    inBoth('commit -q -a -m "for a conflict"');
    inBoth('switch -q -c conflicting HEAD~');
    put('a', 'not committed\n');
    inBoth('rebase -q --autostash agt/s1');
    expect(inBoth('stash list')).toContain('stash@{0}: autostash');
    inBoth('reset -q --hard HEAD~');
    put('a', 'again\n');
    inBoth('-c merge.autostash -c merge.conflictStyle=merge merge -q agt/s1');
    inBoth('stash list');
    inBoth('reset -q --hard HEAD~');
    put('c', 'not in the way\n');
    inBoth('rebase -q --autostash agt/s1');
    inBoth('merge --no-commit --no-ff --autostash other');
    inBoth('stash drop 1');
    inBoth('reset -q --hard');
    inBoth('switch -q agt/s1');
    inBoth('branch -q -D conflicting');
    inBoth('stash list -p');
    inBoth('stash clear');
    expect(ofUser('with')).toBe(ofUser('same'));
  });

  test('through an alias, the shim, a subdirectory and -C', () => {
    for (const side of ['with', 'none'])
      git(join(root, side, 'project'), 'config', 'alias.st', 'stash push -q');
    put('d/b', 'by alias\n');
    inBoth('st -m aliased');
    put('d/b', 'by shim\n');
    inBoth('-C d stash', { program: shim });
    inBoth('-C .. -C sandbox/d stash list', { program: shim });
    inBoth('-c core.pager=cat -p stash show -p', { program: shim });
    inBoth('stash clear', { program: shim, cwd: 'd' });
  });
});
