/** Situations in which an acceptance is refused with the reason, or does the right thing without a worktree. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, makeTempDir, write } from '../harness/world.ts';

const LINES = '1\n2\n3\n4\n5\n6\n';

let repository: string;
let sandbox: string;
beforeEach(() => {
  ({ repository, sandbox } = makeSession({ a: LINES, b: 'b\n', 'dir/c': 'c\n', '.gitignore': '*.log\n' }));
  write(join(sandbox, 'a'), LINES.replace('6', 'six'));
  write(join(sandbox, 'new/file'), 'new\n');
});

/** Branch, index, every file of the user's worktree, and the session. */
function everything(): string {
  return [
    git(repository, 'rev-parse', 'main', 'agt/s1'),
    git(repository, 'status', '--porcelain', '--ignored', '-uall'),
    git(repository, 'ls-files', '--stage'),
    git(repository, 'ls-files', '-z', '--cached', '--others')
      .split('\0')
      .map((path) => {
        try {
          return `${path} ${readFileSync(join(repository, path), 'latin1')}`;
        } catch {
          return `${path} missing`;
        }
      })
      .join('\n'),
    JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json')).state,
    existsSync(sandbox),
    labels().filter((label) => label === 'before accept').length,
  ].join('\n');
}

function labels(): string[] {
  const log = JSON.parse(agtOk(repository, 'session', 'log', 's1', '--json'));
  return log.map(({ label }: { label: string }) => label);
}

function refused(message: RegExp, exitCode = 1, ...options: string[]): void {
  const before = everything();
  for (const how of [['--dry-run'], []]) {
    const outcome = agt(repository, 'accept', 's1', ...options, ...how);
    expect(outcome.stderr).toMatch(message);
    expect(outcome.exitCode).toBe(exitCode);
  }
  expect(everything()).toBe(before);
}

describe('files of the user in the way', () => {
  const CASES: [string, () => void, RegExp][] = [
    [
      'a changed file',
      () => write(join(repository, 'a'), 'mine\n'),
      /1 file in .* would be overwritten.*\nhint: a: not committed/,
    ],
    ['a deleted file', () => rmSync(join(repository, 'a')), /hint: a: not committed/],
    [
      'a staged file',
      () => {
        write(join(repository, 'a'), 'mine\n');
        git(repository, 'add', 'a');
      },
      /hint: a: staged/,
    ],
    [
      'an untracked file',
      () => write(join(repository, 'new/file'), 'mine\n'),
      /hint: new\/file: not tracked/,
    ],
    [
      'a file in place of a directory',
      () => write(join(repository, 'new'), 'mine\n'),
      /hint: new: not tracked/,
    ],
    [
      'a link in place of a directory',
      () => symlinkSync('dir', join(repository, 'new')),
      /hint: new: not tracked/,
    ],
    [
      'a directory in place of a file',
      () => {
        write(join(repository, 'new/file/x.log'), 'ignored\n');
      },
      /hint: new\/file\/x\.log: not tracked/,
    ],
    [
      'an ignored file',
      () => {
        write(join(sandbox, '.gitignore'), '');
        write(join(sandbox, 'x.log'), 'now tracked\n');
        write(join(repository, 'x.log'), 'mine\n');
      },
      /hint: x\.log: not tracked/,
    ],
    [
      'a changed file that git is told to assume unchanged',
      () => {
        write(join(repository, 'a'), 'mine\n');
        git(repository, 'update-index', '--assume-unchanged', 'a');
      },
      /hint: a: changed, but assume-unchanged hides it from git; see: git update-index --no-assume-unchanged\n/,
    ],
  ];
  test.each(CASES)('%s is named, and nothing changes', (_, arrange, message) => {
    arrange();
    refused(message);
  });
});

