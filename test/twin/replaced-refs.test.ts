/** Where no argument can hide anything, git from 2.54 on gets refs without the hidden ones, and writes none. */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAtLeast, parseGitVersion } from '../../src/git/run/version.ts';
import { ofToday } from '../harness/today.ts';
import { GIT_MODE, git, makeTempDir, REAL_GIT, run } from '../harness/world.ts';
import { compareLines, describeDifference } from './compare.ts';
import { buildTwin, directoryOf, SHAPE_NAMES, SIDES } from './shapes.ts';

const NAME_REV_OPTIONS = ['', '--tags', '--always', '--name-only', '--refs=refs/heads/*', '--no-undefined'];
const LINES = [
  ...NAME_REV_OPTIONS.map((options) => `name-rev --all ${options}`),
  ...[
    'rev-list',
    'log --oneline',
    'log --decorate --graph',
    'rev-list --all',
    'shortlog -s',
    'show --oneline',
  ].map((command) => `${command} --reflog`),
  ...[
    'HEAD --format=%d',
    '--all --pretty=format:%D',
    '--all --format=%(decorate)',
    '-3 HEAD --format=%h%+d',
  ].map((args) => `rev-list ${args}`),
  'rev-list --all --simplify-by-decoration',
  'rev-list --bisect-all HEAD',
  "shortlog HEAD --format='%h %d'",
  'rev-list --stdin <<< --tags\\n--all\\n',
  'log --oneline --stdin <<< --branches\\n--remotes\\n--all\\n',
  'log --reflog nonexistent',
  'log --reflog --oneline -- file.txt',
  'log --oneline -3 --reflog',
  'rev-list --exclude=main --reflog --count --all',
  'rev-list main --not --reflog',
  'rev-list --reflog --not main',
  'log -g --reflog -3 --oneline',
  'reflog list',
  'repo structure --format=lines',
].map((line) => line.trim());

const version = parseGitVersion(git('/', 'version'));
const isNew = version !== undefined && isAtLeast(version, 2, 54);

describe.runIf(isNew)('with git 2.54 or newer', () => {
  test.each(ofToday(SHAPE_NAMES))(
    '%s: prints what git would without agents',
    async (name) => {
      const differences = await compareLines(buildTwin(name), LINES);
      expect(differences.map(describeDifference).join('\n')).toBe('');
    },
    120_000,
  );

  test('leaves no directory behind, also when the reader ends early', () => {
    const twin = buildTwin('linear');
    const env = { TMPDIR: makeTempDir('tmp') };
    const cwd = directoryOf(twin, 'with');
    run(GIT_MODE, ['name-rev', '--all'], { cwd, env });
    run('/bin/sh', ['-c', `'${GIT_MODE}' log --reflog -p | head -1`], { cwd, env });
    run(GIT_MODE, ['log', '--reflog', '--bogus'], { cwd, env });
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });

  test('hides nothing, and says so, without a place for the refs', () => {
    const twin = buildTwin('linear');
    const env = { TMPDIR: join(tmpdir(), 'no', 'such', 'directory') };
    const outcome = run(GIT_MODE, ['name-rev', '--all'], { cwd: directoryOf(twin, 'with'), env });
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stderr).toMatch(/^warning: agt: nothing is hidden: [^\n]*\n$/);
  });
});

describe.skipIf(isNew)('before git 2.54', () => {
  test.each(ofToday(SHAPE_NAMES))(
    '%s: --reflog shows what git would without agents',
    async (name) => {
      const lines = LINES.filter((line) => line.includes('--reflog') && !/^show|-g/.test(line));
      const differences = await compareLines(buildTwin(name), lines);
      expect(differences.map(describeDifference).join('\n')).toBe('');
    },
    120_000,
  );

  test.each(ofToday(SHAPE_NAMES))(
    '%s: name-rev --all lists what git would without agents, perhaps in another order',
    (name) => {
      const twin = buildTwin(name);
      for (const options of NAME_REV_OPTIONS) {
        const [first, second] = SIDES.map((side) => {
          const program = side === 'with' ? GIT_MODE : REAL_GIT;
          const args = ['name-rev', '--all', ...options.split(' ').filter(Boolean)];
          const { exitCode, stdout, stderr } = run(program, args, { cwd: directoryOf(twin, side) });
          return { options, exitCode, stdout: stdout.split('\n').sort(), stderr };
        });
        expect(first).toEqual(second);
      }
    },
  );
});
