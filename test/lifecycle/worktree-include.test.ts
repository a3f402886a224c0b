import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import ignore from 'ignore';
import { beforeAll, describe, expect, test } from 'vitest';
import { openGit } from '../../src/git/run/git.ts';
import { findIncludedFiles } from '../../src/session/worktree-include.ts';
import { git, makeRepository, REAL_GIT, run, write } from '../harness/world.ts';

const IGNORED = [
  '.env',
  'a/.env',
  'a/.Env.local',
  'local/a.json',
  'local/b.json',
  'local/deep/c.json',
  'Local/d.json',
  'out/x y.txt',
  'out/[x].txt',
  'out/{a,b}.txt',
  'out/a+b(c)!.txt',
  'out/..hidden',
  'out/back\\slash',
  'out/star*',
  'out/ä.txt',
];

let repository: string;

/** Ignored, tracked and untracked files, a symlink to a directory and a nested repository. */
beforeAll(() => {
  repository = makeRepository({
    '.gitignore': '.env\n.Env*\n/local/\n/Local/\n/out/\n/nested/\n/link\n',
    'tracked.json': '{}\n',
    'a/tracked.env': 'x\n',
  });
  for (const path of [...IGNORED, 'untracked.json', 'out/tracked.json']) write(join(repository, path), 'x\n');
  git(repository, 'add', '-f', 'out/tracked.json');
  mkdirSync(join(repository, 'nested'));
  git(join(repository, 'nested'), 'init', '-q');
  write(join(repository, 'nested/.env'), 'x\n');
  symlinkSync('local', join(repository, 'link'));
});

const find = (...lines: string[]) =>
  findIncludedFiles(openGit(REAL_GIT, repository, process.env), lines.join('\n'));

/** Asks the `ignore` library about every ignored file. */
function expected(...lines: string[]): string[] {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '-z'];
  const paths = run(REAL_GIT, args, { cwd: repository }).stdout.split('\0');
  const matcher = ignore().add(lines.join('\n'));
  const text = (path: string) => Buffer.from(path, 'latin1').toString();
  return paths.filter((path) => path !== '' && !path.endsWith('/') && matcher.ignores(text(path))).map(text);
}

describe('a .worktreeinclude', () => {
  test.each<[lines: string[], paths: string[]]>([
    [['.env'], ['.env', 'a/.env']],
    [['/.env'], ['.env']],
    [['local/*.json'], ['Local/d.json', 'local/a.json', 'local/b.json']],
    [
      ['local/', '!local/a.json'],
      ['Local/d.json', 'local/a.json', 'local/b.json', 'local/deep/c.json'],
    ],
    [
      ['local/*', '!local/a.json'],
      ['Local/d.json', 'local/b.json', 'local/deep/c.json'],
    ],
    [
      ['!.env', '*.env'],
      ['.env', 'a/.env'],
    ],
    [['# .env', '', '  '], []],
    [['*.json'], ['Local/d.json', 'local/a.json', 'local/b.json', 'local/deep/c.json']],
    [
      ['out/[[]*', 'out/{*'],
      ['out/[x].txt', 'out/{a,b}.txt'],
    ],
    [['x\\ y.txt'], ['out/x y.txt']],
    [['link', 'link/'], ['link']],
    [['nested', '.git', '../*', '/'], []],
  ])('with the lines %j names %j', async (lines, paths) => {
    expect(await find(...lines)).toEqual(paths);
    expect(expected(...lines)).toEqual(paths);
  });

  test('names the same files as gitignore does, for any pattern', async () => {
    const part = fc.constantFrom(
      ...[
        '*',
        '**',
        '?',
        '/',
        '/',
        '.',
        '..',
        ' ',
        '!',
        '[',
        ']',
        '\\',
        '{',
        '}',
        '(',
        ')',
        '+',
        ',',
        '#',
        '-',
      ],
      ...[
        '.env',
        'a',
        'b',
        'c.json',
        'json',
        'local',
        'Local',
        'out',
        'x',
        'txt',
        'ä',
        'link',
        'nested',
        '[a-z]',
      ],
    );
    const line = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
    const lines = fc.array(line, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(lines, async (patterns) => {
        expect(await find(...patterns)).toEqual(expected(...patterns));
      }),
      { numRuns: Number(process.env['AGT_TEST_RUNS'] ?? 100), seed: 20260108 },
    );
  });
});
