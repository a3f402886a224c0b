/** agt session new from what a remote has: a branch that is fetched first, a pull request. */
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, write } from '../harness/world.ts';

let remote: string;
let clone: string;

/** A commit that the clone does not have. */
function commitAt(ref: string): string {
  write(join(remote, 'a.txt'), `${ref}\n`);
  git(remote, 'add', '-A');
  git(remote, 'commit', '-q', '-m', ref);
  const commit = git(remote, 'rev-parse', 'HEAD');
  git(remote, 'reset', '-q', '--hard', 'HEAD~1');
  git(remote, 'update-ref', ref, commit);
  return commit;
}

beforeEach(() => {
  remote = makeRepository();
  git(dirname(remote), 'clone', '-q', remote, 'clone');
  clone = join(dirname(remote), 'clone');
});

const headOf = (id: string) => git(join(`${clone}.agt`, 'sessions', id, 'sandbox'), 'rev-parse', 'HEAD');

test('a branch of the remote, as it is there now', () => {
  const commit = commitAt('refs/heads/topic');
  expect(agt(clone, 'session', 'new', 's1', '--from', 'origin/topic').exitCode).toBe(1);
  agtOk(clone, 'session', 'new', 's1', '--from', 'origin/topic', '--fetch');
  expect(headOf('s1')).toBe(commit);
});

test.each(['refs/pull/7/head', 'refs/merge-requests/7/head'])('%s', (ref) => {
  const commit = commitAt(ref);
  agtOk(clone, 'session', 'new', 's1', '--pr', '7');
  expect(headOf('s1')).toBe(commit);
  expect(JSON.parse(agtOk(clone, 'session', 'show', 's1', '--json')).user_branch).toBe('refs/heads/main');
  expect(git(clone, 'for-each-ref', 'refs/pull', 'refs/merge-requests')).toBe('');
});

test('says what the remote does not have, and creates nothing', () => {
  for (const [words, message] of [
    [['--pr', '8'], 'error: "origin" has no pull request 8\n'],
    [['--pr', 'x'], 'error: "x" is no number of a pull request\n'],
    [['--pr', '8', '--from', 'main'], 'error: with --pr, --from names the remote\n'],
    [
      ['--fetch', '--from', 'main'],
      'error: --fetch needs --from REMOTE/BRANCH, and "main" begins with no remote\n',
    ],
    [['--fetch', '--from', 'origin/none'], 'error: git cannot fetch from "origin": '],
  ] as const) {
    const { exitCode, stderr } = agt(clone, 'session', 'new', 's1', ...words);
    expect([exitCode !== 0, stderr.slice(0, message.length)]).toEqual([true, message]);
  }
  expect(agtOk(clone, 'session', 'list', '--all')).toBe('');
});
