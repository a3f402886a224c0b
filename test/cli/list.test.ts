import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

interface Listed {
  readonly session_id: string;
  readonly [field: string]: unknown;
}

function list(repository: string, ...args: string[]): Map<string, Listed> {
  const listed: Listed[] = JSON.parse(agtOk(repository, 'list', '--json', ...args));
  return new Map(listed.map((session) => [session.session_id, session]));
}

const LINES = Array.from({ length: 20 }, (_, i) => `line ${i}\n`);
const text = (line: number, changed: string) =>
  LINES.map((old, i) => (i === line ? `${changed}\n` : old)).join('');

function commit(worktree: string, path: string, content: string, message: string): void {
  write(join(worktree, path), content);
  git(worktree, 'add', '-A');
  git(worktree, 'commit', '-q', '-m', message);
}

/** Commands of git that agt starts besides a `git status` in each sandbox. */
function gitsOf(repository: string): number {
  const { stderr } = run(AGT, ['list'], { cwd: repository, env: { AGT_TRACE: '1' } });
  return stderr.split('\n').filter((line) => /^agt: trace: (?!.* status )/.test(line)).length;
}

describe('agt list', () => {
  test('a file that has only another name adds no lines, as git diff -M counts', () => {
    const repository = makeRepository({ 'a.txt': LINES.join(''), 'b.txt': LINES.join('b') });
    const { sandbox } = sessionIn(repository, 'moved');
    git(sandbox, 'mv', 'a.txt', 'z.txt');
    commit(sandbox, 'new.txt', 'n\n', 'moved');
    rmSync(join(sandbox, 'b.txt'));
    write(join(sandbox, 'dir/b.txt'), `${LINES.join('b')}more\n`);
    git(sandbox, 'add', '-N', 'dir/b.txt');
    expect(git(sandbox, 'diff', '-M', '--shortstat', 'main').trim()).toBe('3 files changed, 2 insertions(+)');
    const diff = { files: 3, insertions: 2, deletions: 0 };
    expect(list(repository).get('moved')).toMatchObject({ diff });
  });

  test('a commit is on no remote because the branch of another session has it', () => {
    const repository = makeRepository({ 'a.txt': 'a\n' });
    commit(sessionIn(repository, 'x').sandbox, 'x.txt', 'x\n', 'x');
    git(repository, 'checkout', '-q', '-b', 'feature');
    git(repository, 'merge', '-q', '-m', 'of x', '--no-ff', 'agt/x');
    commit(sessionIn(repository, 'y').sandbox, 'y.txt', 'y\n', 'y');
    expect(list(repository).get('x')).toMatchObject({ ahead: 1, on_remote: false });
  });

  test('says of each session what it has, and whether the user branch could take it or has it', () => {
    const repository = makeRepository({
      'a.txt': LINES.join(''),
      'b.txt': LINES.join(''),
      '.gitignore': '*.log\n',
    });
    const make = (id: string) => sessionIn(repository, id).sandbox;
    make('fresh');
    const dirty = make('dirty');
    writeFileSync(join(dirty, 'a.txt'), text(1, 'dirty'));
    write(join(dirty, 'sub/new file.txt'), 'one\ntwo\n');
    write(join(dirty, 'x.log'), 'ignored\n');
    rmSync(join(dirty, 'b.txt'));
    const clean = make('clean');
    commit(clean, 'a.txt', text(1, 'mine'), 'one');
    write(join(clean, 'staged.txt'), 'staged\n');
    git(clean, 'add', 'staged.txt');
    commit(make('conflict'), 'b.txt', text(5, 'theirs'), 'b');
    const squashed = make('squashed');
    commit(squashed, 'c.txt', 'c\n', 'c');
    commit(squashed, 'd.txt', 'd\n', 'd');
    const rebased = make('rebased');
    commit(rebased, 'e.txt', 'e\n', 'e');
    commit(rebased, 'e.txt', 'e again\n', 'e again');
    const empty = make('empty');
    commit(empty, 'f.txt', 'f\n', 'f');
    git(empty, 'revert', '--no-edit', 'HEAD');
    git(make('merged'), 'commit', '-q', '--allow-empty', '-m', 'merged');
    const stuck = make('stuck');
    commit(stuck, 'b.txt', text(5, 'stuck'), 'stuck');

    git(repository, 'merge', '-q', '--ff-only', 'agt/merged');
    git(repository, 'merge', '-q', '--squash', 'agt/squashed');
    git(repository, 'commit', '-q', '-m', 'squash of two');
    git(repository, 'cherry-pick', 'agt/rebased~1', 'agt/rebased');
    commit(repository, 'e.txt', 'e once more\n', 'goes on with e');
    commit(repository, 'b.txt', text(5, 'users'), 'of the user');
    git(repository, 'clone', '-q', '--bare', '.', '../remote.git');
    git(repository, 'remote', 'add', 'origin', '../remote.git');
    git(repository, 'push', '-q', 'origin', 'agt/clean:exported');
    expect(agt(stuck, 'git', 'merge', 'main').exitCode).toBe(1);

    const sessions = list(repository);
    const shown = (id: string, ...fields: string[]) => fields.map((field) => sessions.get(id)?.[field]);
    expect(shown('fresh', 'ahead', 'behind', 'dirty', 'merge', 'merged')).toEqual([0, 6, 0, null, false]);
    expect(shown('dirty', 'ahead', 'dirty', 'merge', 'diff')).toEqual([
      0,
      3,
      'conflict', // b.txt
      { files: 3, insertions: 3, deletions: 21, in_part: false },
    ]);
    expect(shown('clean', 'ahead', 'dirty', 'merge', 'merged', 'on_remote', 'diff')).toEqual([
      ...[1, 1, 'clean', false, true],
      { files: 2, insertions: 2, deletions: 1, in_part: false },
    ]);
    expect(shown('conflict', 'ahead', 'dirty', 'merge', 'merged', 'on_remote')).toEqual([
      1,
      0,
      'conflict',
      false,
      false,
    ]);
    expect(shown('squashed', 'ahead', 'merge', 'merged')).toEqual([2, null, true]);
    expect(shown('rebased', 'ahead', 'merge', 'merged')).toEqual([2, null, true]);
    expect(shown('empty', 'ahead', 'merge', 'merged', 'diff')).toEqual([
      ...[2, null, true],
      { files: 0, insertions: 0, deletions: 0, in_part: false },
    ]);
    expect(shown('merged', 'ahead', 'merged')).toEqual([0, true]);
    expect(shown('stuck', 'operation', 'running')).toEqual(['merge', null]);
    expect(sessions.get('fresh')).toMatchObject({
      shadow_branch: 'refs/heads/agtsessions/fresh',
      autocommits: 0,
      last_autocommit: null,
    });
    expect(sessions.get('fresh')).not.toHaveProperty('branch');

    const table = agtOk(repository, 'list', '--sort=id');
    expect(table.split('\n')[0]).toBe(
      'ID        STATE       COMMITS  DIRTY    DIFF  BEHIND  MERGE            AUTOCOMMIT  AGE',
    );
    expect(table).toMatch(/^clean +active +\+1 +1 +\+2 -1 +6 +clean, exported +never +\d+[sm]$/m);
    expect(table).toMatch(/^stuck +in a merge /m);
    expect(agtOk(repository, 'list', '--state', 'failed')).toBe('');
    expect([...list(repository, '--sort=-commits').keys()][0]).toBe('squashed');
    expect(agt(repository, 'list', '--sort', 'size')).toMatchObject({ exitCode: 2 });
    expect(agt(repository, 'list', '--state', 'asleep').stderr).toContain(
      'error: unknown state "asleep"\nhint: states: ',
    );
    expect(agt(repository, 'list', '--state', 'merged').stderr).toMatch(
      /\nhint: "merged" is no state, .*: agt remove --merged -n\n$/,
    );
    expect(gitsOf(repository)).toBeLessThanOrEqual(16);
    // A listing leaves no objects and no directory behind.
    expect(run(REAL_GIT, ['ls-files', '-o', '.git/agt/scratch'], { cwd: repository }).stdout).toBe('');
  });

  test('counts all untracked files; the lines of some stay unread, and that is said', () => {
    const repository = makeRepository();
    const { sandbox } = sessionIn(repository, 'many');
    for (let i = 0; i < 2002; i++) writeFileSync(join(sandbox, `new${i}`), 'x\n');
    expect(list(repository).get('many')).toMatchObject({
      dirty: 2002,
      diff: { files: 2000, insertions: 2000, deletions: 0, in_part: true },
    });
    const { sandbox: other } = sessionIn(repository, 'large');
    writeFileSync(join(other, 'large'), 'x\n'.repeat(2 ** 20));
    writeFileSync(join(other, 'small'), 'x\n');
    expect(agtOk(repository, 'list')).toMatch(/ 2002 +\+2000\+ -0 [\s\S]* 2 +\+1\+ -0 /);
    agtOk(repository, 'accept', 'large', '--untracked=all', '--keep');
    expect(list(repository).get('large')).toMatchObject({ merged: true, diff: { files: 0, in_part: false } });
  });

  test('asks git no more than for one, but for the status of each, and shows where HEAD is', () => {
    const repository = makeRepository({ 'a.txt': 'a\n' });
    const work = (i: number) => {
      const { sandbox } = sessionIn(repository, `s${i}`);
      commit(sandbox, 'a.txt', `${i}\n`, `commit ${i}`);
      write(join(sandbox, 'a.txt'), 'b\n');
      return sandbox;
    };
    const first = work(0);
    commit(repository, 'b.txt', 'b\n', 'of the user');
    list(repository); // remembers what the merge gives
    const one = gitsOf(repository);
    for (let i = 1; i < 7; i++) work(i);
    git(first, 'checkout', '-q', '-b', 'side');
    expect(gitsOf(repository)).toBe(one);
    const table = agtOk(repository, 'list');
    expect(table).toMatch(/^ID {2}STATE {3}BRANCH {2}COMMITS/);
    expect(table).toMatch(/^s0 {2}active {2}side /m);
    agtOk(repository, 'remove', 's1');
    expect(list(repository).has('s1')).toBe(false);
    expect([...list(repository, '--state', 'removed').keys()]).toEqual(['s1']);
    expect(list(repository, '--all').size).toBe(7);
  });

  test('one broken session hides nothing of the others', () => {
    const repository = makeRepository({ 'a.txt': 'a\n' });
    const broken = sessionIn(repository, 'broken').sandbox;
    write(join(broken, 'a.txt'), 'x\n');
    const staged = sessionIn(repository, 'staged').sandbox;
    write(join(staged, 'b.txt'), 'never stored\n');
    git(staged, 'add', 'b.txt');
    const oid = git(staged, 'rev-parse', ':b.txt');
    rmSync(join(repository, '.git/objects', oid.slice(0, 2), oid.slice(2)));
    const good = sessionIn(repository, 'good').sandbox;
    write(join(good, 'a.txt'), 'b\n');
    writeFileSync(join(repository, '.git/worktrees/sandbox/index'), 'no index');
    const sessions = list(repository);
    expect(sessions.get('good')).toMatchObject({ dirty: 1, diff: { files: 1, insertions: 1, deletions: 1 } });
    expect(sessions.get('broken')).toMatchObject({ dirty: null, ahead: 0 });
    expect(sessions.get('staged')).toMatchObject({ ahead: 0, diff: null });
  });
});

