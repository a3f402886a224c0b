/**  in a folder where the person has committed after the agent; and back to the start of a session. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
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

test('before the first snapshot is the start: files, HEAD and index go there, and a redo goes forward', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const undo = (...words: string[]) => agtOk(repository, 'undo', 's1', ...words);
  const start = git(repository, 'rev-parse', 'main');
  const isAtStart = () => {
    expect(git(sandbox, 'rev-parse', 'HEAD')).toBe(start);
    expect(git(sandbox, 'status', '--porcelain', '--branch')).toBe('## agt/s1');
  };
  write(join(sandbox, 'a'), '1\n');
  expect(undo('-n')).toMatch(/^M a\n.*: would restore 1 path to \w+$/);
  git(sandbox, 'commit', '-qam', 'of the agent');
  write(join(sandbox, 'new'), '1\n');
  git(sandbox, 'add', 'new');
  agtOk(repository, 'autocommit', 's1');
  expect(undo()).toContain('\nnow at "the start", ');
  isAtStart();
  write(join(sandbox, 'other'), '1\n');
  undo();
  isAtStart();
  agtOk(repository, 'redo', 's1');
  undo();
  expect(agtOk(repository, 'session', 'log', 's1')).toContain('the start');
  expect(agt(repository, 'undo', 's1').stderr).toMatch(/^error: nothing to undo: "s1" is at its start\n/);
  isAtStart();
  agtOk(repository, 'redo', 's1');
  expect(readFileSync(join(sandbox, 'other'), 'utf8')).toBe('1\n');
});

test('back to the start of a session with a submodule, and of one that began from another session', () => {
  const { repository } = makeSession({ a: 'a\n' });
  const sub = makeRepository({ s: 's\n' });
  git(repository, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', sub, 'libs/sub');
  git(repository, 'commit', '-qm', 'sub');
  for (const words of [['s2'], ['s3', '--from', 's2']]) {
    const { sandbox } = JSON.parse(agtOk(repository, 'new', ...words, '--json'));
    write(join(sandbox, 'new'), '1\n');
    agtOk(sandbox, 'autocommit');
    expect(agtOk(sandbox, 'undo')).toContain('verified\nnow at "the start", ');
    expect(git(sandbox, 'status', '--porcelain')).toBe('');
    agtOk(sandbox, 'redo');
  }
});

test('a session that nobody has changed has nothing to undo', () => {
  const { repository } = makeSession({ a: 'a\n' });
  agtOk(repository, 'session', 'new', 's2');
  for (const dryRun of [[], ['-n']])
    expect(agt(repository, 'undo', 's2', ...dryRun).stderr).toMatch(
      /^error: nothing to undo: "s2" is at its /,
    );
});
