/** agt session sweep: which sessions it reverts, and that nothing of them is lost. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, REAL_GIT, write } from '../harness/world.ts';

function metadataFile({ repository, id }: TestSession): string {
  return join(repository, '.git/agt/sessions', `${id}.json`);
}

function metadata(session: TestSession) {
  return JSON.parse(readFileSync(metadataFile(session), 'utf8'));
}

function change(session: TestSession, fields: Record<string, unknown>): void {
  writeFileSync(metadataFile(session), JSON.stringify({ ...metadata(session), ...fields }));
}

function set(session: TestSession, name: string, value: string): void {
  agtOk(session.repository, 'config', 'set', name, value);
}

function swept(session: TestSession, ...options: string[]) {
  return JSON.parse(agtOk(session.repository, 'session', 'sweep', '--json', ...options));
}

test('a sandbox is never reverted, unless agt.autoRevert says so; then when it was idle, with its last changes', () => {
  const session = makeSession();
  const before = git(session.repository, 'rev-parse', 'main');
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  change(session, { last_activity_at: hourAgo });
  expect(swept(session)).toEqual([]);
  set(session, 'agt.autoRevert', 'always');
  set(session, 'agt.sessionTimeout', '2 hours');
  expect(swept(session)).toEqual([]);
  set(session, 'agt.sessionTimeout', '30 minutes');
  const reason = 'nobody has worked in it for 60 minutes';
  expect(swept(session, '-n')).toEqual([{ session_id: 's1', outcome: 'would-revert', reason, error: null }]);
  write(join(session.sandbox, 'new'), 'new\n');
  expect(swept(session)).toEqual([]); // somebody has just worked in it
  set(session, 'agt.sessionTimeout', '0 minutes');
  expect(agtOk(session.repository, 'session', 'sweep')).toMatch(
    /^s1: reverted, because nobody has worked in it for \d seconds?; bring it back: agt undo s1$/,
  );
  expect(metadata(session)).toMatchObject({
    state: 'reverted',
    state_reason: expect.stringMatching(/^nobody has/),
  });
  expect(existsSync(session.folder)).toBe(false);
  expect(git(session.repository, 'rev-parse', 'main')).toBe(before);
  agtOk(session.repository, 'undo', 's1');
  expect(readFileSync(join(session.sandbox, 'new'), 'utf8')).toBe('new\n');
});

test('a command that was killed together with its agt; session new and autocommit --all sweep first', async () => {
  const session = makeSession();
  set(session, 'agt.autoRevert', 'always');
  const child = spawn(AGT, ['run', 's1', '--', 'sh', '-c', 'echo work > work; echo ready; exec sleep 60'], {
    cwd: session.repository,
    env: { ...process.env, AGT_GIT_PATH: REAL_GIT },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  while (metadata(session).owner === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  const { pid } = metadata(session).owner;
  child.kill('SIGKILL');
  expect(swept(session)).toEqual([]); // the command lives on
  process.kill(pid, 'SIGKILL');
  expect(agt(session.repository, 'autocommit', '--all').stderr).toBe(
    `s1: reverted, because its command sh (process ${pid}) has died; bring it back: agt undo s1\n`,
  );
  expect(agtOk(session.repository, 'session', 'cat', 's1', '@{0}:work')).toBe('work');
  agtOk(session.repository, 'session', 'restore', 's1', '--to', '@{0}');
  expect(metadata(session).owner).toBeUndefined();
  change(session, {
    owner: { pid, start: '1', boot: '', place: '', command: 'x', at: '' },
  });
  expect(swept(session)).toEqual([]); // a process in another container
});

test('a failed session, unless agt.keepFailed; a session that cannot be captured stays', () => {
  const session = makeSession();
  set(session, 'agt.autoRevert', 'always');
  change(session, { state: 'failed', state_reason: 'the disk was full' });
  set(session, 'agt.keepFailed', 'true');
  expect(swept(session)).toEqual([]);
  set(session, 'agt.keepFailed', 'false');
  set(session, 'agt.maxFileSize', '1k');
  write(join(session.sandbox, 'large'), Buffer.alloc(2048));
  const outcome = agt(session.repository, 'session', 'sweep');
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stderr).toMatch(
    /^warning: s1: it has failed: the disk was full; agt could not revert it\nerror: cannot capture 1 file/,
  );
  expect(existsSync(join(session.sandbox, 'large'))).toBe(true);
  const made = agt(session.repository, 'new', 's2');
  expect(made.exitCode).toBe(0);
  expect(made.stderr).toMatch(/^warning: s1: .*; agt could not revert it$/m);
  set(session, 'agt.maxFileSize', '1m');
  expect(agt(session.repository, 'new', 's3').stderr).toMatch(
    /^s1: reverted, because it has failed: the disk was full; /,
  );
});
