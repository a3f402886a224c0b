/** Agents that are killed, or that a harness calls failed; commands outside of repositories. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';

const KILLED = ['--', 'sh', '-c', 'echo work > work; kill -9 $$'];

const shown = (cwd: string, id: string) => JSON.parse(agtOk(cwd, 'session', 'show', id, '--json'));

test('an agent that is killed: its session is failed at once, with all of its work', () => {
  const { repository, sandbox } = makeSession();
  const because = 'its command sh was ended by SIGKILL';
  expect(agt(repository, 'run', 's1', ...KILLED)).toMatchObject({
    exitCode: 137,
    stderr: `s1: failed, because ${because}\n`,
  });
  expect(shown(repository, 's1')).toMatchObject({ state: 'failed', state_reason: because });
  expect(agtOk(repository, 'session', 'cat', 's1', '@{0}:work')).toBe('work');
  // An autocommit of cron says nothing of the agent.
  write(join(sandbox, 'more'), '');
  agtOk(repository, 'autocommit', 's1');
  expect(shown(repository, 's1').state).toBe('failed');
  // A shell around the agent ends as the agent did.
  const inShell = agt(repository, 'run', 's1', '--', 'sh', '-c', 'sh -c "kill -9 \\$\\$"; exit $?');
  expect(inShell).toMatchObject({ exitCode: 137, stderr: expect.stringContaining('s1: failed') });
  agt(repository, 'run', 's1', '--', join(sandbox, 'no-such-program'));
  expect(shown(repository, 's1').state).toBe('failed');
  const untilActive = `until ${AGT} session show --json | grep '"state": "active"'; do sleep 0.1; done`;
  agtOk(repository, 'run', 's1', '--', 'timeout', '60', 'sh', '-c', untilActive);
  expect(shown(repository, 's1')).toMatchObject({ state: 'active', state_reason: null });
  // A signal that a person sends is no failure.
  agtOk(repository, 'config', 'set', 'agt.autoRevert', 'always');
  expect(agt(repository, 'run', 's1', '--', 'sh', '-c', 'exit 143').stderr).toBe('');
  expect(existsSync(sandbox)).toBe(true);
  expect(agt(repository, 'run', 's1', ...KILLED).stderr).toBe(
    `s1: reverted, because it has failed: ${because}; bring it back: agt undo s1\n`,
  );
  expect(existsSync(sandbox)).toBe(false);
  agtOk(repository, 'undo', 's1');
  expect(agtOk(repository, 'session', 'sweep')).toBe('');
  expect(shown(repository, 's1').state).toBe('active');
});

test('in your checkout, a killed agent leaves your branch and your files, unless agt.keepFailed', () => {
  const repository = makeRepository({ a: 'a' });
  write(join(repository, 'mine'), 'mine');
  agtOk(repository, 'config', 'set', 'agt.keepFailed', 'true');
  agtOk(repository, 'new', 'p', '--working-copy', 'in-place');
  expect(agt(repository, 'run', 'p', ...KILLED).stderr).toMatch(/^p: failed/);
  expect(git(repository, 'branch', '--show-current').trim()).toBe('agt/p');
  agtOk(repository, 'config', 'unset', 'agt.keepFailed');
  expect(agt(repository, 'session', 'fail', 'p', '--reason', 'no answer').stderr).toMatch(
    /^p: reverted, because it has failed: no answer; bring it back/,
  );
  expect(git(repository, 'branch', '--show-current').trim()).toBe('main');
  expect(readFileSync(join(repository, 'mine'), 'utf8')).toBe('mine');
  expect(existsSync(join(repository, 'work'))).toBe(false);
  agtOk(repository, 'undo', 'p');
  expect(agtOk(repository, 'session', 'cat', 'p', '@{0}:work')).toBe('work');
});

test('agt session fail marks a sandbox, which stays, and needs a reason', () => {
  const { repository, sandbox } = makeSession();
  expect(agt(repository, 'session', 'fail', 's1').exitCode).toBe(2);
  expect(agt(sandbox, 'session', 'fail', '--reason', 'no answer')).toMatchObject({
    exitCode: 0,
    stderr: 's1: failed, because no answer\n',
  });
  expect(shown(repository, 's1')).toMatchObject({ state: 'failed', state_reason: 'no answer' });
  expect(existsSync(sandbox)).toBe(true);
  agtOk(repository, 'remove', 's1');
  expect(agt(repository, 'session', 'fail', 's1', '--reason', 'x').stderr).toMatch(/is already removed/);
});

test('no command of a person mends a failed agent, only its next step', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const remote = makeTempDir('remote');
  git(remote, 'init', '-q', '--bare');
  write(join(sandbox, 'a'), 'b\n');
  agtOk(repository, 'autocommit', 's1');
  write(join(sandbox, 'a'), 'c\n');
  agtOk(repository, 'session', 'fail', 's1', '--reason', 'no answer');
  const facts = () => {
    const { state, state_reason: reason, state_at: at } = shown(repository, 's1');
    return [state, reason, at];
  };
  const failed = facts();
  expect(failed.slice(0, 2)).toEqual(['failed', 'no answer']);
  expect(agtOk(repository, 'activity')).toMatch(/ s1 +- +- +failed: no answer$/m);
  expect(agt(repository, 'accept', 's1', '-n').stderr).toBe('warning: the session had failed: no answer\n');
  const line = [
    ['undo', 's1'],
    ['restore', 's1', '@{1}', '--', 'sandbox/a'],
    ['accept', 's1', '--keep'],
    ['sync', 's1'],
    ['session', 'unaccept', 's1'],
    ['session', 'push', 's1', remote, '--release', '--plain'],
    ['session', 'pull', 's1', remote],
  ];
  for (const words of line) {
    agtOk(repository, ...words);
    if (!words.includes('--release')) expect([words, ...facts()]).toEqual([words, ...failed]);
  }
  for (const end of ['reject', 'remove']) {
    agtOk(repository, end, 's1');
    agtOk(repository, 'undo', 's1');
    expect([end, ...facts()]).toEqual([end, ...failed]);
  }
});

test('outside a repository --if-repo runs the command, unrecorded', () => {
  const cwd = makeTempDir();
  for (const words of [['run'], ['session', 'exec', '--tool', 'Bash']]) {
    const line = ['--', 'sh', '-c', 'echo out; echo err >&2; exit 3'];
    expect(agt(cwd, ...words, ...line).stderr).toMatch(/^error: not in a git repository/);
    expect(agt(cwd, ...words, '--if-repo', ...line)).toMatchObject({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  }
  expect(run('sh', ['-c', 'ls -A'], { cwd }).stdout).toBe('');
});

test('AGENT is the program that ran, not the profile, in text and JSON', () => {
  const repository = makeRepository({ a: 'a\n' });
  agtOk(repository, 'new', 's1', '--profile', 'claude-code', '-q');
  agtOk(repository, 'new', 's2', '-q');
  const agents = () =>
    JSON.parse(agtOk(repository, 'list', '--json')).map((one: { agent: string | null }) => one.agent);
  expect(agents()).toEqual([null, null]);
  expect(agtOk(repository, 'list')).not.toContain('AGENT');
  agtOk(repository, 'run', 's1', '--', 'ls');
  expect(agents()).toEqual(['ls', null]);
  expect(agtOk(repository, 'list')).toMatch(/^s1 +active +ls .*\ns2 +active +- /m);
});
