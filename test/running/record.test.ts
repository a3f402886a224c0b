/** agt session record and exec: each call of a tool is a snapshot, and agt's own failures are not the tool's. */
import { spawn } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agtWithPermissions, permissionsProblem } from '../harness/privileges.ts';
import { makeSession, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';

function log({ repository, id }: TestSession) {
  return JSON.parse(agtOk(repository, 'session', 'log', id, '--json')) as Record<string, unknown>[];
}

function metadata({ repository, id }: TestSession) {
  return JSON.parse(readFileSync(join(repository, '.git/agt/sessions', `${id}.json`), 'utf8'));
}

function exec({ sandbox }: TestSession, script: string, ...options: string[]) {
  return agt(sandbox, 'session', 'exec', '--tool', 'Bash', ...options, '--', 'sh', '-c', script);
}

test('a call is a snapshot with trailers, also if it changed nothing', () => {
  const session = makeSession();
  write(join(session.sandbox, 'a'), 'a\n');
  const record = (...args: string[]) => agt(session.sandbox, 'session', 'record', '--tool', ...args);
  expect(record('Edit', '--call-id', 'call-1', '--summary', 'two\nlines').stdout).toMatch(
    /^s1: captured 1 path as /,
  );
  expect(record('Look').stdout).toMatch(/^s1: captured as \w+ \(no file changed\)$/m);
  expect(record('Bash', '--failed', '--if-changed').stdout).toBe('s1: nothing changed\n');
  write(join(session.sandbox, 'a'), 'b\n');
  expect(record('Bash', '--failed', '--if-changed', '--summary', 'npm test').exitCode).toBe(0);
  expect(log(session)).toMatchObject([
    { tool: 'Bash', outcome: 'failed', call_id: null, summary: 'npm test', modified: 1 },
    { tool: 'Look', outcome: 'succeeded', modified: 0 },
    { tool: 'Edit', outcome: 'succeeded', call_id: 'call-1', summary: 'two lines', added: 1 },
  ]);
  const shown = agtOk(session.repository, 'session', 'log', 's1');
  expect(shown).toMatch(/\(failed Bash: npm test\)$/m);
  expect(shown).toMatch(/\(Edit: two lines\)$/m);
  const message = git(session.repository, 'log', '-1', '--format=%s%n%b', 'agtsessions/s1~2');
  expect(message).toMatch(
    /^Edit: two lines\n(.*\n)*Agt-Tool: Edit\nAgt-Call: call-1\nAgt-Summary: two lines\nAgt-Outcome: succeeded/,
  );
  expect(agt(session.sandbox, 'session', 'record').exitCode).toBe(2);
  expect(record('').stderr).toMatch(/^error: --tool is empty/);
});

test('tools that agt.readOnlyTools names record nothing', () => {
  const session = makeSession();
  agtOk(session.repository, 'config', 'set', 'agt.readOnlyTools', 'Read, mcp__*');
  write(join(session.sandbox, 'a'), 'a\n');
  for (const tool of ['Read', 'mcp__get']) {
    expect(agt(session.sandbox, 'session', 'record', '--tool', tool)).toMatchObject({
      exitCode: 0,
      stdout: '',
    });
    expect(agt(session.sandbox, 'session', 'exec', '--tool', tool, '--', 'sh', '-c', 'exit 6').exitCode).toBe(
      6,
    );
  }
  expect(log(session)).toEqual([]);
  agtOk(session.sandbox, 'session', 'record', '--tool', 'Reader');
  expect(log(session)).toHaveLength(1);
});

test('exec runs the tool and records it; a tool that fails leaves the session active', () => {
  const session = makeSession();
  expect(exec(session, 'echo 1 > one; echo out', '--summary', 'first')).toMatchObject({
    exitCode: 0,
    stdout: 'out\n',
    stderr: '',
  });
  expect(exec(session, 'echo 2 > two; exit 9')).toMatchObject({ exitCode: 9, stderr: '' });
  expect(agt(session.sandbox, 'session', 'exec', '--tool', 'X', '--', 'no-such')).toMatchObject({
    exitCode: 127,
  });
  expect(log(session)).toMatchObject([
    { tool: 'X', outcome: 'failed' },
    { tool: 'Bash', outcome: 'failed', added: 1 },
    { tool: 'Bash', outcome: 'succeeded', summary: 'first', added: 1 },
    { before: 'Bash' },
  ]);
  expect(metadata(session).state).toBe('active');
});

test('a signal during exec: it reaches the tool, the call is recorded as failed, then agt ends by it', async () => {
  const session = makeSession();
  const args = [
    'session',
    'exec',
    '--tool',
    'Bash',
    '--',
    'sh',
    '-c',
    'echo half > half; echo ready; exec sleep 60',
  ];
  const child = spawn(AGT, args, { cwd: session.sandbox, env: { ...process.env, AGT_GIT_PATH: REAL_GIT } });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const end = new Promise((resolve) => child.on('exit', (_, signal) => resolve(signal)));
  child.kill('SIGTERM');
  expect(await end).toBe('SIGTERM');
  expect(log(session)[0]).toMatchObject({ tool: 'Bash', outcome: 'failed', added: 1 });
});

test('agt cannot record: the exit code stays, the session is failed with the reason, until agt can', ({
  skip,
}) => {
  const problem = permissionsProblem();
  skip(problem !== undefined, problem);
  const session = makeSession();
  const objects = join(session.repository, '.git/objects');
  const pack = join(objects, 'pack');
  const asUser = (script: string) =>
    agtWithPermissions(session.sandbox, 'session', 'exec', '--tool', 'Bash', '--', 'sh', '-c', script);
  chmodSync(pack, 0o555);
  chmodSync(objects, 0o555);
  const outcome = asUser('echo x > x; exit 4');
  expect(outcome.exitCode).toBe(4);
  expect(outcome.stderr).toMatch(
    /^error: .*\n(hint: .*\n)*hint: agt could not record the last step of session "s1"; try again: agt autocommit s1\n$/,
  );
  expect(metadata(session)).toMatchObject({
    state: 'failed',
    state_reason: expect.stringMatching(/./),
    state_at: expect.any(String),
  });
  expect(asUser('true').exitCode).toBe(0);
  expect(agtWithPermissions(session.sandbox, 'session', 'record', '--tool', 'Edit').exitCode).not.toBe(0);
  chmodSync(objects, 0o755);
  chmodSync(pack, 0o755);
  expect(run(AGT, ['session', 'record', '--tool', 'Edit'], { cwd: session.sandbox }).exitCode).toBe(0);
  expect(metadata(session)).toMatchObject({ state: 'active' });
  expect(metadata(session).state_reason).toBeUndefined();
  expect(agtOk(session.repository, 'session', 'cat', 's1', '@{0}:x')).toBe('x');
});
