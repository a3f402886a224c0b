/** A person resets the branch in a checkout with an agent: an undo leaves the branch, and says how to move it, too. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, GIT_MODE, git, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { afterStep } from './after-step.ts';

test('the hint moves the branch; an earlier acceptance, and what the undo of a restore deletes, are no work that goes', () => {
  const { repository: folder, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'b'), 'b\n');
  agtOk(folder, 'accept', 's1', '--untracked=all');
  write(join(folder, 'a'), 'own\n');
  agtOk(folder, 'snapshot', '--label', 'start');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('Add c');
  agent.begins('1');
  write(join(folder, 'c'), 'c\n');
  agent.ends('1');
  agent.stops();
  git(folder, 'add', 'c');
  git(folder, 'commit', '-qm', 'c');
  const commit = git(folder, 'rev-parse', 'HEAD');
  agtOk(folder, 'snapshot', '--label', 'before the reset');
  git(folder, 'reset', '-q', '--hard', 'HEAD~1');
  const { stderr } = agt(folder, 'undo');
  expect(stderr).toMatch(/ your own changes, .*: a \(in \w+\)\n/);
  expect(stderr).not.toContain('acceptance');
  const [, way = ''] = /to move it, too: agt (restore \w+)\n/.exec(stderr) ?? [];
  agtOk(folder, 'snapshot', 'restore', 'before the reset', '--', 'c');
  const again = agt(folder, 'undo');
  expect(again.stdout).toContain('\n  D c\n');
  expect(again.stderr).not.toContain('your own changes');
  agtOk(folder, ...way.split(' '));
  expect(git(folder, 'rev-parse', 'main')).toBe(commit);
  expect(run('git', ['status', '--short'], { cwd: folder }).stdout).toBe(' M a\n');
});

test('after a restore by name, the hints move the branch of a person, and HEAD, and leave the files', () => {
  const folder = afterStep('b');
  const first = git(folder, 'rev-parse', 'HEAD');
  write(join(folder, 'a'), 'mine\n');
  git(folder, 'commit', '-qam', 'mine');
  git(folder, 'switch', '-qc', 'topic');
  const { stderr } = agt(folder, 'restore', 'Write it');
  const ways = Array.from(stderr.matchAll(/to move it, too: (.*)/g), ([, way = '']) => way);
  expect(ways).toEqual([
    `git update-ref refs/heads/main ${first.slice(0, 10)}`,
    'git symbolic-ref HEAD refs/heads/main && git reset',
  ]);
  for (const way of ways) run('sh', ['-c', way], { cwd: folder });
  expect(git(folder, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
  expect(git(folder, 'rev-parse', 'HEAD')).toBe(first);
  expect(git(folder, 'diff', '--cached', '--name-only')).toBe('');
});

test('an undo that passes over a reset of a person names the snapshot that has the commits', () => {
  const folder = afterStep('b');
  write(join(folder, 'a'), 'mine\n');
  git(folder, 'commit', '-qam', 'mine');
  const commit = git(folder, 'rev-parse', 'HEAD');
  run(GIT_MODE, ['reset', '-q', '--hard', 'HEAD~1'], { cwd: folder });
  const [, way = ''] =
    /, as your branches stay; agt (restore \w+) moves them/.exec(agtOk(folder, 'undo')) ?? [];
  agtOk(folder, ...way.split(' '));
  expect(git(folder, 'rev-parse', 'main')).toBe(commit);
});
