/** agt session run and env: the command's own streams, signals and exit code, and autocommits around it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { makeSession, sessionIn, type TestSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function metadata({ repository, id }: TestSession) {
  return JSON.parse(readFileSync(join(repository, '.git/agt/sessions', `${id}.json`), 'utf8'));
}

function captured({ repository, id }: TestSession, path: string): string {
  return agt(repository, 'session', 'cat', id, `@{0}:${path}`).stdout;
}

/** Starts agt, and waits for the first line of its output. */
async function start(session: TestSession, ...args: string[]): Promise<ChildProcess> {
  const env = { ...process.env, AGT_GIT_PATH: REAL_GIT };
  const child = spawn(AGT, args, { cwd: session.repository, env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return child;
}

function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })));
}

test('the command runs in the sandbox with its own streams, and its exit code is that of agt', () => {
  const session = makeSession();
  const script =
    'cat; pwd; git branch --list --format="%(refname)" "agtsessions/*"; command -v git; echo err >&2; echo new > new; exit 3';
  const outcome = run(AGT, ['run', 's1', '--', 'sh', '-c', script], {
    cwd: session.repository,
    input: 'from stdin\n',
    env: { GIT_DIR: undefined },
  });
  expect(outcome.stdout).toBe(`from stdin\n${session.sandbox}\n${session.repository}/.git/agt/bin/git\n`);
  expect(outcome.stderr).toBe('err\n');
  expect(outcome.exitCode).toBe(3);
  expect(captured(session, 'new')).toBe('new\n');
  expect(metadata(session).owner).toBeUndefined();
  expect(agt(session.repository, 'run', 's1', '--', 'no-such-program').stderr).toBe(
    'error: cannot run "no-such-program": no such file or directory\n',
  );
  expect(agt(session.repository, 'run', 's1', '--', 'no-such-program').exitCode).toBe(127);
  const without = agt(session.repository, 'run', 's1');
  expect(without.exitCode).toBe(2);
  expect(without.stderr).toMatch(/^error: no command given\nhint: put it after --/);
  const inside = run(AGT, ['session', 'run', '--', 'pwd'], { cwd: join(session.folder, 'sandbox') });
  expect(inside.stdout).toBe(`${session.sandbox}\n`);
  agtOk(session.repository, 'remove', 's1');
  expect(agt(session.repository, 'run', 's1', '--', 'true').stderr).toContain('session "s1" is removed');
});

test.each(['worktree', 'in-place'])('a new session goes again if its command does not start: %s', (way) => {
  const repository = makeRepository({ a: 'a\n' });
  agtOk(repository, 'config', 'set', 'fs.workingCopy', way);
  write(join(repository, 'mine'), 'mine\n');
  const { exitCode, stderr } = agt(repository, 'run', '--new', 's1', '--', 'no-such-program');
  expect([exitCode, stderr]).toEqual([127, expect.stringMatching(/^error: .*; removed again: s1\n$/)]);
  expect(agtOk(repository, 'list', '--all')).toBe('');
  expect(git(repository, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  expect(git(repository, 'status', '--porcelain')).toBe('?? mine');
  expect(agt(repository, 'run', '--new', 's1', '--', 'false').exitCode).toBe(1);
  expect(agtOk(repository, 'list', '--all')).toContain('s1');
});

test('variables that lead git to another repository do not reach the command', () => {
  const session = makeSession();
  const other = sessionIn(session.repository, 's2');
  const env = { GIT_DIR: git(other.sandbox, 'rev-parse', '--git-dir'), GIT_WORK_TREE: other.sandbox };
  const outcome = run(AGT, ['-C', session.sandbox, 'run', '--', 'git', 'rev-parse', '--show-toplevel'], {
    cwd: session.sandbox,
    env: { GIT_INDEX_FILE: env.GIT_DIR },
  });
  expect(outcome.stdout).toBe(`${session.sandbox}\n`);
});

test('a new session is made for the command', () => {
  const { repository } = makeSession();
  const outcome = agt(repository, 'run', '--new', 'made', '--', 'sh', '-c', 'echo $AGT_SESSION; echo x > x');
  expect([outcome.stdout, outcome.stderr]).toEqual(['made\n', 'session made\n']);
  expect(agtOk(repository, 'session', 'cat', 'made', '@{0}:x')).toBe('x');
  const generated = agt(repository, 'run', '--new', '--', 'sh', '-c', 'echo $AGT_SESSION');
  expect(generated.stdout).toMatch(/^sess-/);
  expect(agt(repository, 'run', '--from', 'main', '--', 'true').stderr).toMatch(
    /^error: --from is for a new session/,
  );
});

test('several sessions: each line has its session, and the highest exit code counts', () => {
  const session = makeSession();
  sessionIn(session.repository, 'second');
  const script = 'echo "$AGT_SESSION" > own; printf "a\\nb"; echo e >&2; test "$AGT_SESSION" = s1 || exit 7';
  const outcome = agt(session.repository, 'run', 's1', 'second', '--', 'sh', '-c', script);
  expect(outcome.exitCode).toBe(7);
  expect(outcome.stdout.split('\n').filter(Boolean).sort()).toEqual([
    's1     | a',
    's1     | b',
    'second | a',
    'second | b',
  ]);
  expect(outcome.stderr.split('\n').filter(Boolean).sort()).toEqual(['s1     | e', 'second | e']);
  expect(captured(session, 'own')).toBe('s1\n');
  expect(captured({ ...session, id: 'second' }, 'own')).toBe('second\n');
});

test('--all: one session after the other, until one fails', () => {
  const session = makeSession();
  for (const id of ['second', 'third', 'gone']) sessionIn(session.repository, id);
  agtOk(session.repository, 'remove', 'gone');
  const script = 'echo "in $AGT_SESSION"; touch here; test "$AGT_SESSION" != second || exit 7';
  const stopped = agt(session.repository, 'run', '--all', '--', 'sh', '-c', script);
  expect(stopped.stdout).toBe("Entering 's1'\nin s1\nEntering 'second'\nin second\n");
  expect(stopped.stderr).toBe(
    'error: the command failed in session "second" (exit code 7); not run in third\n',
  );
  expect(stopped.exitCode).toBe(7);
  expect(captured({ ...session, id: 'second' }, 'here')).toBe('');
  expect(agt(session.repository, 'session', 'cat', 'third', '@{0}:here').exitCode).not.toBe(0);
  expect(agtOk(session.repository, 'run', '-aq', '--', 'sh', '-c', `(${script}) || :`)).toBe(
    'in s1\nin second\nin third',
  );
  expect(agt(session.repository, 'run', '--all', 's1', '--', 'true')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^error: --all stands for every active session\n/),
  });
});