describe('the state of the repository', () => {
  test('conflicts are named with their kinds, and the hint is sync', () => {
    write(join(sandbox, 'b'), 'theirs\n');
    write(join(sandbox, 'both'), 'theirs\n');
    write(join(repository, 'both'), 'ours\n');
    write(join(repository, 'a'), LINES.replace('6', 'VI'));
    git(repository, 'rm', '-q', 'b');
    git(repository, 'add', '-A');
    git(repository, 'commit', '-q', '-m', 'by the user');
    refused(
      /session "s1" conflicts with "main" in 3 files, and nothing has changed\nhint: a: content\nhint: b: modify\/delete\nhint: both: add\/add\nhint: commit a, b, both in the sandbox first: git -C \S+ add -- a b both && git .*\nhint: then solve the conflicts in the sandbox: agt sync s1\n/,
    );
    git(sandbox, 'add', '-A');
    git(sandbox, 'commit', '-q', '-m', 'by the agent');
    const outcome = agt(repository, 'sync', 's1');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('main conflicts with s1 in 3 files: a, b, both');
    refused(
      /the sandbox of "s1" has a merge in progress\nhint: solve a, b, both in \S+, then: git add FILE\S+ && git commit\nhint: or give it up: git -C \S+ merge --abort\n/,
    );
    for (const name of ['a', 'b', 'both']) write(join(sandbox, name), 'solved\n');
    git(sandbox, 'add', '-A');
    refused(
      /\nhint: finish it first: git -C \S+ merge --continue\nhint: or give it up: git -C \S+ merge --abort\n/,
    );
    git(sandbox, 'commit', '-q', '-m', 'solved');
    agtOk(repository, 'accept', 's1');
    expect(readFileSync(join(repository, 'both'), 'utf8')).toBe('solved\n');
    expect(git(repository, 'status', '--porcelain')).toBe('');
  });

  test('an operation in progress in either worktree is named', () => {
    write(join(repository, 'a'), LINES.replace('1', 'one'));
    git(repository, 'commit', '-q', '-a', '-m', 'one');
    git(repository, 'bisect', 'start', '-q');
    refused(
      /your worktree .* has a bisect in progress\nhint: finish it first: git -C \S+project bisect reset/,
    );
    git(repository, 'bisect', 'reset');
    git(sandbox, 'bisect', 'start', '-q');
    refused(/the sandbox of "s1" has a bisect in progress/);
    git(sandbox, 'bisect', 'reset');
    write(join(repository, '.git/rebase-merge/head-name'), 'refs/heads/main\n');
    refused(/has a rebase in progress|is being rebased in/);
    rmSync(join(repository, '.git/rebase-merge'), { recursive: true });
    git(sandbox, 'add', '-A');
    git(sandbox, 'commit', '-q', '-m', 'work');
    git(sandbox, 'checkout', '-q', '--detach', 'HEAD~1');
    refused(/has a detached HEAD, which lacks 1 commit of its work branch "agt\/s1"\nhint: merge them/);
    git(sandbox, 'checkout', '-q', 'agt/s1');
    git(sandbox, 'checkout', '-q', '--detach');
    agtOk(repository, 'accept', 's1');
  });

  test('a branch of a session, a branch that is gone and a repository inside the sandbox are refused', () => {
    refused(/"agt\/s1" is a branch of a session/, 1, '--onto', 'agt/s1');
    refused(/there is no branch "nowhere"/, 1, '--onto', 'nowhere');
    refused(/--commits and --include cannot go together/, 2, '--commits', 'HEAD', '--include', 'x');
    const nested = join(sandbox, 'nested');
    mkdirSync(nested);
    git(nested, 'init', '-q');
    refused(
      /the sandbox has a git repository inside: nested\nhint: move it away, or name it in/,
      1,
      '--keep',
    );
    git(nested, 'commit', '-q', '--allow-empty', '-m', 'inside');
    for (const command of ['accept', 'reject', 'remove']) {
      expect(agt(repository, command, 's1', '-n').stderr).toMatch(
        /^error: cannot capture 1 file of session "s1"\nhint: sandbox\/nested\/.git: belongs to a nested repository/,
      );
    }
    const ways = /inside: nested\n.*in \.gitignore\nhint: or make it a submodule: git submodule add\n$/;
    refused(ways, 1, '--keep');
    for (const without of ['--exclude=nested', '--include=new'])
      expect(agtOk(repository, 'accept', 's1', '--keep', without, '-n')).not.toContain('A nested');
    refused(/nothing to accept/, 1, '--keep', '--committed-only');
    expect(agt(repository, 'accept', 's1', '-n').stderr).toMatch(
      /or name repositories inside in \.gitignore, and let /,
    );
    write(join(sandbox, '.gitignore'), '*.log\nnested\n');
    agtOk(repository, 'accept', 's1', '--keep', '-n');
    git(sandbox, 'checkout', '-q', '.gitignore');
    rmSync(nested, { recursive: true });
    rmSync(join(sandbox, 'new'), { recursive: true });
    git(sandbox, 'checkout', '-q', 'a');
    refused(/nothing to accept: session "s1" has changed nothing yet/);
  });

  test('a branch that no worktree has checked out moves alone', () => {
    git(repository, 'branch', 'other');
    write(join(repository, 'a'), 'uncommitted\n');
    const report = JSON.parse(agtOk(repository, 'accept', 's1', '--onto', 'other', '--json'));
    expect(report).toMatchObject({ onto: 'other', worktree: null });
    expect(labels()).toContain('before accept');
    expect(git(repository, 'show', 'other:new/file')).toBe('new');
    expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('uncommitted\n');
    agtOk(repository, 'session', 'unaccept', 's1');
    git(repository, 'checkout', '-q', '--detach');
    agtOk(repository, 'accept', 's1');
    expect(git(repository, 'show', 'main:new/file')).toBe('new');
    expect(existsSync(join(repository, 'new'))).toBe(false);
  });

  test('a linked worktree follows, and a user branch in two worktrees is refused', () => {
    const linked = join(makeTempDir(), 'linked');
    git(repository, 'checkout', '-q', '-b', 'mine');
    git(repository, 'worktree', 'add', '-q', linked, 'main');
    git(repository, 'checkout', '-q', '--ignore-other-worktrees', 'main');
    refused(/two worktrees have "main" checked out/);
    git(repository, 'checkout', '-q', 'mine');
    expect(JSON.parse(agtOk(repository, 'accept', 's1', '--json')).worktree).toBe(linked);
    expect(readFileSync(join(linked, 'new/file'), 'utf8')).toBe('new\n');
    expect(existsSync(join(repository, 'new'))).toBe(false);
    expect(git(linked, 'status', '--porcelain')).toBe('');
  });
});

