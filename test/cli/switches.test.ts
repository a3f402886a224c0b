/** agt.enabled and AGT_OFF, agt.autoSession, and --working-copy auto. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Front, SHELLS } from '../harness/front.ts';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, run, write } from '../harness/world.ts';
import { failures, hook, log, say, silent, toolOf } from '../integrations/hooks.ts';

test('agt.enabled=false and AGT_OFF=1: hooks, guard, autocommits and watch do nothing; git mode goes on', () => {
  const session = makeSession({ a: 'a' });
  const { repository, sandbox } = session;
  const allOff = (env: Record<string, string>) => {
    const off = /^agt is switched off here: agt.enabled is false \(/;
    write(join(sandbox, 'b'), `${Math.random()}`);
    expect(hook(sandbox, 'UserPromptSubmit', { prompt: 'agt undo' }, env)).toEqual(silent);
    expect(hook(sandbox, 'Stop', {}, env)).toEqual(silent);
    const in_ = (cwd: string, ...words: string[]) => run(AGT, words, { cwd, env });
    for (const words of [['autocommit'], ['autocommit', '--all'], ['watch']])
      expect(in_(sandbox, ...words)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(off) });
    expect(in_(sandbox, 'autocommit', '--all', '-q')).toEqual(silent);
    expect(in_(sandbox, 'autocommit', '--json').stdout).toBe('null\n');
    run(join(AGT, '../git'), ['reset', '-q', '--hard'], { cwd: sandbox, env });
    expect(run(join(AGT, '../git'), ['branch'], { cwd: repository, env }).stdout).toBe('* main\n');
    expect(log(session)).toEqual([]);
  };
  agtOk(repository, 'config', 'set', 'agt.enabled', 'false');
  allOff({});
  const [status] = JSON.parse(agtOk(repository, 'config', 'list', '--json')).filter(
    ({ name }: { name: string }) => name === 'agt.enabled',
  );
  expect(status).toMatchObject({ value: 'false' });
  agtOk(repository, 'config', 'unset', 'agt.enabled');
  allOff({ AGT_OFF: '1' });
  // A variable that a project's .env file may have set switches nothing off.
  const event = { session_id: 'c1', cwd: sandbox, hook_event_name: 'AfterAgent' };
  const settings = { cwd: '/', env: { AGT_OFF: '1' }, input: Buffer.from(JSON.stringify(event)) };
  expect(run(AGT, ['hook', 'gemini'], settings)).toEqual({ ...silent, stdout: '' });
  expect(log(session)).toHaveLength(1);
  toolOf(sandbox, 'Write', { file_path: 'a' });
  expect(failures()).toEqual([]);
});

test('the front answers AGT_OFF without agt, but for worktrees and where a project may have set it', () => {
  const { sandbox } = makeSession({ a: 'a' });
  const front = new Front();
  const starts = (tool: string, name: string, off: string) => {
    const input = Buffer.from(JSON.stringify({ hook_event_name: name, cwd: sandbox }));
    return front.starts(sandbox, ['hook', tool], { env: { AGT_OFF: off }, input });
  };
  expect(SHELLS.length).toBeGreaterThan(0);
  expect(starts('claude-code', 'UserPromptSubmit', '1')).toBe(false);
  expect(starts('claude-code', 'UserPromptSubmit', '0')).toBe(true);
  expect(starts('claude-code', 'WorktreeCreate', '1')).toBe(true);
  expect(starts('gemini', 'AfterAgent', '1')).toBe(true);
  expect(front.starts(sandbox, ['autocommit'], { env: { AGT_OFF: '1' } })).toBe(true);
});

test('agt.autoSession=in-place: an agent that starts in a checkout begins a session there, once', () => {
  const repository = makeRepository({ a: 'a' });
  const branch = () => git(repository, 'branch', '--show-current').trim();
  const start = () => hook(repository, 'SessionStart', { source: 'startup' });
  expect(start()).toEqual(silent);
  expect(branch()).toBe('main');
  agtOk(repository, 'config', 'set', 'agt.autoSession', 'in-place');
  expect(start()).toEqual(silent);
  const [session] = JSON.parse(agtOk(repository, 'list', '--json'));
  expect(branch()).toBe(`agt/${session.session_id}`);
  expect(start()).toEqual(silent);
  say(repository, 'make it blue');
  write(join(repository, 'b'), 'b');
  toolOf(repository, 'Write', { file_path: 'b' });
  expect(JSON.parse(say(repository, 'agt undo').stdout).reason).toContain('undone: turn "make it blue"');
  expect(existsSync(join(repository, 'b'))).toBe(false);
  expect(JSON.parse(agtOk(repository, 'list', '--json'))).toHaveLength(1);
  agtOk(repository, 'reject', session.session_id);
  expect(branch()).toBe('main');
  git(repository, 'checkout', '-q', '--detach');
  expect(start()).toEqual(silent);
  expect(failures()).toMatchObject([{ reason: expect.stringContaining('HEAD is detached') }]);
});

test('--working-copy auto is a worktree, whatever the setting says', () => {
  const repository = makeRepository({ a: 'a' });
  agtOk(repository, 'config', 'set', 'fs.workingCopy', 'in-place');
  agtOk(repository, 'new', 's1', '--working-copy', 'auto');
  expect(git(repository, 'branch', '--show-current').trim()).toBe('main');
  expect(agt(repository, 'run', 's1', '--working-copy', 'auto', '--', 'true').exitCode).toBe(0);
});
