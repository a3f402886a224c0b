/** The work of one session on two branches: each gets what it lacks, whatever the other one has got, and how. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { autocommit, sessionIn } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, write } from '../harness/world.ts';

/** A branch `release`; a commit of the user on main; a session with three commits, of which the second changes the first. */
function makeThree() {
  const repository = makeRepository({ base: 'b\n' });
  git(repository, 'branch', 'release');
  const commit = (at: string, path: string, content: string, verb = 'Write') => {
    write(join(at, path), content);
    git(at, 'add', path);
    git(at, 'commit', '-qm', `${verb} ${path}`);
  };
  commit(repository, 'mine', 'm\n');
  const { sandbox } = sessionIn(repository);
  commit(sandbox, 'f', 'a\nb\nc\n');
  commit(sandbox, 'f', 'a\nB\nc\n', 'Change');
  commit(sandbox, 'g', 'g\n');
  const files = (branch: string) => git(repository, 'ls-tree', '--name-only', branch).split('\n');
  return { repository, sandbox, commit, files };
}

test.each([
  ['accept --keep-commits', (at: string) => agtOk(at, 'accept', 's1', '--keep', '--keep-commits')],
  ['a merge', (at: string) => git(at, 'merge', '-q', '--no-ff', '--no-edit', 'agt/s1')],
  ['a merge by fast-forward', (at: string) => git(at, 'merge', '-q', '--ff-only', 'agt/s1')],
  [
    'a rebase and a merge',
    (at: string) => {
      git(at, 'commit', '-q', '--allow-empty', '-m', 'newer');
      agtOk(at, 'sync', 's1', '--rebase');
      git(at, 'merge', '-q', '--ff-only', 'agt/s1');
    },
  ],
  ['a merge of some commits', (at: string) => git(at, 'merge', '-q', '--ff-only', 'agt/s1~1')],
])('main has the commits by %s: another branch gets all of them, and nothing else', (_, land) => {
  const { repository, commit, files } = makeThree();
  land(repository);
  commit(repository, 'later', 'l\n');
  const { left_out: leftOut, message } = JSON.parse(
    agtOk(repository, 'accept', 's1', '--onto', 'release', '--json'),
  );
  expect([leftOut, message]).toEqual([[], 'Write f; Change f; Write g\n\nAgt-Session: s1']);
  expect(files('release')).toEqual(['base', 'f', 'g']);
});

test('a merge of main in the sandbox by plain git brings no commit of the user to another branch', () => {
  const { repository, sandbox, commit, files } = makeThree();
  commit(repository, 'later', 'l\n');
  git(sandbox, 'merge', '-q', '--no-edit', 'main');
  git(repository, 'merge', '-q', '--ff-only', 'agt/s1');
  commit(sandbox, 'h', 'h\n');
  agtOk(repository, 'accept', 's1', '--onto', 'release');
  expect(files('release')).toEqual(['base', 'f', 'g', 'h']);
});

test('a part is on main, and all on another branch: main still gets the rest', () => {
  const { repository } = makeThree();
  agtOk(repository, 'accept', 's1', '--commits', 'agt/s1~2', '--keep');
  agtOk(repository, 'accept', 's1', '--onto', 'release', '--keep');
  const { files, message } = JSON.parse(agtOk(repository, 'accept', 's1', '-n', '--json'));
  expect(files).toMatchObject([
    { path: 'f', insertions: 1, deletions: 1 },
    { path: 'g', insertions: 1 },
  ]);
  expect(message).toMatch(/^Change f; Write g\n/);
  expect(agtOk(repository, 'sync', 's1', '-n')).toContain('would merge 1 commit of main');
});

test('parts on two branches: what the list says does not depend on their order', () => {
  const { repository } = makeThree();
  agtOk(repository, 'accept', 's1', '--commits', 'agt/s1~2', '--keep');
  const left = agtOk(repository, 'accept', 's1', '--commits', 'agt/s1', '--onto', 'release', '--keep');
  expect(left.match(/^left out \w+ .*/gm)).toEqual([
    expect.stringContaining('Write f'),
    expect.stringContaining('Change f'),
  ]);
  expect(agtOk(repository, 'list')).toMatch(/\+2 -1 .* clean for main, accepted in part on release/);
});

test('work that landed on main before a sync stays off another branch, and agt names it', () => {
  const { repository, sandbox, commit, files } = makeThree();
  agtOk(repository, 'accept', 's1', '--keep', '-m', 'Landed');
  commit(repository, 'later', 'l\n');
  agtOk(repository, 'sync', 's1');
  commit(sandbox, 'h', 'h\n');
  const said = agtOk(repository, 'accept', 's1', '--onto', 'release', '--keep');
  const [landed = ''] = /(?<=^left out )\w+(?= Landed$)/m.exec(said) ?? [];
  expect(files('release')).toEqual(['base', 'h']);
  agtOk(repository, 'accept', 's1', '--onto', 'release', '--commits', landed, '--keep');
  expect(files('release')).toEqual(['base', 'f', 'g', 'h']);
});

test('neither branch has all, if one lacks what the other one had before a sync', () => {
  const { repository, sandbox, commit } = makeThree();
  write(join(sandbox, 'open'), 'o\n');
  agtOk(repository, 'accept', 's1', '--keep', '--committed-only');
  commit(repository, 'later', 'l\n');
  agtOk(repository, 'sync', 's1');
  const onto = ['accept', 's1', '--onto', 'release'];
  expect(agtOk(repository, ...onto, '--keep')).toContain('\nleft out ');
  expect(agt(repository, ...onto, '-n').stderr).toContain('apart from what was left out there\n');
  expect(agtOk(repository, 'list')).toContain('clean for main, accepted in part on release');
  expect(agtOk(repository, 'remove', '--merged', '-n')).toBe('');
});

test('the message names no commit that main has by a squash', () => {
  const { repository, sandbox } = makeThree();
  write(join(sandbox, 'notes'), 'n\n');
  git(repository, 'merge', '-q', '--squash', 'agt/s1');
  git(repository, 'commit', '-qm', 'Squashed');
  const { message } = JSON.parse(agtOk(repository, 'accept', 's1', '-n', '--untracked=all', '--json'));
  expect(message).toBe('Work of session s1\n\nAgt-Session: s1');
});

test('the message has the prompts that the branch has not got, whatever another one has', async () => {
  const lines = [...'abcdefgh'];
  const repository = makeRepository({ x: lines.join('\n') });
  git(repository, 'branch', 'release');
  const session = sessionIn(repository);
  const work = (prompt: string, line: number) => {
    autocommit(session, '--label', `prompt: ${prompt}`);
    lines[line] = prompt;
    write(join(session.sandbox, 'x'), lines.join('\n'));
    autocommit(session);
  };
  const message = () => JSON.parse(agtOk(repository, 'accept', 's1', '-n', '--json')).message;
  work('Begin x', 0);
  agtOk(repository, 'accept', 's1', '--onto', 'release', '--keep');
  expect(git(repository, 'show', '-s', '--format=%s', 'release')).toBe('Begin x');
  expect(message()).toBe('Begin x\n\nAgt-Session: s1');
  git(repository, 'merge', '-q', 'release');
  await setTimeout(1000); // snapshots have the time in seconds
  work('End x', 7);
  expect(message()).toBe('End x\n\nAgt-Session: s1');
});

test('a branch that only the remote has: the hint makes it', () => {
  const { repository } = makeThree();
  git(repository, 'update-ref', 'refs/remotes/origin/only', 'main');
  const { stderr } = agt(repository, 'accept', 's1', '--onto', 'only');
  expect(stderr).toContain('git branch only origin/only\n');
});