test('counts a submodule that has checked out another commit', () => {
  const repository = makeRepository();
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', makeRepository(), 'l');
  git(repository, 'commit', '-q', '-m', 'with a submodule');
  const withCommitInside = (id: string) => {
    const { sandbox } = sessionIn(repository, id);
    git(sandbox, '-c', 'protocol.file.allow=always', 'submodule', 'update', '-q', '--init');
    expect(list(repository).get(id)).toMatchObject({ dirty: 0 });
    git(join(sandbox, 'l'), 'commit', '-q', '--allow-empty', '-m', 'inside');
    expect(git(sandbox, 'status', '--porcelain')).toBe(' M l');
    expect(list(repository).get(id)).toMatchObject({ dirty: 1 });
    return gitsOf(repository);
  };
  const first = withCommitInside('s1');
  expect(withCommitInside('s2')).toBe(first);
});

test('a list without sessions says what to do next, and in a partial clone why a column is empty', () => {
  const origin = makeRepository({ 'a.txt': 'a\n' });
  git(origin, 'config', 'uploadpack.allowFilter', 'true');
  const empty = agt(origin, 'list');
  expect(empty).toMatchObject({ exitCode: 0, stdout: '' });
  expect(empty.stderr).toMatch(/^note: no sessions yet; begin one: agt new ID/);
  expect(agt(origin, 'list', '--json')).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' });
  const unborn = makeTempDir();
  git(unborn, 'init', '-q');
  const [, command = ''] =
    /make a first commit: (git [^;]*); then begin one: agt new ID/.exec(agt(unborn, 'list').stderr) ?? [];
  expect(run('sh', ['-ec', command], { cwd: unborn }).exitCode).toBe(0);
  expect(agt(unborn, 'list').stderr).toBe(empty.stderr);
  const partial = join(makeTempDir(), 'partial');
  git(origin, 'clone', '-q', '--filter=blob:none', `file://${origin}`, partial);
  const session = sessionIn(partial);
  expect(agt(partial, 'list').stderr).toBe('');
  write(join(session.sandbox, 'a.txt'), 'b\n');
  expect(agt(partial, 'list').stderr).toContain('note: DIFF and MERGE stay empty in a partial clone');
  agtOk(partial, 'remove', 's1');
  expect(agt(partial, 'list').stderr).toContain('agt list --all');
});

