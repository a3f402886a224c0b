import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, write } from '../harness/world.ts';

function refs(repository: string): string[] {
  return git(repository, 'for-each-ref', '--format=%(refname) %(objectname)').split('\n');
}

describe('agt session new', () => {
  test('creates both branches and the tip at the start commit, the worktree, xdg/, config/ and metadata', () => {
    const repository = makeRepository();
    const head = git(repository, 'rev-parse', 'HEAD');
    agtOk(repository, 'session', 'new', '--id', 's1', '--profile', 'fast');
    const folder = `${repository}.agt/sessions/s1`;
    expect(refs(repository)).toEqual([
      `refs/agt/tip/s1 ${head}`,
      `refs/heads/agt/s1 ${head}`,
      `refs/heads/agtsessions/s1 ${head}`,
      `refs/heads/main ${head}`,
    ]);
    expect(git(join(folder, 'sandbox'), 'symbolic-ref', 'HEAD')).toBe('refs/heads/agt/s1');
    expect(git(join(folder, 'sandbox'), 'status', '--porcelain')).toBe('');
    expect(existsSync(join(folder, 'xdg')) && existsSync(join(folder, 'config'))).toBe(true);
    expect(JSON.parse(readFileSync(join(repository, '.git/agt/sessions/s1.json'), 'utf8'))).toMatchObject({
      session_id: 's1',
      branch: 'refs/heads/agtsessions/s1',
      work_branch: 'refs/heads/agt/s1',
      user_branch: 'refs/heads/main',
      sandbox: join(folder, 'sandbox'),
      from_commit: head,
      profile: 'fast',
      isolation: 'none',
      provider: 'git',
      working_copy: 'worktree',
      state: 'active',
    });
    expect(git(repository, 'status', '--porcelain')).toBe('');
  });

  test('generates an id', () => {
    const created = JSON.parse(agtOk(makeRepository(), 'session', 'new', '--json'));
    expect(created.session_id).toMatch(/^sess-\d{8}-\d{6}-[a-z0-9]{4}$/);
  });

  test.each([
    ['a branch', 'other', 'refs/heads/other', 'other'],
    ['the full name of a branch', 'refs/heads/other', 'refs/heads/other', 'other'],
    ['a tag; the user branch is the one that is checked out', 'v1', 'refs/heads/main', 'v1^{commit}'],
    ['a session, with the same user branch', 's0', 'refs/heads/other', 'agt/s0'],
    ['a revision', 'main~1', 'refs/heads/main', 'main~1'],
  ])('starts from %s', (_what, spec, userBranch, commit) => {
    const repository = makeRepository();
    git(repository, 'branch', 'other');
    git(repository, 'tag', '-a', '-m', 'one', 'v1');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'second');
    agtOk(repository, 'session', 'new', '--id', 's0', '--from', 'other');
    git(`${repository}.agt/sessions/s0/sandbox`, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
    const created = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--from', spec, '--json'));
    expect(created.user_branch).toBe(userBranch);
    expect(created.from_commit).toBe(git(repository, 'rev-parse', commit));
    expect(git(created.sandbox, 'rev-parse', 'HEAD')).toBe(created.from_commit);
  });

  test('starts from the remote branch of that name if only one remote has it, as git switch guesses', () => {
    const source = makeRepository();
    git(source, 'branch', 'topic');
    const dir = makeTempDir();
    git(dir, 'clone', '-q', source, 'copy');
    const created = JSON.parse(
      agtOk(join(dir, 'copy'), 'session', 'new', '--id', 's1', '--from', 'topic', '--json'),
    );
    expect(created).toMatchObject({ user_branch: 'refs/heads/main', from_spec: 'origin/topic' });
    expect(git(join(dir, 'copy'), 'branch', '--list', 'topic')).toBe('');
    git(created.sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
    expect(JSON.parse(agtOk(join(dir, 'copy'), 'session', 'list', '--json'))[0].ahead).toBe(1);
  });

  test('sets no user branch when HEAD is detached', () => {
    const repository = makeRepository();
    git(repository, 'checkout', '-q', '--detach');
    const { stdout, stderr } = agt(repository, 'session', 'new', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ user_branch: null });
    expect(stderr).toBe(
      'note: the session starts from no branch of yours, so agt accept will need --onto BRANCH\n',
    );
  });

  test('copies ignored files that .worktreeinclude lists, but no other ignored or untracked files', () => {
    const repository = makeRepository({
      '.gitignore': '.env\nnode_modules/\nlocal/\n',
      '.worktreeinclude': '.env\nlocal/*.json\nnotes.txt\n',
    });
    write(join(repository, '.env'), 'TOKEN=1\n', 0o600);
    write(join(repository, 'local/a.json'), '{}\n');
    write(join(repository, 'node_modules/x/index.js'), 'x\n');
    write(join(repository, 'notes.txt'), 'mine\n');
    const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--json'));
    expect(readFileSync(join(sandbox, '.env'), 'utf8')).toBe('TOKEN=1\n');
    expect(existsSync(join(sandbox, 'local/a.json'))).toBe(true);
    expect(existsSync(join(sandbox, 'node_modules'))).toBe(false);
    expect(existsSync(join(sandbox, 'notes.txt'))).toBe(false);
  });

  test('copies no link that .worktreeinclude lists, and writes through none in the sandbox; it names them', () => {
    const repository = makeRepository({
      '.gitignore': 'secret*\n/local/\n',
      '.worktreeinclude': 'secret*\nlocal/\n',
    });
    const elsewhere = makeTempDir('elsewhere');
    git(repository, 'switch', '-q', '-c', 'linked');
    symlinkSync(elsewhere, join(repository, 'local'));
    git(repository, 'add', '-f', 'local');
    git(repository, 'commit', '-q', '-m', 'a link in the place of a directory');
    git(repository, 'switch', '-q', 'main');
    write(join(repository, 'local/settings'), 'mine\n');
    write(join(repository, 'secret.txt'), 'secret\n');
    symlinkSync('secret.txt', join(repository, 'secret-link'));
    const made = agt(repository, 'session', 'new', 's1', '--from', 'linked');
    expect(made).toMatchObject({ exitCode: 0 });
    expect(made.stdout).toContain('copied   secret.txt\n');
    expect(made.stderr).toBe(
      'note: local/settings was not copied, though .worktreeinclude names it: a directory on its way is none in the sandbox\n' +
        'note: secret-link was not copied, though .worktreeinclude names it: it is a symbolic link\n',
    );
    expect(readdirSync(elsewhere)).toEqual([]);
    const { included, not_included, sandbox } = JSON.parse(
      agtOk(repository, 'session', 'new', 's2', '--json'),
    );
    expect(included).toEqual(['local/settings', 'secret.txt']);
    expect(not_included).toEqual([{ path: 'secret-link', reason: 'it is a symbolic link' }]);
    expect(existsSync(join(sandbox, 'secret-link'))).toBe(false);
  });

  test.each([
    ['a bad id', ['--id', '../x'], 2, /^error: "\.\.\/x" is not a session id\nhint: an id has 1 to 64/],
    ['an id that git cannot have', ['--id', 'x.lock'], 2, /hint: an id cannot end in "\.lock"/],
    [
      'a start point that does not exist',
      ['--from', 'nowhere'],
      1,
      /^error: "nowhere" is not a session, a branch or a commit/,
    ],
    ['an id that is taken', ['--id', 'taken'], 1, /"taken" already exists\nhint: .*agt run taken -- COMMAND/],
    ['an id whose branch is taken', ['--id', 'branch'], 1, /^error: branch "agt\/branch" already exists/],
    [
      'an unknown option',
      ['--idd', 'x'],
      2,
      /^error: unknown option "--idd"\nhint: did you mean: --id\?\nhint: see: agt session new --help\n/,
    ],
    ['an option without its value', ['--id', '-n'], 2, /"--id" needs a value\nhint: if .*: --id=-n\nhint: /],
  ])('refuses %s and changes nothing', (_what, args, exitCode, message) => {
    const repository = makeRepository();
    agtOk(repository, 'session', 'new', '--id', 'taken');
    git(repository, 'branch', 'agt/branch');
    const before = refs(repository);
    const outcome = agt(repository, 'session', 'new', ...args);
    expect(outcome.stderr).toMatch(message);
    expect(outcome.exitCode).toBe(exitCode);
    expect(refs(repository)).toEqual(before);
    expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(2);
    expect(JSON.parse(agtOk(repository, 'session', 'list', '--json'))).toHaveLength(1);
  });

  test('refuses a repository without commits', () => {
    const dir = makeTempDir();
    git(dir, 'init', '-q', '-b', 'main');
    const outcome = agt(dir, 'session', 'new');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('error: nothing to start from: refs/heads/main has no commits yet');
  });

  test('undoes everything if it cannot create the sandbox', () => {
    const repository = makeRepository();
    mkdirSync(`${repository}.agt`);
    writeFileSync(`${repository}.agt/sessions`, 'a file where the folder should be\n');
    const before = refs(repository);
    expect(agt(repository, 'session', 'new', '--id', 's1').exitCode).not.toBe(0);
    expect(refs(repository)).toEqual(before);
    expect(existsSync(join(repository, '.git/agt/sessions/s1.json'))).toBe(false);
  });

  test('undoes everything if it cannot create the branches, and gives the reason', () => {
    const repository = makeRepository();
    git(repository, 'branch', 'agtsessions');
    const before = refs(repository);
    const outcome = agt(repository, 'session', 'new', '--id', 's1');
    expect(outcome.exitCode).toBe(128);
    expect(outcome.stderr).toContain("'refs/heads/agtsessions' exists");
    expect(refs(repository)).toEqual(before);
    expect(existsSync(join(repository, '.git/agt/sessions/s1.json'))).toBe(false);
    expect(existsSync(`${repository}.agt/sessions/s1`)).toBe(false);
  });

  test('works many times at once, although git locks the configuration file', async () => {
    const repository = makeRepository();
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const codes = await Promise.all(
      ids.map((id) => {
        const child = spawn(AGT, ['session', 'new', '--id', id], { cwd: repository, stdio: 'ignore' });
        return new Promise((resolve) => child.on('exit', resolve));
      }),
    );
    expect(codes).toEqual(ids.map(() => 0));
    const hidden = git(repository, 'config', '--get-all', 'uploadpack.hideRefs').split('\n');
    expect([...new Set(hidden)].sort()).toEqual([
      '!refs/agt/shared',
      'refs/agt',
      'refs/heads/agt',
      'refs/heads/agtsessions',
      'refs/tags/agtsessions',
    ]);
    expect(hidden.lastIndexOf('!refs/agt/shared')).toBeGreaterThan(hidden.lastIndexOf('refs/agt'));
    expect(agt(repository, 'doctor').exitCode).toBe(0);
  });

  test('fails with a clear error outside a repository', () => {
    const outcome = agt(makeTempDir(), 'session', 'path', 's1');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toBe(
      'error: not in a git repository or an agt clone\nhint: change to one, or make one: git init, or agt clone <url>\n' +
        'hint: without one, agt snapshot records a folder, and agt undo and agt restore go back\n',
    );
  });
});

