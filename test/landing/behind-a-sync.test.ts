/** A session that goes back behind a sync, after an acceptance: the commits of people that the sync brought stay landed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';

/** The agent has committed, the user too; a sync and `accept --keep` came after that. */
function syncedAndAccepted() {
  const { repository, sandbox } = makeSession({ f: 'a\nb\nc\n', g: '1\n2\n3\n' });
  write(join(sandbox, 'f'), 'a\nb\nc\nagent\n');
  git(sandbox, 'commit', '-qam', 'by the agent');
  agtOk(repository, 'autocommit', 's1', '--label', 'one');
  write(join(repository, 'g'), 'user\n1\n2\n3\n');
  git(repository, 'commit', '-qam', 'by the user');
  agtOk(repository, 'sync', 's1');
  return { repository, sandbox };
}

const goBack = {
  restore: (repository: string) => agtOk(repository, 'restore', 's1', 'one'),
  reset: (_: string, sandbox: string) => git(sandbox, 'reset', '-q', '--hard', 'HEAD^1'),
};

test.each(Object.entries(goBack))('after %s an accept takes no commit of the user back', (_, back) => {
  const { repository, sandbox } = syncedAndAccepted();
  agtOk(repository, 'accept', 's1', '--keep');
  back(repository, sandbox);
  expect(JSON.parse(agtOk(repository, 'list', '--json'))).toMatchObject([
    { merged: true, diff: { files: 0 } },
  ]);
  expect(agt(repository, 'accept', 's1').stderr).toContain('"main" has all work of session "s1"');
  expect(agtOk(repository, 'session', 'diff', 's1', '--base')).toBe('');
  write(join(sandbox, 'f'), 'a\nb\nc\nmore\n');
  expect(agtOk(repository, 'review', 's1', '--json')).not.toContain('user');
  agtOk(repository, 'accept', 's1');
  expect(readFileSync(join(repository, 'g'), 'utf8')).toBe('user\n1\n2\n3\n');
  expect(readFileSync(join(repository, 'f'), 'utf8')).toBe('a\nb\nc\nmore\n');
});

test('where both have changed the same line since the sync, it is a conflict', () => {
  const { repository, sandbox } = syncedAndAccepted();
  write(join(sandbox, 'g'), 'user and agent\n1\n2\n3\n');
  agtOk(repository, 'accept', 's1', '--keep');
  agtOk(repository, 'restore', 's1', 'one');
  write(join(sandbox, 'g'), 'agent\n1\n2\n3\n');
  expect(agt(repository, 'accept', 's1').stderr).toContain('hint: g: content\n');
  expect(readFileSync(join(repository, 'g'), 'utf8')).toBe('user and agent\n1\n2\n3\n');
});

test('work of the parent that a sync has brought, and an unaccept has taken back, is named as left out', () => {
  const { repository, sandbox } = makeSession({ f: 'a\n' });
  write(join(sandbox, 'helper'), 'helper\n');
  git(sandbox, 'add', 'helper');
  git(sandbox, 'commit', '-qm', 'a helper');
  agtOk(repository, 'autocommit', 's1');
  agtOk(repository, 'fork', 's1', '--id', 's2');
  const fork = agtOk(repository, 'path', 's2');
  write(join(fork, 'own'), 'own\n');
  git(fork, 'add', 'own');
  git(fork, 'commit', '-qm', 'own work');
  agtOk(repository, 'accept', 's1', '-m', 'from s1');
  const landed = git(repository, 'rev-parse', '--short=10', 'HEAD');
  agtOk(repository, 'sync', 's2');
  agtOk(repository, 'unaccept', 's1');
  const said = agtOk(repository, 'accept', 's2');
  expect(said).toContain(`left out ${landed} from s1\n`);
  expect(git(repository, 'log', '-1', '--format=%s')).toBe('own work');
});

test('with a fork that began after it went back, also if the user has amended the commit', () => {
  const { repository, sandbox } = makeSession({ f: '1\n2\n3\n4\n5\n6\n7\n8\n9\n' });
  write(join(sandbox, 'f'), '1\n2\n3\n4\n5\n6\n7\n8\nagent\n');
  git(sandbox, 'commit', '-qam', 'by the agent');
  agtOk(repository, 'autocommit', 's1');
  write(join(repository, 'f'), 'user\n2\n3\n4\n5\n6\n7\n8\n9\n');
  git(repository, 'commit', '-qam', 'by the user');
  agtOk(repository, 'sync', 's1');
  write(join(repository, 'g'), 'more\n');
  git(repository, 'add', 'g');
  git(repository, 'commit', '-q', '--amend', '--no-edit');
  agtOk(repository, 'sync', 's1', '--rebase');
  agtOk(repository, 'accept', 's1', '--keep');
  git(sandbox, 'reset', '-q', '--hard', 'HEAD~2');
  agtOk(repository, 'fork', 's1', '--id', 's2');
  expect(agtOk(repository, 'session', 'diff', 's1', '--base')).not.toContain('user');
  agtOk(repository, 'accept', 's1');
  expect(readFileSync(join(repository, 'f'), 'utf8')).toBe('user\n2\n3\n4\n5\n6\n7\n8\n9\n');
});

test('a commit of the user that the agent has picked, and then gone back behind, stays on the branch', () => {
  const { repository, sandbox } = makeSession({ f: 'a\nb\nc\n', g: '1\n2\n3\n' });
  write(join(sandbox, 'f'), 'agent\na\nb\nc\n');
  git(sandbox, 'commit', '-qam', 'by the agent');
  write(join(repository, 'g'), 'user\n1\n2\n3\n');
  git(repository, 'commit', '-qam', 'by the user');
  git(sandbox, 'cherry-pick', 'main');
  write(join(sandbox, 'f'), 'agent\na\nb\nc\nmore\n');
  git(sandbox, 'commit', '-qam', 'more by the agent');
  agtOk(repository, 'accept', 's1', '--keep');
  git(sandbox, 'reset', '-q', '--hard', 'HEAD~2');
  write(join(sandbox, 'new'), 'new\n');
  git(sandbox, 'add', 'new');
  git(sandbox, 'commit', '-qm', 'new');
  agtOk(repository, 'accept', 's1');
  expect(readFileSync(join(repository, 'g'), 'utf8')).toBe('user\n1\n2\n3\n');
  expect(readFileSync(join(repository, 'f'), 'utf8')).toBe('agent\na\nb\nc\n');
});
