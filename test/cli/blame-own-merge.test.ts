/** Lines that an agent's own merge or rebase has brought: in agt blame, and in an undo of its turn. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agtOk, git } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

const OLD = Array.from({ length: 12 }, (_, i) => `old ${i}\n`).join('');

test.each([
  ['git merge', 'merge', true],
  ['git rebase', 'rebase', true],
  ['git merge, where nothing is committed', 'merge', false],
])('they are of those who wrote them: %s', (_, command, commits) => {
  const { repository, sandbox } = makeSession({ f: OLD });
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('work');
  agent.begins('1');
  writeFileSync(join(sandbox, 'own'), 'own\n');
  if (commits) {
    git(sandbox, 'add', 'own');
    git(sandbox, 'commit', '-qm', 'own');
  }
  agent.ends('1');
  appendFileSync(join(repository, 'f'), 'of a person\n');
  git(repository, 'commit', '-qam', 'by a person');
  agent.begins('2');
  git(sandbox, command, '-q', 'main');
  const text = readFileSync(join(sandbox, 'f'), 'utf8');
  writeFileSync(join(sandbox, 'f'), text.replace('old 0\n', 'of the agent\n'));
  agent.ends('2');
  agent.stops();
  for (const cwd of [sandbox, repository]) {
    const blamed = agtOk(cwd, 'blame', 'f');
    expect(blamed).toMatch(/\(Ann Author .*\) of a person$/);
    if (cwd === sandbox) expect(blamed).toMatch(/^0+ \(claude s1 turn 1 Bash .*\) of the agent\n/);
  }
  expect(agtOk(sandbox, 'blame', 'own')).toContain('(claude s1 turn 1');
  agtOk(sandbox, 'undo', '--turn', '1');
  expect(readFileSync(join(sandbox, 'f'), 'utf8')).toBe(`${OLD}of a person\n`);
  expect(existsSync(join(sandbox, 'own'))).toBe(false);
});
