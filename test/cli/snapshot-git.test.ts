import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { makeCheckout, reflogs, sh, stateOf } from './checkouts.ts';

test.each([
  ['reset --hard', 'git reset -q --hard HEAD~2'],
  ['reset --mixed', 'git reset -q HEAD~1'],
  ['branch -D', 'git branch -qD topic'],
  [
    'branch -D, and all that only it had',
    'git branch -qD topic; git reflog expire --expire=now --all; git gc -q --prune=now',
  ],
  ['branch -M', 'git branch -M topic other'],
  ['branch -f', 'git branch -qf topic HEAD'],
  ['tag -d', 'git tag -d v1'],
  ['update-ref over a commit of its own', 'git commit -qm x; git update-ref refs/heads/main HEAD~2'],
  ['stash drop', 'git stash drop -q'],
  ['stash drop of an older one', 'git stash drop -q stash@{1}'],
  ['stash clear', 'git stash clear; git gc -q --prune=now'],
  ['stash pop', 'git checkout -q .; git stash pop -q || true'],
  ['rm --cached', 'git rm -qf --cached staged'],
  ['add -A', 'git add -A'],
  ['checkout -f of another branch', 'git checkout -qf topic'],
  ['a detached HEAD and a commit', 'git checkout -q --detach; git commit -qam x'],
  [
    'an orphan branch',
    'git checkout -q --orphan fresh; git rm -rfq .; echo z >z; git add z; git commit -qm z',
  ],
  ['commit --amend', 'git commit -qa --amend -m other'],
  [
    'a rebase that stops',
    'git stash -q; git checkout -q topic; echo other >a; git commit -qam other; git rebase -q main || true',
  ],
  [
    'a merge that stops',
    'git stash -q; git checkout -q topic; echo o >a; git commit -qam o; git merge -q main || true',
  ],
  ['clean and checkout', 'git clean -fdxq; git checkout -q .'],
  ['a deleted index', 'rm .git/index'],
  [
    'a history made anew',
    'git checkout -q --orphan x; git commit -qam x; git branch -D main topic; git branch -m main; git stash clear; git reflog expire --expire=now --all; git gc -q --prune=now',
  ],
  ['rm -rf .git', 'rm -rf .git'],
  [
    'rm -rf .git, git init',
    'rm -rf .git; git init -q; git add .; git -c user.name=x -c user.email=x commit -qm new',
  ],
  ['rm -rf of everything in it', 'rm -rf .git * .[!.]*'],
])('%s', (_, script) => {
  const folder = makeCheckout();
  const before = stateOf(folder);
  const logs = reflogs(folder);
  agtOk(folder, 'snapshot');
  sh(folder, script);
  const after = stateOf(folder);
  expect(after).not.toBe(before);
  const undo = agt(folder, 'undo');
  expect(undo.stderr).not.toMatch(/^error/m);
  expect(stateOf(folder)).toBe(before);
  expect(reflogs(folder)).toEqual(expect.arrayContaining(logs));
  expect(agt(folder, 'redo').stderr).not.toMatch(/^error/m);
  if (!script.startsWith('rm -rf')) expect(stateOf(folder)).toBe(after);
});

test('a rebase in progress goes on after an undo of its abort', () => {
  const folder = makeRepository({ a: '1\n' });
  git(folder, 'checkout', '-qb', 'topic');
  write(join(folder, 'a'), 'topic\n');
  git(folder, 'commit', '-qam', 'topic');
  git(folder, 'checkout', '-q', 'main');
  write(join(folder, 'a'), 'main\n');
  git(folder, 'commit', '-qam', 'main');
  git(folder, 'checkout', '-q', 'topic');
  run('git', ['rebase', '-q', 'main'], { cwd: folder });
  write(join(folder, 'a'), 'half resolved\n');
  agtOk(folder, 'snapshot');
  git(folder, 'rebase', '--abort');
  agtOk(folder, 'snapshot');
  agtOk(folder, 'undo');
  expect(git(folder, 'status')).toContain('rebase in progress');
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('half resolved\n');
  git(folder, 'add', 'a');
  git(folder, '-c', 'core.editor=true', 'rebase', '--continue');
  expect(git(folder, 'log', '--format=%s')).toBe('topic\nmain\nfirst');
});