test('packs of a partial clone make none: the settings do', () => {
  const { repository, sandbox } = makeSession({ 'a.txt': 'a\n' });
  write(join(repository, '.git/objects/pack/pack-1.promisor'), '');
  write(join(sandbox, 'a.txt'), 'b\n');
  expect(agt(repository, 'list')).toMatchObject({ stdout: expect.stringContaining('+1 -1'), stderr: '' });
  git(repository, 'config', 'remote.origin.promisor', 'true');
  expect(agt(repository, 'list').stderr).toContain('partial clone');
});

test('colours obey FORCE_COLOR, NO_COLOR and color.ui', () => {
  const { repository } = makeSession();
  const isColoured = (env: Record<string, string>) =>
    run(AGT, ['list'], { cwd: repository, env: { NO_COLOR: undefined, ...env } }).stdout.includes('\u001b[');
  expect(isColoured({})).toBe(false);
  expect(isColoured({ FORCE_COLOR: '1' })).toBe(true);
  git(repository, 'config', 'color.ui', 'always');
  expect(isColoured({})).toBe(true);
  expect(isColoured({ NO_COLOR: '1' })).toBe(false);
  expect(isColoured({ FORCE_COLOR: '0' })).toBe(false);
});

test('an error with --json is an object on standard output', () => {
  const { repository } = makeSession();
  const failed = agt(repository, 'session', 'show', 'nope', '--json');
  expect(failed.exitCode).toBe(1);
  expect(JSON.parse(failed.stdout)).toEqual({
    error: expect.stringContaining('no session "nope"'),
    hints: ['sessions here: s1'],
  });
  expect(failed.stderr).toContain('no session "nope"');
});

test('agt list --folders has a row for the folder here, everywhere for all that are still there', () => {
  const [here, gone] = [realpathSync(makeRepository()), realpathSync(makeTempDir())];
  const ids = (...words: string[]) =>
    (JSON.parse(agtOk(here, 'list', ...words, '--json')) as { session_id: string }[]).map(
      (row) => row.session_id,
    );
  expect(ids('--folders')).toEqual([]);
  for (const folder of [here, gone]) agtOk(folder, 'snapshot');
  expect(agt(here, 'list', '--folders').stdout).toMatch(/^Snapshots without/);
  agtOk(here, 'new', 's1');
  expect(ids('--folders')).toEqual(['s1', here]);
  expect(agtOk(here, 'list', '--folders')).toMatch(`Snapshots without a session\n${here}  `);
  expect(ids('--folders', '--everywhere')).toEqual(expect.arrayContaining([here, gone]));
  rmSync(gone, { recursive: true });
  expect(ids('--folders', '--everywhere')).not.toContain(gone);
  expect(ids()).toEqual(['s1']);
});
