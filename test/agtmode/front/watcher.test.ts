/** Where agt watch runs, the front asks it to capture. Whenever there is no answer, the front starts agt. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { identify } from '../../../src/disk/lock-owner.ts';
import { Front, SHELLS, toolEvent } from '../../harness/front.ts';
import { makeSession, type TestSession } from '../../harness/session.ts';
import { AGT, git, makeTempDir, REAL_GIT, run } from '../../harness/world.ts';

const front = new Front();
const running: ChildProcess[] = [];
const environment = { ...process.env, AGT_GIT_PATH: REAL_GIT };

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** It captures when it is asked, and not by itself. */
async function watch({ repository }: TestSession): Promise<ChildProcess> {
  const args = ['watch', '--debounce', '3600', '--interval', '3600'];
  const child = spawn(AGT, args, { cwd: repository, env: environment });
  running.push(child);
  await new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
  const file = watcherFile({ repository });
  for (let i = 0; i < 400 && !existsSync(file); i++) await new Promise((resolve) => setTimeout(resolve, 25));
  return child;
}

function watcherFile({ repository }: Pick<TestSession, 'repository'>): string {
  return join(repository, '.git/agt/front/.watcher');
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

let changes = 0;

function change(sandbox: string): void {
  writeFileSync(join(sandbox, 'a'), `change ${changes++}`);
}

/** All shells ask. A watcher that has no time for a second has no time for an answer, on a machine under load. */
function isAnswered(sandbox: string): boolean {
  return SHELLS.every(({ name }) => {
    for (let attempt = 0; attempt < 10; attempt++) {
      change(sandbox);
      if (!front.startsIn(name, sandbox)) return true;
    }
    return false;
  });
}

function captured({ repository }: TestSession, path: string): string {
  return git(repository, 'show', `agtsessions/s1:sandbox/${path}`);
}

test('what ended before the question is in the snapshot, however it was written; the words are those of agt', async () => {
  const session = makeSession({ a: 'a\n', 'd/b': 'b\n' });
  const { sandbox, repository } = session;
  const elsewhere = join(makeTempDir(), 'hard');
  linkSync(join(sandbox, 'd/b'), elsewhere);
  await watch(session);
  const map = "import mmap;f=open('a','r+b');m=mmap.mmap(f.fileno(),0);m[0]=88;m.close()";
  for (const [round, { name }] of [...SHELLS, ...SHELLS].entries()) {
    const ask = (args: readonly string[], input = '') =>
      expect(front.run(sandbox, args, { input }, name)).toMatchObject({ exitCode: 0, stderr: '' });
    writeFileSync(join(sandbox, 'a'), `${name} ${round}`);
    ask(['autocommit']);
    expect(captured(session, 'a')).toBe(`${name} ${round}`);
    expect(run('python3', ['-c', map], { cwd: sandbox }).stderr).toBe('');
    ask(['hook', 'claude-code'], toolEvent(sandbox));
    expect(captured(session, 'a')).toBe(`X${name.slice(1)} ${round}`);
    appendFileSync(elsewhere, `${round}`);
    ask(['autocommit', '--session-id', 's1', '--tool', 'mine']);
    expect(captured(session, 'd/b')).toBe(readFileSync(elsewhere, 'utf8').trim());
    git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'x');
    ask(['hook', 'claude-code'], toolEvent(sandbox));
    expect(git(repository, 'log', '-1', '--format=%P', 'agtsessions/s1')).toContain(
      git(sandbox, 'rev-parse', 'HEAD'),
    );
  }
  writeFileSync(join(sandbox, 'a'), 'again');
  const { stdout } = front.run(sandbox, ['autocommit']);
  expect(stdout).toBe(
    `s1: captured 1 path as ${git(repository, 'rev-parse', 'agtsessions/s1').slice(0, 10)}\n`,
  );
});