test('a ref that somebody else has moved stays, and is named', () => {
  const folder = makeCheckout();
  const hook = (event: string, id: string) =>
    run(AGT, ['hook', 'claude-code'], {
      cwd: folder,
      input: JSON.stringify({
        ...{ session_id: 'c', cwd: folder, hook_event_name: event, tool_name: 'Bash' },
        ...{ tool_input: { command: 'x' }, tool_use_id: id, tool_response: {} },
      }),
    });
  agtOk(folder, 'snapshot');
  hook('PreToolUse', '1');
  git(folder, 'branch', '-D', 'topic');
  hook('PostToolUse', '1');
  git(folder, 'commit', '-qm', 'of a person', '--allow-empty'); // between two calls
  git(folder, 'tag', 'by-a-person');
  const head = git(folder, 'rev-parse', 'HEAD');
  hook('PreToolUse', '2');
  write(join(folder, 'a'), 'agent\n');
  hook('PostToolUse', '2');
  const undo = agt(folder, 'undo', '2');
  expect(undo.stderr).not.toMatch(/branch main|tag by-a-person/);
  expect(git(folder, 'rev-parse', 'HEAD')).toBe(head);
  expect(git(folder, 'rev-parse', 'topic')).toBe(git(folder, 'rev-parse', 'HEAD~2'));
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('3\n');
});

