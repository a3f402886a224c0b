/** Undo in a folder where the person has committed after the agent; and back to the start of a session. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { agt, agtOk, GIT_MODE, git, makeRepository, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { afterStep, folderWithCommits } from './after-step.ts';
import { makeFolder } from './turns-in-folder.ts';

test('after a commit of the person, an undo takes back the last step of the agent, and the commit stays', () => {
  const folder = afterStep('a');
  git(folder, 'commit', '-qam', 'of a person');
  const main = git(folder, 'rev-parse', 'main');
  expect(agtOk(folder, 'snapshot', 'status')).toMatch(/^changed +no file since, but in git: branch main$/m);
  const shown = agt(folder, 'undo', '-n');
  expect(shown.stdout).toMatch(/^M a\n.*would restore 1 path/);
  const undo = agt(folder, 'undo');
  for (const { stderr } of [shown, undo]) expect(stderr).toBe('');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('start\n');
  agtOk(folder, 'redo');
  expect(git(folder, 'status', '--porcelain')).toBe('');
  expect(git(folder, 'rev-parse', 'main')).toBe(main);
});

test('after a commit in the midst of undos, a redo by turns says that the rest of the turn does not come back', () => {
  const { folder, turn, edit } = makeFolder();
  turn('one', edit('a', '1\n'));
  turn('two', edit('new', ''), edit('a', '2\n'));
  const [, rest] = /^@\{0\} .*? (\w{10}) .*do 3/m.exec(agtOk(folder, 'snapshot', 'list')) ?? [];
  agtOk(folder, 'undo', '--turn');
  agtOk(folder, 'redo');
  git(folder, 'add', '--all');
  git(folder, 'commit', '-qm', 'of a person');
  agtOk(folder, 'undo');
  const part = `redone: (Bash: do 2), not the rest of turn "two", which is in ${rest}`;
  expect(agtOk(folder, 'redo', '--turn', '-n')).toContain(`\nwould be ${part}`);
  expect(agtOk(folder, 'redo', '--turn')).toContain(`\n${part}\nnow at `);
});

test('a restore that has moved a branch is taken back, and the branch stays from then on', () => {
  const folder = folderWithCommits();
  const [main, first] = git(folder, 'rev-parse', 'main', 'main~1').split('\n');
  const steps: [string[], string | undefined][] = [
    [['restore', '@'], first],
    [['undo'], main],
    [['undo'], main],
    [['redo', '2'], first],
    [['undo', '2'], first],
  ];
  for (const [words, at] of steps) {
    agtOk(folder, ...words);
    expect([words, git(folder, 'rev-parse', 'main')]).toEqual([words, at]);
  }
});

test('a branch that a person has deleted stays so, with a command to bring it back; a moment is nothing undone', () => {
  const folder = afterStep('a');
  const own = git(folder, 'commit-tree', '-m', 'mine', 'HEAD^{tree}').slice(0, 10);
  git(folder, 'branch', 'wild', own);
  run(GIT_MODE, ['branch', '-qD', 'wild'], { cwd: folder });
  const shown = agt(folder, 'undo', '-n');
  const undo = agt(folder, 'undo');
  for (const { stderr } of [shown, undo])
    expect(stderr).toBe(
      `warning: branch wild stays deleted: you or another program deleted it since; to bring it back: git branch wild ${own}\n`,
    );
  expect(agtOk(folder, 'snapshot', 'list')).toContain('before git branch -qD wild');
  expect(undo.stdout).toContain('\nundone: (Bash: do 1)\nnow at ');
});

test('an undo names the edits of a person that it takes away from the disk, and so does the dry run', () => {
  const folder = folderWithCommits();
  write(join(folder, 'mine'), 'more\n');
  const shown = agt(folder, 'undo', '-n');
  expect(shown.stdout).toMatch(
    /^M mine\n.*would restore 1 path to \w+\nwould be undone: changes by you or another program\n$/,
  );
  const own = 'warning: that takes back your own changes, or those of another program: mine (';
  expect(shown.stderr).toContain(`${own}since the last snapshot)`);
  for (const { stderr } of [shown, agt(folder, 'undo')]) {
    expect(stderr).toContain(own);
    expect(stderr).not.toContain('branch main');
  }
  const [, command = ''] = /^hint: to bring one back then: agt (.*)$/m.exec(shown.stderr) ?? [];
  agtOk(folder, ...command.replaceAll("'", '').split(' '));
  expect(git(folder, 'status', '--porcelain')).toBe(' M mine');
});

test('an undo after an acceptance leaves the branch, and names the command that takes the acceptance back', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  agtOk(repository, 'snapshot');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'of a person');
  const own = git(repository, 'rev-parse', 'main');
  write(join(sandbox, 'a'), 'agent\n');
  agtOk(repository, 'accept', 's1');
  const main = git(repository, 'rev-parse', 'main');
  for (const words of [['-n'], []]) {
    write(join(repository, 'own'), 'own\n');
    const undo = agt(repository, 'undo', ...words);
    expect(undo.stdout).not.toContain('branch main');
    expect(undo.stderr).not.toContain('branch main');
    expect(undo.stderr).toContain('the acceptance of "s1" stays; to take it back: agt unaccept s1\n');
  }
  expect(git(repository, 'rev-parse', 'main')).toBe(main);
  agtOk(repository, 'unaccept', 's1');
  expect(git(repository, 'rev-parse', 'main')).toBe(own);
  expect(git(repository, 'status', '--porcelain')).toBe('');
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
  expect(undo('-n')).toMatch(/^M a\n.*: would restore 1 path to \w+\n?$/);
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
    expect(agtOk(sandbox, 'undo')).toMatch(/verified\n( {2}.*\n)+now at "the start", /);
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

test('an undo of a turn offers no command that would drop later commits', () => {
  const folder = makeRepository({ a: 'start\n' });
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('first');
  agent.begins('1');
  write(join(folder, 'a'), 'agent\n');
  git(folder, 'commit', '-qam', 'by the agent');
  agent.ends('1');
  agent.stops();
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'mine');
  const { stderr } = agt(folder, 'undo', '--turn', '1', '-n');
  expect(stderr).toContain('and there are newer commits on it');
  expect(stderr).not.toContain('git reset');
  git(folder, 'reset', '-q', '--hard', 'HEAD~2');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'mine alone');
  expect(agt(folder, 'undo', '--turn', '1', '-n').stderr).not.toContain('branch main');
});

test('status says that an agent has replaced the repository, and its command brings it back', () => {
  const folder = makeRepository({ a: 'start\n' });
  git(folder, 'branch', 'x');
  const head = git(folder, 'rev-parse', 'HEAD');
  const agent = agentIn(folder, 'claude-code', 'c-1');
  agent.says('anew');
  agent.begins('1');
  rmSync(join(folder, '.git'), { recursive: true });
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'other');
  agent.ends('1');
  agent.stops();
  const told = agtOk(folder, 'status');
  expect(told.match(/^branch /gm)).toHaveLength(1);
  expect(told).toContain(
    `claude has replaced the repository, in which branch main was at ${head.slice(0, 10)}`,
  );
  const command = /to bring it back: agt (.*)/.exec(told)?.[1] ?? '';
  const back = agtOk(folder, ...command.split(' '));
  expect(back).toContain('restored the index, verified');
  expect(back).toMatch(/^to take this back: agt /m);
  expect(git(folder, 'rev-parse', 'HEAD', 'x')).toBe(`${head}\n${head}`);
});

test.each([['undo'], ['undo', '--turn']])(
  'a commit and an edit of the person between the last call of the agent and its end: %s %s',
  (...words) => {
    const folder = makeRepository({ a: 'a\n', b: 'b\n' });
    const agent = agentIn(folder, 'claude-code', 'c-1');
    agent.says('Job');
    agent.begins('1');
    write(join(folder, 'a'), 'agent\n');
    agent.ends('1');
    write(join(folder, 'mine'), 'mine\n');
    git(folder, 'add', 'mine');
    git(folder, 'commit', '-qm', 'Mine');
    write(join(folder, 'b'), 'mine\n');
    agent.stops();
    const main = git(folder, 'rev-parse', 'main');
    const undo = agt(folder, ...words);
    expect(undo.stderr).toContain('that takes back your own changes');
    expect(undo.stderr).not.toContain('branch main');
    expect(git(folder, 'rev-parse', 'main')).toBe(main);
    expect(git(folder, 'ls-files', '--deleted')).toBe('');
  },
);

test.each([[['undo', '--turn']], [['undo']], [['restore', 'Stage it']]])(
  'what an agent has staged goes with its files, on top of a commit of the person: %j',
  (words) => {
    const folder = makeRepository({ a: 'a\n', g: 'g\n' });
    const agent = agentIn(folder, 'claude-code', 'c-1');
    agent.says('Stage it');
    agent.begins('1');
    write(join(folder, 'n'), 'n\n');
    git(folder, 'mv', 'a', 'a2');
    git(folder, 'add', 'n');
    agent.ends('1');
    agent.stops();
    write(join(folder, 'g'), 'mine\n');
    git(folder, 'commit', '-qm', 'mine', 'g');
    agtOk(folder, ...words);
    // A restore brings all files of the snapshot back.
    expect(git(folder, 'status', '--porcelain').trim()).toBe(words[0] === 'undo' ? '' : 'M g');
    agtOk(folder, words[0] === 'undo' ? 'redo' : 'undo');
    expect(git(folder, 'status', '--porcelain').trim()).toBe('R  a -> a2\nA  n');
  },
);
