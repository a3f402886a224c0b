/** The stash of a session through its life: snapshots, restore, fork, removal, git gc, sessions in the user's own checkout. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession } from '../harness/session.ts';
import {
  agt,
  agtOk,
  GIT_MODE,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  write,
} from '../harness/world.ts';

const env = { PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}` };

function mode(cwd: string, ...args: string[]): string {
  const outcome = run(GIT_MODE, args, { cwd, env });
  expect({ args, exitCode: outcome.exitCode, stderr: outcome.stderr }).toMatchObject({ exitCode: 0 });
  return outcome.stdout;
}

test('a session keeps its stash over git gc, removal, restore and fork; undo takes a stash back', () => {
  const session = makeSession({ a: 'a\n' });
  const { repository, sandbox } = session;
  writeFileSync(join(repository, 'a'), 'of the user\n');
  git(repository, 'stash', '-q');
  const put = (text: string) => writeFileSync(join(sandbox, 'a'), text);
  for (const text of ['one', 'two', 'three']) {
    put(`${text}\n`);
    mode(sandbox, 'stash', 'push', '-q', '-m', text);
  }
  const entries = mode(sandbox, 'stash', 'list', '--format=%gd %gs %H');
  expect(entries.match(/three|two|one/g)).toEqual(['three', 'two', 'one']);
  // The dates of the entries are old: git would expire them.
  git(repository, 'gc', '-q', '--prune=now');
  expect(mode(sandbox, 'stash', 'list', '--format=%gd %gs %H')).toBe(entries);
  expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);

  put('four\n');
  mode(sandbox, 'stash');
  agtOk(sandbox, 'undo');
  expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('four\n');
  expect(mode(sandbox, 'stash', 'list', '--format=%gd %gs %H')).toBe(entries);

  autocommit(session);
  agtOk(repository, 'session', 'fork', '--from', 's1', '--id', 's2');
  const fork = join(sandbox, '../../s2/sandbox');
  expect(mode(fork, 'stash', 'list', '--format=%gd %gs %H')).toBe(entries);
  mode(fork, 'stash', 'clear');
  agtOk(repository, 'session', 'remove', 's1');
  git(repository, 'gc', '-q', '--prune=now');
  agtOk(repository, 'session', 'restore', 's1', '--to', '@{0}');
  expect(mode(sandbox, 'stash', 'list', '--format=%gd %gs %H')).toBe(entries);
  expect(mode(sandbox, 'stash', 'show', '-p', '2')).toContain('+one');
  mode(sandbox, 'reset', '-q', '--hard');
  mode(sandbox, 'stash', 'pop', '-q', '1');
  expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('two\n');
  expect(git(repository, 'stash', 'list')).toBe(
    'stash@{0}: WIP on main: '.concat(git(repository, 'log', '-1', '--format=%h %s', 'main')),
  );
  expect(
    readdirSync(git(sandbox, 'rev-parse', '--absolute-git-dir')).filter((name) =>
      name.startsWith('agt-stash'),
    ),
  ).toEqual([]);
});

test("a session in the user's own checkout has a stash of its own too, and takes it away", () => {
  const repository = makeRepository({ a: 'a\n' });
  write(join(repository, 'a'), 'of the user\n');
  git(repository, 'stash', '-q');
  const before = git(repository, 'stash', 'list', '-p');
  agtOk(repository, 'session', 'new', '--id', 's1', '--working-copy', 'in-place');
  expect(mode(repository, 'stash', 'list')).toBe('');
  write(join(repository, 'a'), 'of the agent\n');
  mode(repository, 'stash', '-q');
  const own = mode(repository, 'stash', 'list', '-p');
  agtOk(repository, 'session', 'remove', 's1');
  expect(mode(repository, 'stash', 'list', '-p')).toBe(`${before}\n`);
  expect(git(repository, 'for-each-ref', 'refs/worktree')).toBe('');
  agtOk(repository, 'session', 'restore', 's1', '--to', '@{0}');
  expect(mode(`${repository}.agt/sessions/s1/sandbox`, 'stash', 'list', '-p')).toBe(own);
});

test('in an agt clone, with settings included from elsewhere and refs that are packed', () => {
  const dir = makeTempDir('clone');
  agtOk(dir, 'clone', makeRepository({ a: 'a\n' }), '--path', join(dir, 'c'));
  const main = join(dir, 'c', 'project', 'main');
  const common = git(main, 'rev-parse', '--path-format=absolute', '--git-common-dir');
  write(
    join(common, '../included'),
    '[user]\n\tname = Included\n\tuseConfigOnly = true\n[alias]\n\tkeep = stash push\n',
  );
  git(main, 'config', 'include.path', '../included');
  writeFileSync(join(main, 'a'), 'of the user\n');
  git(main, 'stash', '-q');
  const { sandbox } = JSON.parse(agtOk(main, 'session', 'new', '--id', 's1', '--json'));
  git(main, 'pack-refs', '--all');
  // As git-lfs does, the filter keeps the content in a directory beside the objects that it makes itself.
  const store = '"$(git rev-parse --path-format=absolute --git-common-dir)/store"';
  git(main, 'config', 'filter.keep.clean', `mkdir -p ${store}; tee ${store}/kept`);
  write(join(common, 'info/attributes'), 'd/new filter=keep\n');
  mkdirSync(join(sandbox, 'd'));
  writeFileSync(join(sandbox, 'd/new'), 'new\n');
  mode(join(sandbox, 'd'), 'keep', '-q', '-u');
  expect(existsSync(join(sandbox, 'd/new'))).toBe(false);
  expect(mode(sandbox, 'stash', 'list')).toMatch(/^stash@\{0\}: WIP on agt\/s1: [^\n]*\n$/);
  expect(readFileSync(join(common, 'store/kept'), 'utf8')).toBe('new\n');
  mode(sandbox, 'stash', 'pop', '-q');
  expect(readFileSync(join(sandbox, 'd/new'), 'utf8')).toBe('new\n');
  expect(git(main, 'stash', 'list')).toMatch(/^stash@\{0\}: WIP on main: [^\n]*$/);
});

test.each(['clean', 'smudge'])(
  'killed while git runs the filter "%s": nothing is lost, and the next stash works',
  (filter) => {
    const session = makeSession({ a: 'a\n' });
    const { repository, sandbox } = session;
    writeFileSync(join(repository, 'a'), 'of the user\n');
    git(repository, 'stash', '-q');
    writeFileSync(join(sandbox, 'a'), 'earlier\n');
    mode(sandbox, 'stash', 'push', '-q', '-m', 'earlier');
    write(join(repository, '.git/info/attributes'), 'a filter=deadly\n');
    const flag = join(repository, '.git/deadly');
    git(repository, 'config', `filter.deadly.${filter}`, `if test -e ${flag}; then kill -9 0; fi; cat`);
    writeFileSync(join(sandbox, 'a'), 'work of the agent\n');
    write(flag, '');
    // In a process group of its own, which the filter kills.
    const script = `exec '${process.execPath}' -e 'require("child_process").spawn(process.argv[1], ["stash"], {detached: true, stdio: "ignore"}).on("exit", (code, signal) => process.exit(signal === "SIGKILL" ? 0 : 1))' '${GIT_MODE}'`;
    expect(run('sh', ['-c', script], { cwd: sandbox, env })).toMatchObject({ exitCode: 0 });
    rmSync(flag);
    expect(git(repository, 'show', 'agtsessions/s1:sandbox/a')).toBe('work of the agent');
    expect(mode(sandbox, 'stash', 'list', '-p').includes('+work of the agent')).toBe(filter === 'smudge');
    expect(git(repository, 'stash', 'list')).toMatch(/^stash@\{0\}: WIP on main: [^\n]*$/);
    rmSync(join(git(sandbox, 'rev-parse', '--absolute-git-dir'), 'index.lock'), { force: true });
    agtOk(repository, 'doctor', '--fix');
    expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);
    agtOk(sandbox, 'session', 'restore', '--to', 'before git stash');
    mode(sandbox, 'stash', '-q');
    expect(mode(sandbox, 'stash', 'list').match(/earlier/g)).toHaveLength(1);
    mode(sandbox, 'stash', 'pop', '-q');
    expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('work of the agent\n');
  },
);

test('where refs are no files, the agent cannot change the stash of the user', (context) => {
  const dir = makeTempDir('reftable');
  const made = run(REAL_GIT, ['init', '-q', '-b', 'main', '--ref-format=reftable', dir], { cwd: dir });
  if (made.exitCode !== 0) context.skip('this git has no reftable');
  write(join(dir, 'a'), 'a\n');
  git(dir, 'add', 'a');
  git(dir, 'commit', '-q', '-m', 'first');
  write(join(dir, 'a'), 'of the user\n');
  git(dir, 'stash', '-q');
  const { sandbox } = JSON.parse(agtOk(dir, 'session', 'new', '--id', 's1', '--json'));
  const outcome = run(GIT_MODE, ['stash', 'pop'], { cwd: sandbox, env });
  expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
  expect(outcome.stderr).toContain(
    'error: session "s1" cannot have a stash of its own here: its refs are no files\nhint: ',
  );
  expect(git(dir, 'stash', 'list')).toContain('stash@{0}');
});

test('a stash keeps its session from remove --merged, and each end of the session says how it comes back', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const stash = (text: string) => {
    writeFileSync(join(sandbox, 'a'), `${text}\n`);
    mode(sandbox, 'stash', 'push', '-q', '-m', text);
  };
  const line = (count: string) => `stash    ${count} in its snapshots; agt undo s1 brings it back\n`;
  const shown = () => JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json')).stash;
  expect(shown()).toEqual([]);
  stash('one');
  stash('two');
  expect(agtOk(repository, 'session', 'show', 's1')).toMatch(/^stash +On agt\/s1: two\n +On agt\/s1: one$/m);
  expect(agtOk(repository, 'reject', 's1')).toContain(line('2 stashed changes'));
  expect(shown()).toEqual(['On agt/s1: two', 'On agt/s1: one']);
  expect(agt(repository, 'remove', 's1', '--delete-branch').stderr).toContain('has 2 stashed changes, files');
  git(repository, 'gc', '-q', '--prune=now');
  agtOk(repository, 'undo', 's1');
  mode(sandbox, 'stash', 'pop', '-q');
  git(sandbox, 'commit', '-qam', 'two');
  expect(agtOk(repository, 'accept', 's1', '-n')).toContain(line('1 stashed change'));
  const kept = agtOk(repository, 'accept', 's1', '--keep');
  expect(kept).not.toContain('stash');
  expect(agt(repository, 'remove', '--merged').stderr).toContain('note: s1 stays: 1 stashed change\n');
  expect(agtOk(repository, 'remove', 's1')).toContain(line('1 stashed change'));
  agtOk(repository, 'undo', 's1');
  writeFileSync(join(sandbox, 'a'), 'three\n');
  git(sandbox, 'stash', 'push', '-q', '-m', 'by the git of the system');
  const shared = 'stash@{0}: On agt/s1: by the git of the system';
  expect(agtOk(repository, 'session', 'show', 's1')).toContain(`  in your git stash list: ${shared}`);
  expect(agtOk(repository, 'reject', 's1', '-n')).toContain(`stays    in your git stash list: ${shared}\n`);
  expect(mode(sandbox, 'stash', 'list')).toBe('stash@{0}: On agt/s1: one\n');
});
