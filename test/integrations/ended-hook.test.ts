/** Hooks that an agent ends, by a signal that agt hears or by one that nobody hears. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownerText } from '../../src/disk/lock-owner.ts';
import { makeSession } from '../harness/session.ts';
import { AGT, agtOk, write } from '../harness/world.ts';
import { catches, failures, hook, log, metadata, SIGHUP, silent, stateDir, until } from './hooks.ts';

test('an agent ends a hook that takes too long: the snapshot comes all the same, and the log has the reason', async () => {
  const session = makeSession();
  const lock = join(session.repository, '.git/agt/locks/s1');
  write(lock, ownerText());
  write(join(session.sandbox, 'a'), 'a');
  const child = spawn(AGT, ['hook', 'claude-code'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const event = {
    hook_event_name: 'PostToolUse',
    session_id: 'c1',
    cwd: session.sandbox,
    tool_name: 'Write',
  };
  child.stdin.end(JSON.stringify({ ...event, tool_use_id: 't1', tool_input: { file_path: 'a' } }));
  // Node itself catches SIGTERM, and agt the others.
  await until(() => catches(child.pid ?? 0, SIGHUP));
  const ended = new Promise((resolve) => child.on('exit', (_, signal) => resolve(signal)));
  child.kill('SIGTERM');
  expect(await ended).toBe('SIGTERM');
  const status = () => JSON.parse(agtOk(session.repository, 'status', '--json')).hook_failures;
  expect(status()).toMatchObject([{ event: 'PostToolUse', pending: true }]);
  rmSync(lock);
  await until(() => log(session).length > 0);
  await until(() => status().length === 0);
  expect(log(session)).toMatchObject([{ tool: 'Write', added: 1 }]);
  expect(failures()).toMatchObject([
    { event: 'PostToolUse', reason: expect.stringMatching(/^the agent ended agt before/) },
  ]);
});

test('a session that somebody ends while a hook waits for it is no failure of the hook', async () => {
  const session = makeSession();
  const lock = join(session.repository, '.git/agt/locks/s1');
  write(lock, ownerText());
  const child = spawn(AGT, ['hook', 'claude-code'], { stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.end(JSON.stringify({ hook_event_name: 'Stop', cwd: session.sandbox }));
  await until(() => catches(child.pid ?? 0, SIGHUP));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const rejected = JSON.stringify({ ...metadata(session), state: 'rejected' });
  // The hook may read the record at any moment: it is replaced whole, as agt does.
  write(join(session.folder, 'record'), rejected);
  renameSync(join(session.folder, 'record'), join(session.repository, '.git/agt/sessions/s1.json'));
  rmSync(lock);
  expect(await ended).toBe(0);
  expect(failures()).toEqual([]);
});

test('a hook that its agent kills is known until the next snapshot is complete', async () => {
  const session = makeSession();
  const lock = join(session.repository, '.git/agt/locks/s1');
  const hooks = join(stateDir(), 'hooks');
  mkdirSync(hooks, { recursive: true });
  write(lock, ownerText());
  const child = spawn(AGT, ['hook', 'claude-code'], { stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.end(JSON.stringify({ hook_event_name: 'Stop', cwd: session.sandbox }));
  await until(() => catches(child.pid ?? 0, SIGHUP));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  rmSync(lock);
  const status = () => agtOk(session.repository, 'status');
  for (const _ of [1, 2])
    expect(status()).toMatch(/hook of claude-code \(Stop\): agt was killed before its snapshot/);
  expect(readdirSync(hooks).filter((name) => name.startsWith('.running'))).toEqual([]);
  expect(hook(session.sandbox, 'Stop')).toEqual(silent);
  expect(status()).not.toContain('agt was killed');
  expect(readdirSync(hooks).filter((name) => name.startsWith('.running'))).toEqual([]);
  rmSync(hooks, { recursive: true });
  failures();
});
