import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

let origin: string;
let sandbox: string;
let area: string;

beforeEach(() => {
  const dir = makeTempDir();
  origin = join(dir, 'origin.git');
  git(dir, 'clone', '-q', '--bare', makeRepository(), origin);
  agtOk(dir, 'clone', origin, '--path', 'clones');
  area = join(dir, 'clones', 'origin');
  sandbox = JSON.parse(agtOk(area, 'session', 'new', '--id', 's1', '--json')).sandbox;
  write(join(sandbox, 'new.txt'), 'new\n');
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-q', '-m', 'by the agent');
});

function branchesOfOrigin(): string[] {
  return git(origin, 'for-each-ref', '--format=%(refname)').split('\n');
}

describe('agt session export', () => {
  test('pushes the work branch and nothing else', () => {
    write(join(sandbox, '.env'), 'SECRET\n');
    git(sandbox, 'config', 'core.excludesFile', join(area, '.agt', 'ignored'));
    write(join(area, '.agt', 'ignored'), '.env\n');
    agtOk(area, 'autocommit', '--session-id', 's1');
    expect(agtOk(area, 'session', 'export', '--session-id', 's1')).toContain(
      'exported 1 commit to origin as agt/s1',
    );
    expect(agtOk(area, 'session', 'show', 's1')).toMatch(/^exported +[0-9a-f]{10} to origin as agt\/s1$/m);
    expect(branchesOfOrigin()).toEqual(['refs/heads/agt/s1', 'refs/heads/main']);
    expect(agtOk(sandbox, 'session', 'show')).toMatch(/^exported +[0-9a-f]+ to origin as agt\/s1$/m);
    expect(git(origin, 'log', '--format=%s', 'agt/s1')).toBe('by the agent\nfirst');
    const objects = git(origin, 'cat-file', '--batch-all-objects', '--batch-check=%(objecttype)').split('\n');
    expect(objects.filter((type) => type === 'commit')).toHaveLength(2);
  });

  test('pushes a branch that the agent has made and checked out, by its name', () => {
    // git() has a clock that stands still; the reflog tells when the branch was made.
    const env = { GIT_COMMITTER_DATE: undefined };
    expect(run(REAL_GIT, ['switch', '-q', '-c', 'feature/mine'], { cwd: sandbox, env }).exitCode).toBe(0);
    git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'there');
    expect(agtOk(sandbox, 'session', 'export')).toContain('exported 2 commits to origin as feature/mine');
    expect(branchesOfOrigin()).toEqual(['refs/heads/feature/mine', 'refs/heads/main']);
    expect(git(sandbox, 'rev-parse', '--abbrev-ref', '@{upstream}')).toBe('origin/feature/mine');
  });

  test('warns of commits with rejected hunks, until the sandbox has taken them back and has a commit of that', () => {
    agtOk(sandbox, 'review', '--reject', 'new.txt:1', '-m', 'no', '--tell');
    const warning = (undo: string) =>
      'warning: the commits have 1 rejected hunk: new.txt; ' +
      `to keep rejected lines out:${undo} commit in the sandbox, and export again\n`;
    const exported = (...words: string[]) => {
      const { exitCode, stderr } = agt(sandbox, 'export', ...words);
      return [exitCode, /^warning.*/ms.exec(stderr)?.[0]];
    };
    expect(exported('-n')).toEqual([0, warning(' take them out,')]);
    agtOk(sandbox, 'review', '--new', 'new.txt');
    agtOk(sandbox, 'review', '--reject', 'new.txt:1', '-m', 'no');
    expect(exported('-n')).toEqual([0, warning(' undo them (agt review s1 --now),')]);
    agtOk(sandbox, 'review', '--now');
    expect(exported('--allow-dirty', '--json')).toEqual([0, warning('')]);
    git(sandbox, 'commit', '-q', '-a', '-m', 'without');
    expect(exported()).toEqual([0, undefined]);
  });

  test('pushes to the branch that --as names, for the session of the folder; --dry-run pushes nothing', () => {
    expect(agt(sandbox, 'session', 'export', '--as', 'feature/new', '--dry-run').stderr).toBe('');
    expect(branchesOfOrigin()).toEqual(['refs/heads/main']);
    agtOk(sandbox, 'session', 'export', '--as', 'feature/new');
    const count = (name: string) => agtOk(sandbox, 'export', '--as', name, '-n').split(' to origin')[0];
    expect(['feature/new', 'feature/other'].map(count)).toEqual([
      'would export 0 commits',
      'would export 1 commit',
    ]);
    expect(branchesOfOrigin()).toEqual(['refs/heads/feature/new', 'refs/heads/main']);
  });

  test('remembers the push, sets the upstream, and refuses the default branch of the remote', () => {
    const refused = agt(sandbox, 'session', 'export', '--as', 'main');
    expect(refused.stderr).toMatch(
      /"main" is the default branch of "origin"\nhint: .*\nhint: .*--force-default/,
    );
    expect(agt(sandbox, 'session', 'show', 's1', '--json').stdout).toContain('"exported": null');
    agtOk(sandbox, 'session', 'export', '--as', 'fix');
    expect(git(sandbox, 'rev-parse', '--abbrev-ref', '@{upstream}')).toBe('origin/fix');
    const { exported } = JSON.parse(agtOk(sandbox, 'session', 'show', 's1', '--json'));
    const commit = git(sandbox, 'rev-parse', 'HEAD');
    expect(exported).toMatchObject({ remote: 'origin', branch: 'fix', commit });
    agtOk(sandbox, 'fork', 's1', '--id', 'with-nothing-of-its-own');
    expect(agtOk(sandbox, 'list').match(/ clean, exported {2}/g)).toHaveLength(2);
    git(origin, 'branch', '-D', 'fix');
    git(sandbox, 'fetch', '-q', '--prune');
    expect(agtOk(sandbox, 'list')).toMatch(/ clean, exported before {2}/);
    agtOk(sandbox, 'session', 'export', '--as', 'main', '--force-default');
    expect(git(origin, 'rev-parse', 'main')).toBe(commit);
  });

  test('counts the commits of the session, and names those of the user that go with them', () => {
    const main = join(area, 'main');
    git(main, 'commit', '-q', '--allow-empty', '-m', 'mine, not pushed');
    git(sandbox, 'merge', '-q', '--no-edit', 'main');
    const { stdout, stderr } = agt(sandbox, 'session', 'export');
    expect(stdout).toBe('exported 2 commits to origin as agt/s1\n');
    expect(stderr).toMatch(
      /note: with 1 commit of main that origin did not have: [0-9a-f]+ mine, not pushed \(.+\)\n/,
    );
    const other = join(makeTempDir(), 'other.git');
    git(main, 'clone', '-q', '--bare', origin, other);
    git(main, 'remote', 'add', 'unfetched', other);
    git(main, 'remote', 'add', 'nowhere', `${other}-gone`);
    expect(agt(sandbox, 'session', 'export', '--remote', 'unfetched', '-n').stderr).not.toContain(
      'note: with',
    );
    expect(agt(sandbox, 'session', 'export', '--remote', 'nowhere').exitCode).not.toBe(0);
  });

  test('of a session that a colleague has begun on a commit of hers: names it, and takes it for none of the session', () => {
    const main = join(area, 'main');
    git(main, 'commit', '-q', '--allow-empty', '-m', 'hers, not pushed');
    agtOk(area, 'new', 's2');
    agtOk(area, 'session', 'push', 's2', '--release');
    const there = join(makeTempDir(), 'there');
    git(area, 'clone', '-q', origin, there);
    agtOk(there, 'session', 'pull', 's2');
    const nothing = agt(there, 'export', 's2', '-n');
    expect(nothing.stderr).toMatch(/^error: session "s2" has no commits of its own to export\n/);
    const [{ sandbox: moved }] = JSON.parse(agtOk(there, 'list', '--json'));
    git(moved, 'commit', '-q', '--allow-empty', '-m', 'of the session');
    for (const more of [['-n'], []])
      expect(agt(there, 'export', 's2', '--pr', ...more)).toMatchObject({
        stdout: expect.stringMatching(/^(would export|exported) 1 commit to origin as agt\/s2\n(?!.*hers)/s),
        stderr: expect.stringMatching(
          /^note: with 1 commit from outside of the session that origin did not have: [0-9a-f]+ hers, not pushed \(.+\)\n/m,
        ),
      });
  });

  test('--pr opens a pull request with gh, and says what to do without it', () => {
    const dir = makeTempDir();
    symlinkSync(REAL_GIT, join(dir, 'git'));
    const withoutGh = { PATH: dir, AGT_GIT_PATH: undefined };
    const missing = run(AGT, ['session', 'export', '--pr'], { cwd: sandbox, env: withoutGh });
    expect(missing).toMatchObject({
      exitCode: 0,
      stdout: 'exported 1 commit to origin as agt/s1\n\n    by the agent\n',
      stderr: expect.stringContaining('note: gh is not installed; open the pull request for "agt/s1"'),
    });
    expect(run(AGT, ['export', '--pr', '-n'], { cwd: sandbox, env: withoutGh })).toMatchObject({
      stdout: 'would export 0 commits to origin as agt/s1\n\n    by the agent\n',
      stderr: expect.stringContaining('note: gh is not installed; open the pull request for "agt/s1"'),
    });
    const script = '#!/bin/sh\nprintf "%s|" "$@" >"$0.args"\necho https://github.example/pull/1\n';
    write(join(dir, 'gh'), script, 0o755);
    const made = run(AGT, ['session', 'export', '--pr'], { cwd: sandbox, env: withoutGh });
    expect(made.stdout).toContain('opened https://github.example/pull/1\n');
    expect(readFileSync(join(dir, 'gh.args'), 'utf8')).toBe(
      'pr|create|--head|agt/s1|--base|main|--title|by the agent|--body||',
    );
    write(join(dir, 'gh'), '#!/bin/sh\necho no rights >&2\nexit 1\n', 0o755);
    expect(run(AGT, ['session', 'export', '--pr'], { cwd: sandbox, env: withoutGh })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /gh did not open a pull request: no rights\nhint: try again: agt session export s1 --as agt\/s1 --remote origin --pr\n$/,
      ),
    });
    const said =
      'a pull request for branch "agt/s1" into branch "main" already exists:\nhttps://github.example/pull/1';
    write(join(dir, 'gh'), `#!/bin/sh\necho '${said}' >&2\nexit 1\n`, 0o755);
    expect(run(AGT, ['session', 'export', '--pr'], { cwd: sandbox, env: withoutGh })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /\nthe pull request is there already: https:\/\/github.example\/pull\/1\n$/,
      ),
    });
    git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'Add b', '-m', 'As asked.');
    const text = { title: 'by the agent', body: 'Add b\n\nAs asked.' };
    expect(JSON.parse(agtOk(sandbox, 'export', '--pr', '-n', '--json'))).toMatchObject(text);
    expect(run(AGT, ['export', '--pr', '-n'], { cwd: sandbox, env: withoutGh }).stdout).toMatch(
      /^would export .*\nwould open a pull request\n\n {4}by the agent\n\n {4}Add b\n\n {4}As/,
    );
    agtOk(sandbox, 'autocommit', '--label', 'prompt: Add both');
    const title = () => JSON.parse(agtOk(sandbox, 'export', '--pr', '-n', '--json')).title;
    expect(title()).toBe('Add both');
    write(join(sandbox, 'both'), 'both\n');
    git(sandbox, 'add', 'both');
    git(sandbox, 'commit', '-qm', 'Both');
    agtOk(sandbox, 'accept', '--keep');
    expect(title()).toBe('Add both');
  });

  const REFUSALS: [string, () => void, string[], RegExp, number][] = [
    [
      'uncommitted changes',
      () => write(join(sandbox, 'new.txt'), 'newer\n'),
      [],
      /sandbox of "s1" has uncommitted changes \(1 file: new\.txt\)\nhint: commit them, or export only the commits with --allow-dirty/,
      1,
    ],
    [
      'untracked files, and a renamed one',
      () => {
        write(join(sandbox, 'x'), 'x\n');
        git(sandbox, 'mv', 'new.txt', 'newer.txt');
      },
      [],
      /has uncommitted changes \(2 files: newer\.txt, x\)/,
      1,
    ],
    ['a detached HEAD', () => git(sandbox, 'checkout', '-q', '--detach'), [], /has a detached HEAD/, 1],
    [
      'an unborn HEAD',
      () => git(sandbox, 'switch', '-q', '--orphan', 'fresh'),
      [],
      /"fresh", which has no commits yet/,
      1,
    ],
    [
      'another branch',
      () => git(sandbox, '-c', 'core.logAllRefUpdates=false', 'switch', '-q', '-c', 'mine'),
      [],
      /is on "mine", not on its work branch/,
      1,
    ],
    [
      'an unknown remote',
      () => undefined,
      ['--remote', 'nowhere'],
      /no remote "nowhere"\nhint: remotes here: origin/,
      2,
    ],
    ['a bad branch name', () => undefined, ['--as', 'a..b'], /"a\.\.b" is not a valid branch name/, 2],
    ['the name of a shadow branch', () => undefined, ['--as', 'agtsessions/x'], /are never published/, 2],
    [
      'a merged autocommit',
      () => {
        agtOk(sandbox, 'autocommit');
        git(sandbox, 'merge', '-q', '-s', 'ours', '-m', 'by mistake', 'agtsessions/s1');
      },
      [],
      /contains a whole session folder and must not be published/,
      1,
    ],
  ];

  test.each(REFUSALS)('refuses %s and pushes nothing', (_what, arrange, args, message, exitCode) => {
    arrange();
    const before = branchesOfOrigin();
    const outcome = agt(sandbox, 'session', 'export', ...args);
    expect(outcome.stderr).toMatch(message);
    expect(outcome.exitCode).toBe(exitCode);
    expect(branchesOfOrigin()).toEqual(before);
  });

  test('fails with a clear error in a repository without a remote', () => {
    const repository = makeRepository();
    agtOk(repository, 'session', 'new', '--id', 's1');
    const outcome = agt(repository, 'session', 'export', '--session-id', 's1');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('error: this repository has no remote to export to');
  });

  test('passes on the exit code when git refuses to push', () => {
    git(sandbox, 'push', '-q', 'origin', 'HEAD:refs/heads/agt/s1');
    git(sandbox, 'commit', '-q', '--amend', '-m', 'again');
    const outcome = agt(sandbox, 'session', 'export');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('git push to "origin" failed, and nothing was exported');
  });
});
