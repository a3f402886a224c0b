/** agt cron, with a fake crontab program that keeps the table in a file. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import {
  AGT,
  git,
  makeRepository,
  makeTempDir,
  type Outcome,
  REAL_GIT,
  run,
  write,
} from '../harness/world.ts';

let bin: string;
let table: string;
let repository: string;

beforeEach(() => {
  bin = makeTempDir('bin');
  table = join(bin, 'table');
  repository = makeRepository();
  // As on Debian: for a user without a crontab it prints a message and exits with 1.
  const program = `#!/bin/sh
case $1 in
  -l) [ -f '${table}' ] && exec cat '${table}'; echo 'no crontab for ann' >&2; exit 1 ;;
  -) cat >'${table}.new' && mv '${table}.new' '${table}' ;;
  *) exit 2 ;;
esac
`;
  write(join(bin, 'crontab'), program, 0o755);
});

function cron(...args: string[]): Outcome {
  return cronIn(repository, ...args);
}

function cronIn(cwd: string, ...args: string[]): Outcome {
  return run(AGT, ['cron', ...args], { cwd, env: { PATH: `${bin}:${process.env['PATH']}` } });
}

const content = () => (existsSync(table) ? readFileSync(table, 'latin1') : undefined);

describe('agt cron', () => {
  test('adds one line with absolute paths; a second install replaces it, and all other bytes stay', () => {
    const line = (schedule: string) =>
      `${schedule} PATH=${dirname(REAL_GIT)}:/usr/bin:/bin ${AGT} -C ${repository}/.git autocommit --all >/dev/null # agt autocommit of ${repository}/.git\n`.replace(
        'PATH=/usr/bin:/usr/bin:/bin ',
        '',
      );
    expect(cron('install')).toMatchObject({ exitCode: 0, stdout: line('*/5 * * * *'), stderr: '' });
    expect(content()).toBe(line('*/5 * * * *'));
    const others = 'MAILTO=""\n# mine\n0 0 * * * true\xff\n\n';
    writeFileSync(table, `${others}${content()}@daily last`, 'latin1');
    expect(cron('install', '--interval', '15').exitCode).toBe(0);
    expect(content()).toBe(`${others}${line('*/15 * * * *')}@daily last`);
    expect(cron('install', '--interval', '15').exitCode).toBe(0);
    expect(content()).toBe(`${others}${line('*/15 * * * *')}@daily last`);
    expect(cron('show').stdout).toBe(line('*/15 * * * *'));
    expect(JSON.parse(cron('show', '--json').stdout)).toEqual({
      repository: join(repository, '.git'),
      line: line('*/15 * * * *').trimEnd(),
    });
  });

  test('adds a line after a last line without line break, and keeps one line for each repository', () => {
    writeFileSync(table, '@daily last');
    cron('install');
    expect(content()).toMatch(/^@daily last\n\*\/5 .*\n$/);
    const other = makeRepository();
    cronIn(other, 'install', '--interval', '60');
    expect(content()?.match(/# agt autocommit of /g)).toHaveLength(2);
    expect(cronIn(other, 'remove').stdout).toMatch(/^removed: 0 \* \* \* \* /);
    expect(content()).toMatch(/^@daily last\n\*\/5 .*\n$/);
    expect(cron('remove').exitCode).toBe(0);
    expect(content()).toBe('@daily last\n');
    expect(cron('remove')).toMatchObject({ exitCode: 0, stdout: 'no crontab line for this repository\n' });
    expect(cron('show').stdout).toBe('no crontab line for this repository\n');
  });

  test('--dry-run shows the line and changes nothing', () => {
    expect(cron('install', '--dry-run').stdout).toMatch(/^\*\/5 .*\n$/);
    expect(content()).toBeUndefined();
    cron('install');
    const before = content();
    expect(cron('remove', '--dry-run').stdout).toMatch(/^would remove: \*\/5 /);
    expect(content()).toBe(before);
  });

  test('refuses an interval that is no number or that cron cannot express, and changes nothing', () => {
    for (const interval of ['0', '7', '90', '2880', '-5', '5m', '']) {
      expect(cron('install', `--interval=${interval}`).exitCode).toBe(2);
    }
    expect(content()).toBeUndefined();
  });

  test('the line autocommits in the environment of cron', () => {
    const session = makeSession();
    write(join(session.sandbox, 'x'), 'x\n');
    const { stdout } = cronIn(session.repository, 'install');
    const command = stdout.trimEnd().split(' ').slice(5).join(' ');
    const outcome = run(
      '/usr/bin/env',
      ['-i', `HOME=${process.env['HOME']}`, 'PATH=/usr/bin:/bin', 'sh', '-c', command],
      {
        cwd: '/',
      },
    );
    expect(outcome).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/x')).toBe('x');
  });
});

describe('agt cron fails', () => {
  test('without a crontab program, and names alternatives', () => {
    const onlyGit = makeTempDir();
    symlinkSync(REAL_GIT, join(onlyGit, 'git'));
    const outcome = run(AGT, ['cron', 'install'], { cwd: repository, env: { PATH: onlyGit } });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('error: no crontab program found on PATH\nhint: install cron, or use');
  });

  test('if the crontab cannot be read, and does not overwrite it', () => {
    writeFileSync(table, '@daily mine\n');
    const refusing = `#!/bin/sh\necho 'You (ann) are not allowed to use this program' >&2; [ "$1" = -l ] || : >'${table}'; exit 1\n`;
    write(join(bin, 'crontab'), refusing, 0o755);
    const outcome = cron('install');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('error: cannot read the crontab: You (ann) are not allowed');
    expect(content()).toBe('@daily mine\n');
  });

  test('outside a repository', () => {
    expect(cronIn(makeTempDir(), 'install').exitCode).toBe(1);
  });
});
