/** agt.refuse: the git of agents refuses, with one line and exit code 1, and nothing has happened. */
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
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

const home = makeTempDir('home');
const settings = join(home, '.agtconfig');
const env = { HOME: home, AGT_GIT_PATH: undefined, PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}` };

let repository: string;
let remote: string;
beforeAll(() => {
  repository = makeRepository({ a: 'a\n' });
  remote = join(makeTempDir(), 'remote.git');
  git('/', 'init', '-q', '--bare', remote);
  git(repository, 'remote', 'add', 'origin', remote);
  git(repository, 'push', '-q', '-u', 'origin', 'main');
  for (const [name, value] of [
    ['p', 'push --force'],
    ['sh1', '!true; git push origin main'],
    ['c', 'commit -n'],
    ['fine', '!git status; echo push --force'],
  ] as const)
    git(repository, 'config', `alias.${name}`, value);
  write(join(repository, '.git/hooks/pre-commit'), '#!/bin/sh\nexit 1\n', 0o755);
});

const refused = (rules: string, words: string, program = GIT_MODE) => {
  write(settings, `[agt]\n${rules.replace(/^/gm, '\trefuse = ')}\n`);
  const { exitCode, stderr } = run(program, words.split(' '), { cwd: repository, env });
  const line = /^error: .* \(the user's setting agt\.refuse = (\S+)\)\n$/.exec(stderr);
  if (line !== null) expect(exitCode).toBe(1);
  return line?.[1];
};

describe.each([
  [
    'push:main',
    ['push origin main', 'push', 'push origin HEAD', 'push -f origin x:main', 'push origin :main'],
  ],
  ['push:main', ['push origin +HEAD:refs/heads/main', 'push --all', 'push origin refs/heads/*:refs/heads/*']],
  ['push:main', ['push --mirror', 'push origin --delete main', 'push origin heads/main', 'sh1']],
  ['push:ma*', ['push origin main', 'push origin master', '-C . push origin main']],
  [
    'force',
    ['push -f origin x', 'push --force', 'push --forc origin x', 'push origin +x', 'p', 'p origin x'],
  ],
  ['force', ['push --force-with-lease=x origin x', 'push --mirror', 'push -uf origin x']],
  ['no-verify', ['commit --no-verify -m x', 'commit -nm x', 'commit -anm x', 'c -m x', 'push --no-verify']],
  ['no-verify', ['-c core.hooksPath=/dev/null commit -m x', 'commit --no-ver -m x', 'merge --no-verify x']],
] as const)('%s refuses', (rule, lines) => {
  test.each(lines)('git %s', (words) => {
    expect(refused(rule, words)).toBe(rule);
  });
});

test.each([
  ['push:main', 'push --dry-run origin main:other'],
  ['push:main', 'push --dry-run origin main:maintenance'],
  ['push:main', 'push --dry-run --tags'],
  ['push:main', 'push --dry-run -f origin main:x'],
  ['force', 'push --dry-run origin main:x'],
  ['force', 'push --dry-run --follow-tags origin main'],
  ['no-verify', 'push -n origin main:x'],
  ['no-verify', 'commit --allow-empty -m n'],
  ['force no-verify', 'fine'],
  ['', 'push --dry-run -f'],
])('%s lets go through: git %s', (rule, words) => {
  expect(refused(rule, words)).toBe(undefined);
});

test('nothing has happened, and several lines of the setting count', () => {
  expect(refused('push:main\nforce', 'push -f origin x')).toBe('force');
  expect(refused('push:main\nforce', 'push origin main')).toBe('push:main');
  expect(git(repository, 'log', '--format=%s', '--all')).toBe('first');
  expect(git(remote, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});

test('the shim starts the executable for such lines, and other ones go the short way', () => {
  write(settings, '[agt]\n\trefuse = push:main force no-verify\n');
  const dir = makeTempDir('shim');
  expect(run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env }).exitCode).toBe(0);
  const [shim, quick] = [join(dir, 'git'), join(dir, '.agt/git')];
  const programs = (words: string) => {
    const trace = join(makeTempDir(), 'trace');
    const command = ['-f', '-qq', '-e', 'trace=execve', '-o', trace, shim, ...words.split(' ')];
    run('strace', command, { cwd: repository, env });
    return run('grep', ['-c', `"${quick}"`, trace], { cwd: '/' }).stdout.trim();
  };
  const outcome = (words: string) => run(shim, words.split(' '), { cwd: repository, env });
  for (const words of ['push -f origin x', 'commit -nm x', 'p', '-c core.hooksPath=x commit -m x', 'sh1'])
    expect([words, outcome(words).stderr]).toEqual([words, expect.stringMatching(/^error: .*agt\.refuse/)]);
  if (run('strace', ['-V'], { cwd: '/' }).exitCode === 0)
    expect(['status', 'diff', 'add a', 'log -1'].map(programs)).toEqual(['0', '0', '0', '0']);
});

test('a repository cannot set it, a wrong value is named, and agt itself refuses nothing', () => {
  write(settings, '');
  write(join(repository, '.git/agt/config'), '[agt]\n\trefuse = push:main\n');
  const push = ['push', '--dry-run', 'origin', 'main'];
  expect(run(GIT_MODE, push, { cwd: repository, env }).exitCode).toBe(0);
  write(join(repository, '.git/agt/config'), '');
  write(settings, '[agt]\n\trefuse = push:main\n');
  expect(run(AGT, push, { cwd: repository, env }).exitCode).toBe(0);
  const wrong = run(AGT, ['config', 'set', '--global', 'agt.refuse', 'pull:main'], { cwd: repository, env });
  expect(wrong.exitCode).not.toBe(0);
  expect(wrong.stderr).toContain('"pull:main" is neither push:BRANCH nor force nor no-verify');
  expect(agtOk(repository, 'config', 'list')).toContain('agt.refuse');
});
