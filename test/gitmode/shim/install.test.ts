/** The files that `agt shim install` and `uninstall` leave behind. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../../harness/world.ts';

const env = { AGT_GIT_PATH: undefined, PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}` };

test('the executable is gone: real git runs, after a warning', () => {
  const other = makeTempDir('shim');
  run(AGT, ['shim', 'install', '--dir', other], { cwd: '/', env });
  run('rm', [join(other, '.agt/git')], { cwd: '/' });
  const repository = makeRepository();
  git(repository, 'branch', 'agt/s1');
  const outcome = run(join(other, 'git'), ['branch', '--list', 'main'], { cwd: repository, env });
  expect(outcome.stdout).toBe('* main\n');
  expect(outcome.stderr).toMatch(/^warning: agt: .* is gone/);

  const front = join(other, 'agt');
  write(front, readFileSync(front, 'utf8').replaceAll(AGT, '/nonexistent/agt'), 0o755);
  const hook = run(front, ['hook', 'claude'], { cwd: repository, env, input: '{}' });
  expect([hook.exitCode, hook.stdout]).toEqual([0, '']);
  expect(hook.stderr).toMatch(/^warning: agt: \/nonexistent\/agt is gone; nothing is captured/);
  expect(run(front, ['autocommit'], { cwd: repository, env }).exitCode).toBe(127);
});

test('agt shim uninstall removes what agt shim install wrote, and nothing else', () => {
  const other = makeTempDir('shim');
  run(AGT, ['shim', 'install', '--dir', other], { cwd: '/', env });
  expect(run(join(other, 'agt'), ['--version'], { cwd: '/', env }).stdout).toMatch(/^agt \d/);
  expect(run(AGT, ['shim', 'uninstall', '--dir', other], { cwd: '/', env }).exitCode).toBe(0);
  expect(readdirSync(other)).toEqual([]);
  write(join(other, 'agt'), '#!/bin/sh\n', 0o755);
  run(AGT, ['shim', 'install', '--dir', other], { cwd: '/', env });
  run(AGT, ['shim', 'uninstall', '--dir', other], { cwd: '/', env });
  expect(readFileSync(join(other, 'agt'), 'utf8')).toBe('#!/bin/sh\n');
  write(join(other, 'git'), '#!/bin/sh\n', 0o755);
  for (const command of ['install', 'uninstall']) {
    const outcome = run(AGT, ['shim', command, '--dir', other], { cwd: '/', env });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain("is not agt's shim");
  }
  expect(readFileSync(join(other, 'git'), 'utf8')).toBe('#!/bin/sh\n');
});

test('agt shim uninstall leaves nothing of the directory that agt has made', () => {
  const home = makeTempDir('home');
  const own = { ...env, HOME: home, XDG_DATA_HOME: undefined };
  const outcome = run(AGT, ['shim', 'install'], { cwd: '/', env: own });
  expect(outcome.stdout).toBe(`${home}/.local/share/agt/bin/git\n`);
  expect(run(AGT, ['shim', 'uninstall'], { cwd: '/', env: own })).toMatchObject({
    exitCode: 0,
    stdout: ['git', 'agt'].map((name) => `removed ${home}/.local/share/agt/bin/${name}\n`).join(''),
    stderr: expect.stringContaining('hash -r'),
  });
  expect(readdirSync(join(home, '.local/share'))).toEqual([]);
  expect(run(AGT, ['shim', 'uninstall'], { cwd: '/', env: own })).toMatchObject({
    exitCode: 0,
    stdout: `no shim in ${home}/.local/share/agt/bin\n`,
  });
});

test('agt shim install advises what is still missing: the PATH, or a shell that looks again', () => {
  const dir = makeTempDir('shim');
  const path = `${dir}:${env.PATH}`;
  const said = (PATH: string) =>
    run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env: { ...env, PATH } }).stderr;
  expect(said(path)).toMatch(/^hint: [^\n]*: hash -r\n$/);
  expect(said(path)).toBe('');
  expect(said(env.PATH)).toContain(`export PATH='${dir}':"$PATH"`);
});