test('a hook leaves the same snapshot as agt does; other events are for agt', async () => {
  const session = makeSession();
  const { sandbox, repository } = session;
  const child = await watch(session);
  const fields = {
    session_id: 'talk',
    tool_name: 'Edit',
    tool_use_id: 'id1',
    tool_input: { file_path: '/x' },
  };
  const event = toolEvent(sandbox, { ...fields, tool_response: { stdout: '€'.repeat(100_000) } });
  const messages = ['watcher', 'agt'].map((name) => {
    writeFileSync(join(sandbox, 'a'), name);
    if (name === 'watcher') expect(isAnswered(sandbox)).toBe(true);
    writeFileSync(join(sandbox, 'a'), `${name} 2`);
    const args = ['hook', 'claude-code'];
    const by =
      name === 'watcher'
        ? front.run(sandbox, args, { input: event })
        : run(AGT, args, { cwd: sandbox, input: event });
    expect(by).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    return git(repository, 'log', '-1', '--format=%B', 'agtsessions/s1');
  });
  expect(messages[0]).toContain('Edit');
  expect(messages[0]).toBe(messages[1]);
  writeFileSync(join(sandbox, 'a'), 'other');
  const starts = (input: string) => front.starts(sandbox, ['hook', 'claude-code'], { input });
  for (const name of ['Stop', 'UserPromptSubmit', 'PostToolUseFailure'])
    expect(starts(event.replace('PostToolUse', name))).toBe(true);
  expect(starts(event.replaceAll(sandbox, '/'))).toBe(true);
  expect(front.starts(sandbox, ['autocommit', '--tool', 'two words'])).toBe(true);
  expect(front.starts(sandbox, ['autocommit'], { env: { HOME: '/elsewhere' } })).toBe(true);
  // agt itself says why it refuses.
  mkdirSync(join(repository, '.git/agt/locks'), { recursive: true });
  writeFileSync(join(repository, '.git/agt/locks/s1'), JSON.stringify(identify(process.pid)));
  expect(front.starts(sandbox)).toBe(true);
  expect(child.exitCode).toBe(null);
});

test('a watcher that is stopped, killed or ended; the next one; a copy of the repository', async () => {
  const session = makeSession();
  const { sandbox, repository } = session;
  const asks = () => isAnswered(sandbox);
  const starts = () => {
    change(sandbox);
    return front.starts(sandbox);
  };
  expect(starts()).toBe(true);
  const first = await watch(session);
  expect(asks()).toBe(true);
  const second = await watch(session);
  expect(asks()).toBe(true);
  await end(second, 'SIGTERM');
  expect(asks()).toBe(true);
  first.kill('SIGSTOP');
  expect(starts()).toBe(true);
  first.kill('SIGCONT');
  expect(asks()).toBe(true);
  const copy = join(makeTempDir(), 'copy');
  cpSync(repository, copy, { recursive: true, filter: (path) => !path.endsWith('.questions') });
  run('mkfifo', [join(copy, '.git/agt/front/.questions')], { cwd: '/' });
  expect(front.starts(copy, ['autocommit', '--session-id', 's1'])).toBe(true);
  await end(first, 'SIGKILL');
  expect(existsSync(watcherFile(session))).toBe(true);
  expect(starts()).toBe(true);
  const third = await watch(session);
  expect(asks()).toBe(true);
  await end(third, 'SIGTERM');
  expect(existsSync(watcherFile(session))).toBe(false);
  expect(starts()).toBe(true);
});

test('after a change that the kernel reports, the front asks without a look of its own', async () => {
  const session = makeSession();
  const { sandbox, repository } = session;
  await watch(session);
  const facts = join(repository, '.git/agt/front/s1');
  for (let round = 0; round < 3; round++) {
    expect(isAnswered(sandbox)).toBe(true);
    front.settle(sandbox);
    change(sandbox);
    for (let i = 0; i < 800 && existsSync(facts); i++)
      await new Promise((resolve) => setTimeout(resolve, 25));
    expect(existsSync(facts)).toBe(false);
    expect(isAnswered(sandbox)).toBe(true);
  }
});

test.each(['SIGKILL', 'SIGSTOP'] as const)('%s while the front waits for the answer', async (signal) => {
  const session = makeSession();
  const { sandbox, repository } = session;
  const child = await watch(session);
  expect(isAnswered(sandbox)).toBe(true);
  change(sandbox);
  // The watcher waits for this process.
  const lock = join(repository, '.git/agt/locks/s1');
  writeFileSync(lock, JSON.stringify(identify(process.pid)));
  const asking = spawn(front.script(), ['hook', 'claude-code'], { cwd: sandbox, env: environment });
  asking.stdin.end(toolEvent(sandbox));
  const output = text(asking.stdout);
  await new Promise((resolve) => setTimeout(resolve, 500));
  child.kill(signal);
  expect(await output).toContain('agt is started');
});

test('many ask at once: each has its answer', async () => {
  const session = makeSession();
  const { sandbox } = session;
  await watch(session);
  for (let round = 0; round < 3; round++) {
    const asks = Array.from({ length: 8 }, (_, n) => {
      const event = toolEvent(sandbox, { tool_response: { stdout: 'x'.repeat(round * 100_000) } });
      writeFileSync(join(sandbox, `file-${n}`), `round ${round}`);
      return ask(sandbox, n, event);
    });
    for (const { code, stderr } of await Promise.all(asks))
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (let n = 0; n < 8; n++) expect(captured(session, `file-${n}`)).toBe(`round ${round}`);
  }
});

function ask(sandbox: string, n: number, event: string): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(
    join(front.script(), '../real', SHELLS[n % SHELLS.length]?.name ?? ''),
    ['hook', 'claude-code'],
    { cwd: sandbox, env: environment },
  );
  let stderr = '';
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString();
  });
  child.stdin.end(event);
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stderr })));
}
