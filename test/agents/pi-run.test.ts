/** pi itself, in agt session run. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { git } from '../harness/world.ts';
import { TestAgent } from './agent.ts';
import { script } from './model.ts';
import { PROGRAM, piProblem, writeModels } from './pi-rpc.ts';

beforeEach(({ skip }) => skip(piProblem !== undefined, piProblem));

test('agt session run keeps the conversation in the session, and lets pi call agt', () => {
  const agent = new TestAgent({
    name: 'pi',
    program: PROGRAM,
    prepare: writeModels,
    env: () => ({ PI_OFFLINE: '1' }),
    args: (prompt) => ['--model', 'stub/stub', '-p', prompt],
    settings: '.pi/agent/extensions/agt.ts',
  });
  const { repository, sandbox } = makeSession();
  const turn = agent.runInSession(
    sandbox,
    script([{ tool: 'bash', args: { command: 'echo 1 > one' } }, { text: 'done' }]),
  );
  expect(turn).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/done\s*$/) });
  expect(agent.log(sandbox).find(({ agent: by, tool }) => by === 'pi' && tool === 'bash')).toBeDefined();
  const files = git(repository, 'ls-tree', '-r', '--name-only', 'agtsessions/s1', 'xdg/', 'sandbox/one');
  expect(files).toMatch(/^xdg\/pi\/.*\.jsonl$/m);
  expect(files).toMatch(/^sandbox\/one$/m);
  expect(existsSync(join(agent.home, '.pi/agent/extensions'))).toBe(false);
});