test('a ref that the agent has moved after somebody else goes back to where they left it', () => {
  const folder = makeCheckout();
  const agent = agentIn(folder, 'claude-code', 'c-1');
  const call = (id: string, script: string) => {
    agent.begins(id);
    sh(folder, script);
    agent.ends(id);
  };
  git(folder, 'stash');
  agent.says('tidy up');
  call('1', 'echo agent >by-agent');
  write(join(folder, 'a'), 'person\n');
  git(folder, 'commit', '-qam', 'of a person');
  const main = git(folder, 'rev-parse', 'main');
  call('2', 'git checkout -q topic; git branch -qD main');
  const after = stateOf(folder);
  expect(agtOk(folder, 'undo', '--turn', '-n')).toContain(`branch main: would be at ${main.slice(0, 10)}`);
  const undo = agt(folder, 'undo', '--turn');
  expect(undo.stderr).not.toContain('stays');
  expect(git(folder, 'rev-parse', 'HEAD', 'main')).toBe(`${main}\n${main}`);
  expect(git(folder, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
  expect(git(folder, 'diff', '--cached', '--name-only')).toBe('');
  agtOk(folder, 'redo', '--turn');
  expect(stateOf(folder)).toBe(after);
});

test('--files-only and paths leave the repository alone', () => {
  const folder = makeCheckout();
  agtOk(folder, 'snapshot');
  sh(folder, 'git reset -q --hard HEAD~1; git branch -qD topic');
  const refs = git(folder, 'for-each-ref');
  agtOk(folder, 'undo', '--files-only');
  expect(git(folder, 'for-each-ref')).toBe(refs);
  expect(readFileSync(join(folder, 'staged'), 'utf8')).toBe('newer\n');
  agtOk(folder, 'restore', '@{1}', '--', 'a');
  expect(git(folder, 'for-each-ref')).toBe(refs);
});

test('a dry run names refs, and changes none', () => {
  const folder = makeCheckout();
  agtOk(folder, 'snapshot');
  git(folder, 'branch', '-qD', 'topic');
  expect(agtOk(folder, 'undo', '-n')).toMatch(/^branch topic: would be at [0-9a-f]{10}$/m);
  expect(JSON.parse(agtOk(folder, 'undo', '-n', '--json')).refs).toEqual([
    { ref: 'refs/heads/topic', from: null, to: git(folder, 'rev-parse', 'HEAD~1') },
  ]);
  expect(git(folder, 'branch', '--list', 'topic')).toBe('');
});

test('a dry run takes a commit since the last snapshot for somebody else’s only after work of an agent', () => {
  const folder = makeCheckout();
  const commit = (file: string) =>
    sh(folder, `echo 1 > ${file} && git add ${file} && git commit -qm ${file}`);
  const moves = (...args: string[]) => {
    const { stdout, stderr } = agt(folder, 'undo', '2', '--json', ...args);
    return [JSON.parse(stdout).refs, stderr.match(/^warning: branch .*/m)?.[0]];
  };
  agtOk(folder, 'snapshot');
  commit('one');
  agtOk(folder, 'snapshot');
  commit('two');
  const byPerson = moves('-n');
  expect(byPerson[0]).toHaveLength(1);
  expect(moves()).toEqual(byPerson);
  agtOk(folder, 'redo', '2');
  write(join(folder, 'a'), 'agent\n');
  const stop = { session_id: 'c', cwd: folder, hook_event_name: 'Stop' };
  run(AGT, ['hook', 'claude-code'], { cwd: folder, input: JSON.stringify(stop) });
  commit('three');
  const afterAgent = moves('-n');
  expect(afterAgent[1]).toContain('branch main stays at');
  expect(moves()).toEqual(afterAgent);
});

test('a branch that another worktree has checked out stays', () => {
  const main = makeCheckout();
  agtOk(main, 'snapshot');
  git(main, 'branch', '-qf', 'topic', 'main');
  git(main, 'worktree', 'add', '-q', join(makeTempDir(), 'linked'), 'topic');
  expect(agt(main, 'undo', '-n').stderr).toContain('branch topic stays at');
  expect(agt(main, 'undo').stderr).toContain('branch topic stays at');
});

test('HEAD does not go back on a branch that another worktree has by now: it is detached', () => {
  const main = makeCheckout();
  const head = git(main, 'rev-parse', 'HEAD');
  const before = stateOf(main).replace('branch.head main', 'branch.head (detached)');
  agtOk(main, 'snapshot');
  git(main, 'checkout', '-q', '--detach');
  git(main, 'worktree', 'add', '-q', join(makeTempDir(), 'linked'), 'main');
  agtOk(main, 'snapshot', '--label', 'detached');
  for (const how of [['-n'], []])
    expect(agt(main, 'undo', ...how)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('HEAD is detached: another worktree has branch main checked out\n'),
    });
  expect(git(main, 'rev-parse', 'HEAD')).toBe(head);
  expect(stateOf(main)).toBe(before);
});

test('agt status names branches that an agent has moved, and the way back', () => {
  const folder = makeCheckout();
  const agent = agentIn(folder, 'claude-code', 'c-1');
  const at = (name: string) => git(folder, 'rev-parse', name);
  const topic = at('topic');
  const call = (id: string, script: string) => {
    agent.begins(id);
    sh(folder, script);
    agent.ends(id);
  };
  const moved = () =>
    (JSON.parse(agtOk(folder, 'status', '--json')).folder.moved_branches as Moved[]).map(
      ({ branch, from, agent: by }) => [branch, from, by],
    );
  interface Moved {
    readonly branch: string;
    readonly from: string;
    readonly agent: string;
    readonly take_back: string;
  }
  agent.says('go on');
  call('1', 'git commit -qam work; git branch own');
  expect(moved()).toEqual([]);
  call('2', 'git branch -qf topic HEAD');
  call('3', 'git branch -qf topic HEAD~1; git reset -q --soft HEAD~2');
  const worked = at('own'); // has the commit of the agent on top of main
  expect(moved().toSorted()).toEqual([
    ['main', worked, 'claude'],
    ['topic', topic, 'claude'],
  ]);
  const text = agtOk(folder, 'status');
  expect(text).toMatch(/branch .*: claude has moved branch topic, which was at [0-9a-f]{10}\n/);
  expect(text).toContain(`to bring it back: git branch -f topic ${topic.slice(0, 10)}`);
  expect(text).toContain(`to bring it back: git reset --keep ${worked.slice(0, 10)}`);
  sh(folder, `git branch -qf topic ${topic}`);
  expect(moved()).toEqual([['main', worked, 'claude']]);
  const last = at('main');
  call('4', 'git checkout -q --detach; git branch -qD main');
  expect(moved()).toEqual([['main', last, 'claude']]);
});

test('commits of a person after the turn of an agent stay, whoever undoes the turn', () => {
  const folder = makeRepository({ a: '1\n' });
  const hook = (event: string, fields: object = {}) =>
    run(AGT, ['hook', 'claude-code'], {
      cwd: folder,
      input: JSON.stringify({ session_id: 'c', cwd: folder, hook_event_name: event, ...fields }),
    });
  const turn = (prompt: string, script: string) => {
    hook('UserPromptSubmit', { prompt });
    const call = {
      tool_name: 'Bash',
      tool_use_id: prompt,
      tool_input: { command: script },
      tool_response: {},
    };
    hook('PreToolUse', call);
    sh(folder, script);
    hook('PostToolUse', call);
    hook('Stop');
  };
  const own = (name: string) => {
    sh(folder, `echo own >${name}; git add ${name}; git commit -qm ${name}`);
    return git(folder, 'rev-parse', 'HEAD');
  };
  turn('fix a typo', 'echo agent >a');
  const first = own('mine'); // no event has come since
  const undo = agt(folder, 'undo', '--turn');
  expect(undo.stderr).toBe(
    'note: left as your branch has it, because commits since, or a switch of branches, changed it: mine\n',
  );
  expect(git(folder, 'rev-parse', 'HEAD')).toBe(first);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('1\n');
  agtOk(folder, 'redo', '--turn');
  turn('second', 'echo second >b');
  const second = own('other');
  turn('third', 'echo third >c'); // its prompt has captured that commit
  expect(agtOk(folder, 'undo', '--turns', '2', '-n')).not.toContain('branch main');
  agtOk(folder, 'undo', '--turns', '2');
  expect(git(folder, 'rev-parse', 'HEAD')).toBe(second);
  expect(existsSync(join(folder, 'b'))).toBe(false);
});
