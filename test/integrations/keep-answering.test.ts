/** Installed hooks keep a process that answers them, as agt.watch says. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { Front, toolEvent } from '../harness/front.ts';
import { makeSession } from '../harness/session.ts';
import { AGT, agtOk, git, makeTempDir, run, write } from '../harness/world.ts';

const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) process.kill(pid, 'SIGKILL');
});

async function waitFor<T>(look: () => T | undefined): Promise<T> {
  for (let i = 0; i < 400; i++) {
    const found = look();
    if (found !== undefined) return found;
    await sleep(25);
  }
  throw new Error('it has not come');
}

function installed() {
  const { repository, sandbox } = makeSession();
  const home = makeTempDir('home');
  write(join(home, '.claude/settings.json'), '{}\n');
  const env = {
    AGT_GIT_PATH: undefined,
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
  };
  run(AGT, ['hooks', 'install', 'claude-code'], { cwd: repository, env });
  const hook = (input: string) =>
    run(join(home, 'state/agt/hooks/agt'), ['hook', 'claude-code'], { cwd: sandbox, env, input });
  const watcher = join(repository, '.git/agt/front/.watcher');
  const pid = () =>
    existsSync(watcher) ? Number(readFileSync(watcher, 'utf8').split(' ', 1)[0]) : undefined;
  const prompt = toolEvent(sandbox, { hook_event_name: 'UserPromptSubmit', prompt: 'do it' });
  return { repository, sandbox, hook, prompt, pid, env };
}

test('a prompt starts one process, which captures for the tools that follow', async () => {
  const { repository, sandbox, hook, prompt, pid, env } = installed();
  hook(prompt);
  const first = await waitFor(pid);
  started.push(first);
  hook(prompt);
  await sleep(500);
  expect(pid()).toBe(first);
  const front = new Front();
  // A watcher that has no time for a second has no time for an answer, on a machine under load.
  const startsAgt = (attempt: number) => {
    write(join(sandbox, 'a'), `change ${attempt}\n`);
    return front.starts(sandbox, ['hook', 'claude-code'], { input: toolEvent(sandbox), env }, 1);
  };
  const attempt = Array.from({ length: 10 }, (_, i) => i).find((i) => !startsAgt(i));
  expect(git(repository, 'show', 'agtsessions/s1:sandbox/a')).toBe(`change ${attempt}`);
  expect(git(repository, 'log', '-1', '--format=%s', 'agtsessions/s1')).toContain('Bash');
});

test('agt.watch = false: hooks start none', async () => {
  const { repository, hook, prompt, pid } = installed();
  agtOk(repository, 'config', 'set', 'agt.watch', 'false');
  hook(prompt);
  await sleep(1_000);
  expect(pid()).toBeUndefined();
});

test('it ends when nobody asks, and leaves nothing', async () => {
  const { repository, env } = installed();
  const front = join(repository, '.git/agt/front');
  const ended = run(AGT, ['watch', '--idle', '0.3'], { cwd: repository, env });
  expect(ended).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  expect([existsSync(join(front, '.watcher')), existsSync(join(front, '.questions'))]).toEqual([
    false,
    false,
  ]);
});

test.each(['remove', 'rm -rf'])('it ends soon after its session has: %s', async (how) => {
  const { repository, sandbox, hook, prompt, pid } = installed();
  hook(prompt);
  const own = await waitFor(pid);
  started.push(own);
  if (how === 'remove') agtOk(repository, 'session', 'remove', 's1');
  else rmSync(sandbox, { recursive: true });
  await waitFor(() => (existsSync(`/proc/${own}/fd/0`) ? undefined : true));
  started.pop();
  expect(pid()).toBeUndefined();
});