test('--all without a session', () => {
  const outcome = agt(makeRepository(), 'run', '--all', '--', 'false');
  expect(outcome).toEqual({ exitCode: 0, stdout: '', stderr: 'note: no session is active\n' });
});

test('the session names its owner, and agt makes autocommits, while the command runs', async () => {
  const session = makeSession();
  const script = 'echo 1 > file; echo ready; for i in $(seq 300); do test -e stop && break; sleep 0.1; done';
  const child = await start(session, 'run', 's1', '--every', '0.2', '--', 'sh', '-c', script);
  const end = ended(child);
  while (captured(session, 'file') !== '1\n') await sleep(50);
  expect(metadata(session).owner).toMatchObject({
    command: 'sh',
    pid: expect.any(Number),
    start: expect.any(String),
  });
  write(join(session.sandbox, 'stop'), '');
  expect(await end).toEqual({ code: 0, signal: null });
  expect(metadata(session).owner).toBeUndefined();
});

test('a command that goes on after its agt was killed is named, and captured by others', async () => {
  const session = makeSession();
  const script = 'echo ready; for i in $(seq 300); do test -e stop && break; sleep 0.1; done';
  const child = await start(session, 'run', 's1', '--', 'sh', '-c', script);
  while (metadata(session).owner === undefined) await sleep(50);
  expect(agtOk(session.repository, 'doctor')).toBe('nothing is wrong');
  child.kill('SIGKILL');
  await ended(child);
  const { pid } = metadata(session).owner;
  const problem = `s1: sh (process ${pid}) goes on in it, and its agt run, which captured it, was killed\n`;
  for (const command of ['doctor', 'status']) {
    const { stdout, stderr } = agt(session.repository, command);
    expect(stdout + stderr).toContain(problem);
    expect(stdout + stderr).toContain(`agt watch s1 to capture it, or kill ${pid} to end it`);
  }
  expect(agtOk(session.repository, 'list')).toMatch(/^s1 +running alone /m);
  write(join(session.sandbox, 'file'), '1\n');
  agtOk(session.repository, 'autocommit', '--all');
  expect(captured(session, 'file')).toBe('1\n');
  write(join(session.sandbox, 'stop'), '');
  while (agt(session.repository, 'list').stdout.includes('running')) await sleep(50);
  expect(agtOk(session.repository, 'doctor')).toBe('nothing is wrong');
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s: the command ends, a last autocommit, the signal',
  async (signal) => {
    const session = makeSession();
    const script = `trap 'echo last > last; trap - ${signal.slice(3)}; kill -${signal.slice(3)} $$' ${signal.slice(3)}; echo ready; for i in $(seq 300); do sleep 0.1; done`;
    const child = await start(session, 'run', 's1', '--', 'sh', '-c', script);
    const end = ended(child);
    child.kill(signal);
    expect(await end).toEqual({ code: null, signal });
    expect(captured(session, 'last')).toBe('last\n');
    expect(metadata(session).owner).toBeUndefined();
  },
);

test('a command that a signal kills without agt; a command that survives a signal', async () => {
  const session = makeSession();
  expect(agt(session.repository, 'run', 's1', '--', 'sh', '-c', 'echo k > k; kill -KILL $$').exitCode).toBe(
    137,
  );
  expect(captured(session, 'k')).toBe('k\n');
  const script = 'trap "echo caught; exit 5" TERM; echo ready; for i in $(seq 300); do sleep 0.1; done';
  const child = await start(session, 'run', 's1', '--', 'sh', '-c', script);
  const end = ended(child);
  child.kill('SIGTERM');
  expect(await end).toEqual({ code: 5, signal: null });
});

test("on a terminal: it is the command's own, and a command that stops stops agt", ({ skip }) => {
  const session = makeSession();
  const env = { ...process.env, AGT_GIT_PATH: REAL_GIT };
  const inTerminal = (line: string) =>
    spawnSync('script', ['-qec', line, '/dev/null'], {
      cwd: session.repository,
      env,
      encoding: 'utf8',
      timeout: 60_000,
    });
  if (inTerminal('true').error !== undefined) skip('script(1) is not installed');
  const asked = inTerminal(`'${AGT}' run s1 -- sh -c 'test -t 0 && test -t 1 && test -t 2 && echo terminal'`);
  expect(asked.stdout).toBe('terminal\r\n');
  write(
    join(session.repository, 'jobs.sh'),
    `set -m\n'${AGT}' run s1 -- sh -c 'kill -STOP $$; echo resumed'\necho "status $?"\nfg >/dev/null\necho "status $?"\n`,
  );
  const stopped = inTerminal('bash jobs.sh');
  expect(stopped.stdout.replaceAll('\r', '')).toMatch(/status 147\n(.*\n)*resumed\nstatus 0\n/);
});

test('a profile of the settings; a worktree cannot have one', () => {
  const home = makeTempDir('home');
  const session = makeSession({ '.agt/config': '[profile "p"]\n\tenv = EVIL=1\n' });
  const { repository, folder } = session;
  write(
    join(home, '.agtconfig'),
    '[profile "p"]\n\tenv = XDG_DATA_HOME={xdg}\n\tenv = WORDS=a {b} $HOME\n\tenv = PATH={path}:{sandbox}/bin\n',
  );
  write(join(repository, '.git/agt/config'), '[profile "p"]\n\tenv = WORDS=local\n');
  const env = { HOME: home, EVIL: undefined };
  const script = 'echo "$XDG_DATA_HOME|$WORDS|$EVIL|$PATH"';
  const outcome = run(AGT, ['run', 's1', '--profile', 'p', '--', 'sh', '-c', script], {
    cwd: repository,
    env,
  });
  const bin = join(repository, '.git/agt/bin');
  expect(outcome.stdout).toBe(`${folder}/xdg|local||${bin}:${process.env['PATH']}:${session.sandbox}/bin\n`);
  const unknown = agt(repository, 'run', 's1', '--profile', 'none', '--', 'true');
  expect(unknown.stderr).toMatch(/^error: no profile "none" in your settings\nhint: add it: /);
  write(join(home, '.agtconfig'), '[profile "p"]\n\tenv = not a variable\n');
  const invalid = run(AGT, ['run', 's1', '--profile', 'p', '--', 'true'], { cwd: repository, env });
  expect(invalid.stderr).toMatch(/^error: invalid variable "not a variable" in profile "p" \(.*\)\nhint: /);
});

test('env prints the same for eval', () => {
  const session = makeSession();
  const home = makeTempDir('home');
  write(join(home, '.agtconfig'), '[profile "p"]\n\tenv = QUOTED=it\'s \\"so\\" \\\\ $x\n');
  const env = { HOME: home, GIT_INDEX_FILE: '/elsewhere', GIT_DIR: join(session.repository, '.git') };
  const asked = run(AGT, ['session', 'env', 's1', '--profile', 'p'], { cwd: session.repository, env });
  const evaluated = run(
    'sh',
    ['-c', `${asked.stdout}echo "$QUOTED|$AGT_SESSION|$GIT_INDEX_FILE|$GIT_DIR"; command -v git`],
    {
      cwd: session.sandbox,
      env,
    },
  );
  expect(evaluated.stdout).toBe(`it's "so" \\ $x|s1||\n${session.repository}/.git/agt/bin/git\n`);
  const report = JSON.parse(agtOk(session.repository, 'session', 'env', 's1', '--json'));
  expect(report.set).toMatchObject({ AGT_SESSION: 's1', AGT_SANDBOX: session.sandbox });
  expect(report.unset).toEqual([]);
  expect(existsSync(join(session.repository, '.git/agt/bin/git'))).toBe(true);
});

test('the first thing that a command destroys in a new session comes back', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'uncommitted'), 'precious\n');
  agtOk(repository, 'session', 'run', 's1', '--', 'rm', 'a', 'uncommitted');
  expect(existsSync(join(sandbox, 'uncommitted'))).toBe(false);
  agtOk(repository, 'undo', 's1');
  expect(readFileSync(join(sandbox, 'uncommitted'), 'utf8')).toBe('precious\n');
});
