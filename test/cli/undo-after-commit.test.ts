/** `agt undo` in a folder where the person has committed after the agent. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

test('after a commit of the person, an undo takes back the last step of the agent, and the commit stays', () => {
  const folder = makeRepository({ a: 'start\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('do it');
  agent.begins('1');
  write(join(folder, 'a'), 'agent\n');
  agent.ends('1');
  agent.stops();
  git(folder, 'commit', '-qam', 'of a person');
  const main = git(folder, 'rev-parse', 'main');
  expect(agtOk(folder, 'snapshot', 'status')).toMatch(/^changed +no file since, but in git: branch main$/m);
  const shown = agt(folder, 'undo', '-n');
  expect(shown.stdout).toMatch(/^M a\n.*would restore 1 path/);
  const undo = agt(folder, 'undo');
  for (const { stderr } of [shown, undo])
    expect(stderr).toContain(`branch main stays at ${main.slice(0, 10)}: somebody else has moved it since`);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('start\n');
  agtOk(folder, 'redo');
  expect(git(folder, 'status', '--porcelain')).toBe('');
  expect(git(folder, 'rev-parse', 'main')).toBe(main);
});
