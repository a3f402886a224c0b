/** Settings of agents that are no regular file, or that held hooks of agt before. */
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, run, write } from '../harness/world.ts';
import { Home } from './home.ts';

test('a named pipe in place of settings is named, and nothing waits for it', () => {
  const home = new Home();
  const file = join(home.dir, '.claude/settings.json');
  write(join(home.dir, '.claude/other'), '');
  run('mkfifo', [file], { cwd: home.dir });
  const inTime = (...args: string[]) =>
    run('timeout', ['60', AGT, ...args], { cwd: home.dir, env: { HOME: home.dir } });
  const problem = `cannot read ${file}: it is not a regular file`;
  for (const command of ['install', 'uninstall'])
    expect(inTime('hooks', command, 'claude-code')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(problem),
    });
  const [status] = JSON.parse(inTime('hooks', 'status', 'claude-code', '--json').stdout);
  expect(status).toMatchObject({ state: 'unknown', problem });
  for (const command of ['status', 'doctor']) expect([0, 1]).toContain(inTime(command).exitCode);
});

test('uninstall leaves a file that was there before agt knew it, although it had only hooks of agt', () => {
  const home = new Home();
  const file = join(home.dir, '.claude/settings.json');
  home.ok('install', 'claude-code');
  rmSync(join(home.dir, '.local/state/agt'), { recursive: true }); // as with settings from another machine
  home.ok('install', 'claude-code');
  home.ok('uninstall', 'claude-code');
  expect(readFileSync(file, 'utf8')).toBe('{}\n');
});

test('settings of Codex without its program: the hooks are written, and it does not trust them yet', () => {
  const home = new Home([]);
  write(join(home.dir, '.codex/config.toml'), '');
  const asked = home.agt('install', '--all');
  expect(asked).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Codex: hooks installed in ') });
  expect(asked.stderr).toMatch(
    /^hint: Codex runs them once you trust them: .*agt hooks install codex --trust\n$/,
  );
  expect(home.agt('install', 'codex', '--trust')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('codex app-server cannot be started'),
  });
});

test('settings that an edit has damaged: status and doctor say that agt cannot tell about the hooks', () => {
  const home = new Home();
  const file = join(home.dir, '.claude/settings.json');
  const doctor = () => run(AGT, ['doctor'], { cwd: home.dir, env: { HOME: home.dir } }).stdout;
  write(file, '{}}\n');
  expect(doctor()).not.toContain(file);
  write(file, '{}\n');
  home.ok('install', 'claude-code');
  expect(doctor()).not.toContain(file);
  appendFileSync(file, '}\n');
  const reason = new RegExp(`cannot read ${file}: line \\d+ is not valid JSON: end of file expected`);
  expect(home.agt('status', 'claude-code').stderr).toMatch(reason);
  expect(doctor()).toMatch(
    new RegExp(
      `warning: ${file}: agt cannot tell whether the hooks of Claude Code still stand: ${reason.source}\n` +
        ' +fix: mend that, then see: agt hooks status claude-code\n',
    ),
  );
});
