/** Status names branches that an agent has moved. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agtOk, git, makeRepository, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

test('commits that an agent took off a branch are named until the branch has them again', () => {
  const folder = makeRepository({ a: 'start\n' });
  write(join(folder, 'own'), 'of a person\n');
  git(folder, 'add', 'own');
  git(folder, 'commit', '-qm', 'own');
  const own = git(folder, 'rev-parse', 'HEAD').slice(0, 10);
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('tidy');
  agent.begins('1');
  git(folder, 'reset', '-q', '--hard', 'HEAD~1');
  agent.ends('1');
  agent.stops();
  const told = () =>
    agtOk(folder, 'status')
      .split('\n')
      .filter((line) => /branch|to bring/.test(line));
  expect(told().join()).toMatch(`moved branch main, which was at ${own}`);
  const lines = [
    expect.stringContaining(`claude has taken 1 commit off branch main, which was at ${own}`),
    expect.stringContaining(`to bring it back: git merge ${own}`),
  ];
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'mine');
  expect(told().slice(-2)).toEqual(lines);
  agtOk(folder, 'snapshot');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'more');
  expect(told().slice(-2)).toEqual(lines);
  git(folder, 'cherry-pick', own);
  expect(told().join()).not.toContain(own);
});

test('a commit that an amend of the agent has replaced is not missing', () => {
  const folder = makeRepository({ a: 'start\n' });
  write(join(folder, 'a'), 'of a person\n');
  git(folder, 'commit', '-qam', 'own');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('amend it');
  agent.begins('1');
  write(join(folder, 'a'), 'of a person\nand more\n');
  git(folder, 'commit', '-qam', 'said better', '--amend');
  agent.ends('1');
  agent.stops();
  expect(agtOk(folder, 'status')).toContain('claude has moved branch main');
  write(join(folder, 'b'), 'later\n');
  git(folder, 'add', 'b');
  git(folder, 'commit', '-qm', 'later', '--date=2030-01-01T00:00:00Z'); // not of the same second
  expect(agtOk(folder, 'status')).not.toContain('branch main');
});

test("status names where a branch was before an agent moved it, with the agent's own commits", () => {
  const folder = makeRepository({ a: 'start\n' });
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'own');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  const call = (id: string, ...words: string[]) => {
    agent.begins(id);
    git(folder, ...words);
    agent.ends(id);
  };
  agent.says('work');
  call('1', 'commit', '-q', '--allow-empty', '-m', 'by the agent');
  const last = git(folder, 'rev-parse', 'HEAD').slice(0, 10);
  call('2', 'reset', '-q', '--hard', 'HEAD~2');
  const told = agtOk(folder, 'status');
  expect(told).toContain(`claude has moved branch main, which was at ${last}`);
  expect(told).toContain(`to bring it back: git reset --keep ${last}`);
});

test('status names a branch that an agent has reset to the commit of an acceptance', () => {
  const { repository, sandbox } = makeSession({ f: 'f\n' });
  writeFileSync(join(sandbox, 'new'), 'new\n');
  agtOk(repository, 'accept', 's1');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'of a person');
  const agent = agentIn(repository, 'claude-code', 'c-1');
  agent.says('tidy');
  agent.begins('1');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  agent.ends('1');
  agent.stops();
  expect(agtOk(repository, 'status')).toContain('claude has moved branch main');
});

test("an agent's own commit that it drops is named from the next turn on", () => {
  const folder = makeRepository({ a: 'start\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  const call = (id: string, ...words: string[]) => {
    agent.begins(id);
    git(folder, ...words);
    agent.ends(id);
  };
  agent.says('work');
  call('1', 'commit', '-q', '--allow-empty', '-m', 'by the agent');
  call('2', 'reset', '-q', '--hard', 'HEAD~1');
  expect(agtOk(folder, 'status')).not.toContain('has moved branch');
  call('3', 'commit', '-q', '--allow-empty', '-m', 'once more');
  agent.stops();
  agent.says('go on');
  call('4', 'commit', '-q', '--allow-empty', '--amend', '-m', 'in better words');
  agent.says('and on');
  call('5', 'commit', '-q', '--allow-empty', '-m', 'more');
  expect(agtOk(folder, 'status')).not.toContain('has moved branch');
  const last = git(folder, 'rev-parse', 'HEAD').slice(0, 10);
  call('6', 'reset', '-q', '--hard', 'HEAD~2');
  expect(agtOk(folder, 'status')).toContain(`claude has moved branch main, which was at ${last}`);
});
