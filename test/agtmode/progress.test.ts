/** On a terminal, a command that lasts says what it is doing, and leaves nothing of that on the screen. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agtOk, run, write } from '../harness/world.ts';

test('commands that last show progress on a terminal alone', ({ skip }) => {
  if (run('sh', ['-c', 'command -v script'], { cwd: '/' }).exitCode !== 0)
    skip('no script(1) to make a terminal');
  const { repository, sandbox } = makeSession();
  agtOk(repository, 'autocommit', '--session-id', 's1', '--label', 'before');
  for (let i = 0; i < 3; i++) write(join(sandbox, `f${i}`), `${i}\n`);
  const env = { GIT_PROGRESS_DELAY: '0', TERM: 'xterm' };
  const onTerminal = (words: string, more: Record<string, string> = {}) =>
    run('script', ['-qec', `'${AGT}' ${words}`, '/dev/null'], { cwd: repository, env: { ...env, ...more } })
      .stdout;
  const captured = onTerminal('autocommit --session-id s1');
  expect(captured).toMatch(/\rreading files: 33% \(1\/3\) .*\r\u001b\[Ks1: captured 3 paths/s);
  const restored = onTerminal('session restore s1 --to before');
  expect(restored).toContain('s1: restored 3 paths, verified');
  const hidden = onTerminal('session restore s1 --to @{1} --quiet');
  expect(hidden).not.toContain('files');
  expect(onTerminal('session restore s1 --to before', { TERM: 'dumb' })).not.toContain('\u001b');
  write(join(sandbox, 'landed'), 'landed\n');
  const accepted = onTerminal('accept s1 --keep --untracked all');
  expect(accepted).toMatch(
    /\r(reading the sandbox|merging|bringing the worktree along) .*\r\u001b\[Kaccepted s1/s,
  );
  // An editor has the terminal alone.
  const editor = 'echo editor begins; sleep 0.3; echo editor ends; :';
  onTerminal('session unaccept s1');
  const edited = onTerminal('accept s1 --keep --untracked all --edit', { GIT_EDITOR: editor });
  expect(edited).toMatch(/\u001b\[Keditor begins\s+editor ends\s/);
  expect(onTerminal('du')).toMatch(/\rmeasuring histories: 100% \(1\/1\) /);
  expect(onTerminal('gc --thin')).toMatch(
    /\r(shortening histories|cleaning the object store): \d+% \(\d\/\d\) /,
  );
  const inLog = (...words: string[]) => run(AGT, ['gc', ...words], { cwd: repository, env }).stderr;
  expect(inLog('--progress')).toMatch(/\rcleaning the object store: \d+% /);
  expect(inLog()).toBe('');
  expect(onTerminal('remove s1')).toMatch(/\rremoving the sandbox: 1 file .*\r\u001b\[Kremoved /s);
  expect(run(AGT, ['list'], { cwd: repository, env }).stderr).not.toContain('\r');
});