describe('agt session list, show, path', () => {
  test('list shows id, state, commits and age; --json shows everything', () => {
    const repository = makeRepository();
    agtOk(repository, 'session', 'new', '--id', 's1');
    git(`${repository}.agt/sessions/s1/sandbox`, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
    expect(agtOk(repository, 'session', 'list')).toEqual(
      expect.stringMatching(/^ID +STATE +COMMITS .*\ns1 +active +\+1 .* merged +never +\d+s$/),
    );
    expect(JSON.parse(agtOk(repository, 'session', 'list', '--json'))[0]).toMatchObject({
      session_id: 's1',
      ahead: 1,
      autocommits: 0,
      last_autocommit: null,
      sandbox_present: true,
    });
  });

  test('list counts the commits of HEAD, wherever it is', () => {
    const { repository, sandbox } = makeSession();
    const aheadOfUser = () => JSON.parse(agtOk(repository, 'session', 'list', '--json'))[0].ahead;
    git(sandbox, 'checkout', '-q', '-b', 'side');
    git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'on another branch');
    expect(aheadOfUser()).toBe(1);
    git(sandbox, 'checkout', '-q', '--detach');
    git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'detached');
    expect(aheadOfUser()).toBe(2);
  });

  test('the time of the last complete autocommit begins with the creation, also of a fork', () => {
    const { repository } = makeSession();
    agtOk(repository, 'session', 'fork', 's1', '--id', 's2');
    const listed = JSON.parse(agtOk(repository, 'session', 'list', '--json'));
    for (const { session_id, last_complete_at } of listed) {
      expect(Math.abs(Date.now() - Date.parse(last_complete_at))).toBeLessThan(600_000);
      expect(existsSync(join(repository, '.git/agt/timestamps', session_id))).toBe(true);
    }
  });

  test('show and path find the session of the current directory', () => {
    const repository = makeRepository();
    const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', '--id', 's1', '--json'));
    expect(agtOk(sandbox, 'session', 'path')).toBe(sandbox);
    expect(agtOk(sandbox, 'session', 'show')).toContain('session          s1\n');
    const outcome = agt(repository, 'session', 'show');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toBe(
      'error: no session given, and the current directory belongs to none\nhint: sessions here: s1\n',
    );
  });

  test('an unknown session gives an error that lists the known ones', () => {
    const repository = makeRepository();
    agtOk(repository, 'session', 'new', '--id', 's1');
    const outcome = agt(repository, 'session', 'show', 'nope');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toBe(`error: no session "nope" in ${repository}/.git\nhint: sessions here: s1\n`);
  });

  test('damaged metadata gives a warning and hides no other session', () => {
    const repository = makeRepository();
    agtOk(repository, 'session', 'new', '--id', 's1');
    agtOk(repository, 'session', 'new', '--id', 's2');
    writeFileSync(join(repository, '.git/agt/sessions/s1.json'), '{"session_id": "s1"');
    const outcome = agt(repository, 'session', 'list');
    expect(outcome.stdout).toContain('s2  active');
    expect(outcome.stderr).toContain('warning: metadata of session "s1" is damaged');
    expect(agt(repository, 'doctor').exitCode).toBe(1);
  });
});
