/** An undo of a turn that has solved a conflict of git does not write the markers of that conflict without being asked. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';

test.each(['merge', 'rebase'])('a conflict of a %s', (way) => {
  const { repository, sandbox } = makeSession({ f: 'line\n', g: 'line\n' });
  const inSandbox = (name: string) => join(sandbox, name);
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  const turn = (prompt: string, act: () => void) => {
    agent.says(prompt);
    agent.begins(prompt);
    act();
    agent.ends(prompt);
    agent.stops();
  };
  turn('first', () => {
    writeFileSync(inSandbox('f'), 'of the agent\n');
    git(sandbox, 'commit', '-qam', 'Agent');
  });
  writeFileSync(join(repository, 'f'), 'of the user\n');
  git(repository, 'commit', '-qam', 'User');
  agt(repository, 'sync', 's1', ...(way === 'rebase' ? ['--rebase'] : []));
  expect(readFileSync(inSandbox('f'), 'utf8')).toContain('<<<<<<< ');
  agtOk(repository, 'autocommit', 's1', '--label', 'half way');
  turn('solve it', () => {
    writeFileSync(inSandbox('f'), 'of both\n');
    git(sandbox, 'add', 'f');
    git(sandbox, '-c', 'core.editor=true', way, '--continue');
    writeFileSync(inSandbox('g'), 'also changed\n');
  });
  const refused = agt(repository, 'undo', 's1', '--turn', '2');
  expect(refused).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr:
      'error: turn 2 has solved conflicts in f, which would be back\nhint: nothing has changed\n' +
      'hint: keep those files: --keep-ours; or have the conflicts back: --write-conflicts\n',
  });
  expect(readFileSync(inSandbox('f'), 'utf8')).toBe('of both\n');
  agtOk(repository, 'undo', 's1', '--turn', '2', '--keep-ours');
  expect(['f', 'g'].map((name) => readFileSync(inSandbox(name), 'utf8'))).toEqual(['of both\n', 'line\n']);
  agtOk(repository, 'undo', 's1');
  agtOk(repository, 'undo', 's1', '--turn', '2', '--write-conflicts');
  expect(readFileSync(inSandbox('f'), 'utf8')).toContain('<<<<<<< ');
  expect(agtOk(repository, 'restore', 's1', 'half way')).toContain(`\na ${way} is in progress there\n`);
});
