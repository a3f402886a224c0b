/** A fork goes on after its own acceptance, and the branch has taken something of that back. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

test.each([false, true])(
  'the user takes back what the fork has made of a line: it conflicts (committed: %s)',
  (isCommitted) => {
    const { repository, sandbox } = makeSession({ f: 'one\ntwo\nthree\n' });
    write(join(sandbox, 'f'), 'one\ntwo P\nthree\n');
    git(sandbox, 'commit', '-qam', 'P');
    agtOk(repository, 'fork', 's1', '--id', 's2');
    const fork = agtOk(repository, 'path', 's2');
    const edit = (folder: string, line: string) => {
      write(join(folder, 'f'), `one\n${line}\nthree\n`);
      if (isCommitted || folder === repository) git(folder, 'commit', '-qam', line);
    };
    edit(fork, 'two P F');
    agtOk(repository, 'accept', 's2', '--keep');
    edit(repository, 'two P');
    edit(fork, 'two P FF');
    const list = JSON.parse(agtOk(repository, 'list', '--json'));
    expect(list).toContainEqual(expect.objectContaining({ session_id: 's2', merge: 'conflict' }));
    expect(agt(repository, 'accept', 's2').stderr).toContain('conflicts with "main" in 1 file');
  },
);

test.each([[[]], [['--commits', 'main..agt/s1']]])(
  'commits that landed with the parent are none of the fork, however they landed: %j',
  (words) => {
    const { repository, sandbox } = makeSession({ f: 'f\n' });
    const commit = (folder: string, name: string) => {
      write(join(folder, name), `${name}\n`);
      git(folder, 'add', name);
      git(folder, 'commit', '-qm', name);
    };
    for (const name of ['A', 'B']) commit(sandbox, name);
    agtOk(repository, 'fork', 's1', '--id', 's2');
    commit(agtOk(repository, 'path', 's2'), 'C');
    agtOk(repository, 'accept', 's1', '--keep', ...words);
    expect(agtOk(repository, 'list')).toMatch(/^s2 +active +\+1 /m);
  },
);

test.each([
  ['s1', 's2'],
  ['s2', 's1'],
])(
  'uncommitted work at the fork, with which %s goes on and lands: %s has its own lines alone',
  (one, other) => {
    const { repository, sandbox } = makeSession({ f: 'f\n' });
    write(join(sandbox, 'new'), '1\n2\n3\n');
    agtOk(repository, 'fork', 's1', '--id', 's2');
    const put = (id: string, text: string) => write(join(agtOk(repository, 'path', id), 'new'), text);
    put(one, 'one\n2\n3\n');
    agtOk(repository, 'accept', one, '--untracked=all');
    const row = () => JSON.parse(agtOk(repository, 'list', '--json'))[0];
    expect(row()).toMatchObject({ session_id: other, merged: true, diff: { files: 0 } });
    put(other, '1\n2\n3\nfour\n');
    expect(row()).toMatchObject({ merge: 'clean', diff: { files: 1, insertions: 1, deletions: 0 } });
    agtOk(repository, 'accept', other, '--untracked=all');
    expect(git(repository, 'show', 'main:new')).toBe('one\n2\n3\nfour');
  },
);

test.each(['a fork', 'a squash'])('the message tells no prompt whose work has landed with %s', (how) => {
  const { repository, sandbox } = makeSession({ f: '1\n2\n3\n4\n5\n6\n7\n8\n9\n' });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  const turn = (prompt: string, text: string, ...commit: string[]) => {
    agent.says(prompt);
    agent.begins(prompt);
    write(join(sandbox, 'f'), text);
    if (commit.length > 0) git(sandbox, ...commit);
    agent.ends(prompt);
    agent.stops();
  };
  if (how === 'a fork') {
    turn('First', 'one\n2\n3\n4\n5\n6\n7\n8\n9\n');
    agtOk(repository, 'fork', 's1', '--id', 's2');
    agtOk(repository, 'accept', 's2');
  } else {
    turn('First', 'one\n2\n3\n4\n5\n6\n7\n8\n9\n', 'commit', '-qam', 'one');
    git(repository, 'merge', '-q', '--squash', 'agt/s1');
    git(repository, 'commit', '-qm', 'squash');
  }
  turn('Second', 'one\n2\n3\n4\n5\n6\n7\n8\nnine\n');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('Second');
});

test('a session that has all of the branch, and began with commits that it lacks: no sync solves the conflict', () => {
  const { repository } = makeSession({ f: 'f\n' });
  git(repository, 'checkout', '-q', '-b', 'pay');
  write(join(repository, 'pay'), 'pay\n');
  git(repository, 'add', 'pay');
  git(repository, 'commit', '-qm', 'pay');
  git(repository, 'checkout', '-q', 'main');
  git(repository, 'update-ref', 'refs/remotes/origin/pay', 'pay');
  git(repository, 'branch', '-qD', 'pay');
  git(repository, 'remote', 'add', 'origin', '.');
  agtOk(repository, 'new', 's2', '--from', 'origin/pay');
  const sandbox = agtOk(repository, 'path', 's2');
  write(join(sandbox, 'pay'), 'raise\n');
  git(sandbox, 'commit', '-qam', 'raise');
  expect(agt(repository, 'accept', 's2').stderr).toContain(
    'commits that "main" lacks; bring them along: --keep',
  );
});
