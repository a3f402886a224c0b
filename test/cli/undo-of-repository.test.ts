/** An undo that exchanges the repository of a checkout passes over what people did in the one that goes. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

test('a commit in the repository that a restore brought back: undo and redo go there and back', () => {
  const folder = makeRepository({ f: 'f\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('work');
  agent.begins('1');
  write(join(folder, 'f'), 'f\nmore\n');
  agent.ends('1');
  agent.stops();
  run('sh', ['-c', 'rm -rf .git; git init -qb other; git add f; git commit -qm other'], { cwd: folder });
  agtOk(folder, 'snapshot');
  agtOk(folder, 'restore', '@{1}');
  git(folder, 'commit', '-qam', 'mine');
  const subjects = () => git(folder, 'log', '--all', '--format=%s');
  expect(agt(folder, 'undo')).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('takes the place of another one'),
  });
  expect(subjects()).toBe('other');
  agtOk(folder, 'redo');
  expect(subjects()).toBe('mine\nfirst');
  expect(git(folder, 'status', '--porcelain')).toBe('');
});
