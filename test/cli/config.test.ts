import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, run, write } from '../harness/world.ts';

function values(cwd: string, env: Record<string, string> = {}) {
  const outcome = run(AGT, ['config', 'list', '--json'], { cwd, env });
  if (outcome.exitCode !== 0) throw new Error(outcome.stderr);
  const list = JSON.parse(outcome.stdout) as { name: string; value: string; origin: string }[];
  return Object.fromEntries(list.map(({ name, value, origin }) => [name, { value, origin }]));
}

describe('agt config', () => {
  test('later wins: default, the user, the repository, the environment; each says where it is from', () => {
    const repository = makeRepository();
    const home = makeTempDir('home');
    const env = { HOME: home };
    expect(values(repository, env)['agt.maxFileSize']).toEqual({ value: '512m', origin: 'default' });
    writeFileSync(join(home, '.agtconfig'), '[agt]\n\tmaxFileSize = 1m\n');
    expect(values(repository, env)['agt.maxFileSize']).toEqual({
      value: '1m',
      origin: join(home, '.agtconfig'),
    });
    agtOk(repository, 'config', 'set', 'agt.maxFileSize', '2g');
    const local = join(repository, '.git/agt/config');
    expect(values(repository, env)['agt.maxFileSize']).toEqual({ value: '2g', origin: local });
    expect(values(repository, { ...env, AGT_FS_SNAPSHOTS: 'git' })['fs.snapshots']).toEqual({
      value: 'git',
      origin: 'environment AGT_FS_SNAPSHOTS',
    });
    expect(agtOk(repository, 'config', 'get', 'AGT.MaxFileSize')).toBe('2g');
  });

  test("in an agt clone the area's file is used, and its comments survive a set", () => {
    const dir = makeTempDir();
    agtOk(dir, 'clone', makeRepository());
    agtOk(join(dir, 'project'), 'config', 'set', 'agt.maxFileSize', '3k');
    const file = join(dir, 'project/.agt/config');
    expect(readFileSync(file, 'utf8')).toMatch(/^# Settings of agt[\s\S]*maxFileSize = 3k/);
    expect(values(join(dir, 'project/main'))['agt.maxFileSize']).toEqual({ value: '3k', origin: file });
  });

  test('a .agt/config inside a worktree changes nothing, and doctor says so', () => {
    const repository = makeRepository({
      '.agt/config': '[agt]\n\tgitPath = /bin/false\n\tagentEmail = you@x\n',
    });
    expect(values(repository)['agt.agentEmail']).toEqual({ value: 'agt@local', origin: 'default' });
    const doctor = agt(repository, 'doctor');
    expect(doctor.exitCode).toBe(0);
    expect(doctor.stdout).toContain(`note: ${repository}/.agt/config: ignored`);
  });

  test('agt.gitPath of a repository is never honoured', () => {
    const repository = makeRepository();
    write(join(repository, '.git/agt/config'), '[agt]\n\tgitPath = /bin/false\n');
    expect(values(repository)['agt.gitPath']?.origin).toMatch(/^environment/);
    const outcome = agt(repository, 'config', 'set', 'agt.gitPath', '/bin/false');
    expect(outcome.exitCode).toBe(2);
    expect(outcome.stderr).toContain('agt config set --global agt.gitPath /bin/false');
  });

  test.each([
    [
      ['config', 'get', 'agt.nothing'],
      /^error: unknown setting "agt\.nothing"\nhint: known settings: agt\.gitPath, /,
    ],
    [
      ['config', 'set', 'agt.maxFileSize', 'big'],
      /^error: invalid value "big" for agt\.maxFileSize: not a size/,
    ],
    [['config', 'set', 'agt.branchPrefix', 'x'], /must end with a slash/],
    [['config', 'set', 'agt.agentEmail', 'nobody'], /not an email address/],
    [['config', 'set', 'fs.snapshots', 'tape'], /not one of auto, git/],
  ])('%j is wrong usage, and nothing is written', (args, message) => {
    const repository = makeRepository();
    const outcome = agt(repository, ...args);
    expect(outcome.exitCode).toBe(2);
    expect(outcome.stderr).toMatch(message);
    expect(values(repository)['agt.maxFileSize']?.origin).toBe('default');
  });

  test('a value that cannot be used, a broken file, and prefixes that overlap are named with their file', () => {
    const repository = makeRepository();
    const file = join(repository, '.git/agt/config');
    write(file, '[agt]\n\tmaxFileSize = big\n');
    expect(agt(repository, 'session', 'list').stderr).toContain(
      `invalid value "big" for agt.maxFileSize (${file}): not a size`,
    );
    write(file, '[agt\n');
    expect(agt(repository, 'session', 'list').stderr).toContain(
      `error: ${file}: bad section header in line 1`,
    );
    write(file, '[agt]\n\tworkPrefix = agtsessions/x/\n');
    expect(agt(repository, 'session', 'list').stderr).toContain('overlap');
  });

  test('prefixes cannot change while there are sessions', () => {
    const repository = makeRepository();
    agtOk(repository, 'config', 'set', 'agt.workPrefix', 'bots/');
    agtOk(repository, 'session', 'new', '--id', 's1');
    expect(git(repository, 'branch', '--list', 'bots/*')).toContain('bots/s1');
    const outcome = agt(repository, 'config', 'set', 'agt.workPrefix', 'agt/');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('cannot be changed while this repository has sessions (1)');
  });
});