test('agt accept works in an agt clone and in a bare repository', () => {
  const dir = makeTempDir();
  const origin = join(dir, 'origin.git');
  git(dir, 'clone', '-q', '--bare', makeRepository(), origin);
  agtOk(dir, 'clone', origin, '--path', 'clones');
  const area = join(dir, 'clones/origin');
  const { sandbox } = JSON.parse(agtOk(area, 'session', 'new', '--id', 's1', '--json'));
  write(join(sandbox, 'new'), 'new\n');
  agtOk(join(sandbox, '..'), 'accept');
  expect(readFileSync(join(area, 'main/new'), 'utf8')).toBe('new\n');

  const bare = sessionIn(origin, 's2');
  write(join(bare.sandbox, 'new'), 'new\n');
  git(bare.sandbox, 'config', 'user.name', 'Somebody');
  expect(JSON.parse(agtOk(origin, 'accept', 's2', '--json')).worktree).toBe(null);
  expect(git(origin, 'show', 'main:new')).toBe('new');
});

test('of several sessions, each warning names its own; of one, it does not', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'one'), '1\n');
  write(join(sessionIn(repository, 's2').sandbox, 'two'), '2\n');
  for (const id of ['s1', 's2']) agtOk(repository, 'session', 'fail', id, '--reason', 'bad');
  const warned = (...ids: string[]) =>
    agt(repository, 'accept', ...ids, '-n', '--untracked=all').stderr.match(/^warning: .*/gm);
  expect(warned('s1', 's2')).toEqual(['s1', 's2'].map((id) => `warning: ${id}: the session had failed: bad`));
  expect(warned('s1')).toEqual(['warning: the session had failed: bad']);
});

test('of several sessions, an error names its own, and does not say that nothing has changed', () => {
  write(join(sessionIn(repository, 's2').sandbox, 'b'), 'new\n');
  const { exitCode, stdout, stderr } = agt(repository, 'accept', 's1', 's2', '--exclude', 'file');
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining('accepted s1: 1 file changed')]);
  expect(stderr).toBe(
    'note: done for s1; not for s2\n' +
      'error: s2: --exclude "file" matches no changed file\nhint: these would land: b\n',
  );
});

test('hints on many files are short, and their commands work', () => {
  const names = Array.from({ length: 30 }, (_, i) => i);
  for (const i of names) write(join(sandbox, `keys/deep-${i % 3}/${i}.pem`), 'key\n');
  for (const i of names) write(join(sandbox, `.GIT/${i}`), '');
  git(sandbox, 'add', 'keys');
  const accept = (...words: string[]) => agt(repository, 'accept', 's1', '-n', ...words);
  const unstorable = accept().stderr;
  expect(unstorable).toMatch(/^error: git cannot store .*, and 20 more, and nothing has changed\n/);
  expect(unstorable).toContain('\nhint: leave their folders out: agt accept s1 --exclude=/.GIT/\n');
  const landing = accept('--exclude=/.GIT/');
  expect(landing.stderr).toMatch(
    / agt accept s1 --exclude=\/.GIT\/ --exclude=keys\/deep-0\/ --exclude=keys\/deep-1\/ --exclude=keys\/deep-2\/\n$/,
  );
  expect(accept('--exclude=/.GIT/', '--exclude=nothing').stderr).toMatch(
    /\nhint: these would land: .*, and 22 more\n/,
  );
  const words = landing.stderr.match(/--exclude=\S+/g) ?? [];
  expect(accept(...words).stdout).toMatch(/^would accept s1: 2 files changed/);
});
