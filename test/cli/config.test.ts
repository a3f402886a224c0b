import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  AGT,
  agt,
  agtOk,
  GIT_MODE,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  write,
} from '../harness/world.ts';

function values(cwd: string, env: Record<string, string> = {}) {
  const outcome = run(AGT, ['config', 'list', '--json'], { cwd, env });
  if (outcome.exitCode !== 0) throw new Error(outcome.stderr);
  const list = JSON.parse(outcome.stdout) as { name: string; value: string; origin: string }[];
  return Object.fromEntries(list.map(({ name, value, origin }) => [name, { value, origin }]));
}

describe('agt config', () => {
  test('later sources win: default, user, repository, environment; each value has its origin', () => {
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

  test('uses the file of the area in an agt clone, and keeps its comments', () => {
    const dir = makeTempDir();
    agtOk(dir, 'clone', makeRepository());
    agtOk(join(dir, 'project'), 'config', 'set', 'agt.maxFileSize', '3k');
    const file = join(dir, 'project/.agt/config');
    expect(readFileSync(file, 'utf8')).toMatch(/^# Settings of agt[\s\S]*maxFileSize = 3k/);
    expect(values(join(dir, 'project/main'))['agt.maxFileSize']).toEqual({ value: '3k', origin: file });
  });

  test('ignores a .agt/config inside a worktree, and doctor reports it', () => {
    const repository = makeRepository({
      '.agt/config': '[agt]\n\tgitPath = /bin/false\n\tagentEmail = you@x\n',
    });
    expect(values(repository)['agt.agentEmail']).toEqual({ value: 'agt@local', origin: 'default' });
    const doctor = agt(repository, 'doctor');
    expect(doctor.exitCode).toBe(0);
    expect(doctor.stdout).toContain(`note: ${repository}/.agt/config: agt ignores this file`);
  });

  test('ignores agt.gitPath in the settings of a repository', () => {
    const repository = makeRepository();
    write(join(repository, '.git/agt/config'), '[agt]\n\tgitPath = /bin/false\n');
    expect(values(repository)['agt.gitPath']?.origin).toMatch(/^environment/);
    const outcome = agt(repository, 'config', 'set', 'agt.gitPath', '/bin/false');
    expect(outcome.exitCode).toBe(2);
    expect(outcome.stderr).toContain('agt config set --global agt.gitPath /bin/false');
  });

  test.each([
    [
      ['config', 'get', 'agt.zero'],
      /^error: unknown setting "agt\.zero"\nhint: known settings: agt\.gitPath, /,
    ],
    [
      ['config', 'set', 'agt.maxFileSize', 'big'],
      /^error: invalid value "big" for agt\.maxFileSize: not a size/,
    ],
    [['config', 'set', 'agt.branchPrefix', 'x'], /must end with a slash/],
    [['config', 'set', 'agt.agentEmail', 'nobody'], /not an email address/],
    [
      ['config', 'set', 'fs.snapshots', 'tape'],
      /^error: invalid value "tape" for fs\.snapshots: not supported; supported values are auto, git, btrfs, zfs, overlay, agentfs and disable\n/,
    ],
    [
      ['config', 'set', 'fs.workingCopy', 'copy'],
      /^error: invalid value "copy" for fs\.workingCopy: not supported; supported values are auto, worktree, in-place and cow-overlay\n/,
    ],
  ])('%j is wrong usage and writes nothing', (args, message) => {
    const repository = makeRepository();
    const outcome = agt(repository, ...args);
    expect(outcome.exitCode).toBe(2);
    expect(outcome.stderr).toMatch(message);
    expect(values(repository)['agt.maxFileSize']?.origin).toBe('default');
  });

  test('reports an invalid value and a broken file with its path, and prefixes that overlap', () => {
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

  test.each([
    [
      'fs.snapshots',
      'AGT_FS_SNAPSHOTS',
      ['auto', 'git', 'btrfs', 'zfs', 'overlay', 'agentfs', 'disable'],
      ['tape'],
    ],
    ['fs.workingCopy', 'AGT_WORKING_COPY', ['auto', 'worktree', 'in-place', 'cow-overlay'], ['copy']],
  ])('%s accepts only values that agt acts on', (name, variable, supported, unsupported) => {
    const repository = makeRepository();
    const list = (value: string) =>
      run(AGT, ['session', 'list'], { cwd: repository, env: { [variable]: value } });
    for (const value of supported) {
      agtOk(repository, 'config', 'set', name, value);
      expect(values(repository)[name]?.value).toBe(value);
      expect(list(value)).toMatchObject({ exitCode: 0, stdout: '' });
    }
    for (const value of unsupported) {
      expect(agt(repository, 'config', 'set', name, value).exitCode).toBe(2);
      expect(list(value)).toEqual({
        exitCode: 1,
        stdout: '',
        stderr:
          `error: invalid value "${value}" for ${name} (environment ${variable}): ` +
          `not supported; supported values are ${new Intl.ListFormat('en-GB').format(supported)}\n` +
          `hint: set ${variable} to another value, or unset it\n`,
      });
    }
    expect(values(repository)[name]?.value).toBe(supported.at(-1));
  });

  test('an unsupported value stops no git command, and the hint restores the default', () => {
    const repository = makeRepository();
    const file = join(repository, '.git/agt/config');
    write(file, '[fs]\n\tsnapshots = tape\n');
    const env = { AGT_WORKING_COPY: 'copy' };
    expect(run(GIT_MODE, ['status', '--short', '--branch'], { cwd: repository, env })).toEqual({
      exitCode: 0,
      stdout: '## main\n',
      stderr: '',
    });
    const { stderr } = agt(repository, 'session', 'list');
    expect(stderr).toContain(`invalid value "tape" for fs.snapshots (${file}): not supported`);
    const command = /hint: go back to the default: agt (.*)\n/.exec(stderr)?.[1] ?? '';
    agtOk(repository, ...command.split(' '));
    expect(agt(repository, 'session', 'list')).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'note: no sessions yet; begin one: agt new ID, or agt run --new -- COMMAND\n',
    });
  });

  test('refuses to change a prefix while there are sessions', () => {
    const repository = makeRepository();
    agtOk(repository, 'config', 'set', 'agt.workPrefix', 'bots/');
    agtOk(repository, 'session', 'new', '--id', 's1');
    expect(git(repository, 'branch', '--list', 'bots/*')).toContain('bots/s1');
    const outcome = agt(repository, 'config', 'set', 'agt.workPrefix', 'agt/');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('cannot be changed while this repository has sessions (1)');
  });
});

test('config set refuses prefixes that overlap, and changes nothing', () => {
  const repository = makeRepository();
  const refused = agt(repository, 'config', 'set', '--global', 'agt.branchPrefix', 'agt/');
  expect(refused.exitCode).not.toBe(0);
  expect(refused.stderr).toMatch(/^error: agt\.branchPrefix "agt\/" and agt\.workPrefix "agt\/" overlap\n/);
  agtOk(repository, 'session', 'list');
});

describe('a setting that is a list', () => {
  const [mine, theirs] = [
    'age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg',
    'age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj',
  ];
  const key = 'agt.recipients';

  test('grows by agt config add, and a set says what it replaces', () => {
    const repository = makeRepository();
    const env = { HOME: makeTempDir('home') };
    const config = (...words: string[]) => run(AGT, ['config', ...words], { cwd: repository, env });
    const done = { exitCode: 0, stdout: '', stderr: '' };
    expect(config('set', '--global', key, mine)).toEqual(done);
    expect(config('add', '--global', key, theirs)).toEqual(done);
    expect(config('add', '--global', key, mine)).toEqual(done);
    expect(values(repository, env)[key]?.value).toBe(`${mine} ${theirs}`);
    expect(config('set', '--global', key, theirs)).toEqual({
      ...done,
      stderr: `note: it replaces ${mine} ${theirs}\nhint: to have both: agt config add --global ${key} '${mine} ${theirs}'\n`,
    });
    expect(config('add', '--global', key, `${mine} ${theirs}`)).toEqual(done);
    expect(values(repository, env)[key]?.value).toBe(`${theirs} ${mine}`);
    expect(config('add', 'agt.maxFileSize', '2g')).toMatchObject({ exitCode: 2 });
    expect(config('add', '--global', 'agt.refuse', 'pull')).toMatchObject({ exitCode: 2 });
    expect(config('add', 'agt.readOnlyTools', 'Read')).toEqual(done);
    expect(config('add', 'agt.readOnlyTools', 'Grep')).toEqual(done);
    expect(values(repository, env)['agt.readOnlyTools']?.value).toBe('Read Grep');
  });

  test.each(['set', 'add'])('takes only keys by agt config %s', (verb) => {
    const repository = makeRepository();
    const env = { HOME: makeTempDir('home') };
    for (const wrong of ['age1qqqq', `${mine} ${theirs.slice(0, -1)}x`]) {
      const { exitCode, stderr } = run(AGT, ['config', verb, '--global', key, wrong], {
        cwd: repository,
        env,
      });
      expect(stderr).toMatch(/^error: "age1\w+" in agt\.recipients is no public key of age\n/);
      expect(exitCode).toBe(2);
    }
    expect(values(repository, env)[key]?.origin).toBe('default');
  });
});

test('config unset of what the file does not have names where it is set', () => {
  const repository = makeRepository();
  const home = makeTempDir('home');
  const unset = () =>
    run(AGT, ['config', 'unset', 'agt.maxFileSize'], { cwd: repository, env: { HOME: home } });
  expect(unset()).toMatchObject({ exitCode: 1, stderr: 'error: agt.maxFileSize is not set\n' });
  const file = join(home, '.agtconfig');
  writeFileSync(file, '[agt]\n\tmaxFileSize = 1m\n');
  expect(unset()).toMatchObject({
    exitCode: 1,
    stderr:
      `error: agt.maxFileSize is not set in ${repository}/.git/agt/config, but in ${file}\n` +
      'hint: agt config unset --global agt.maxFileSize\n',
  });
  expect(readFileSync(file, 'utf8')).toContain('1m');
});

test('agt.gitPath takes only a git that runs, and a wrong one of before can be replaced or unset', () => {
  const repository = makeRepository();
  const home = makeTempDir('home');
  const file = join(home, '.agtconfig');
  const at = { cwd: repository, env: { HOME: home, AGT_GIT_PATH: undefined } };
  const config = (...words: string[]) => run(AGT, ['config', ...words], at);
  const script = join(home, 'script');
  write(script, '#!/nowhere/sh\n', 0o755);
  for (const [path, reason] of [
    ['/nowhere/git', 'agt.gitPath "/nowhere/git" (the command line) does not exist\nhint: set it to the '],
    ['git', 'agt.gitPath "git" (the command line) is not an absolute path\nhint: set it to the '],
    [AGT, `agt.gitPath "${AGT}" (the command line) is agt itself\nhint: set it to the `],
    ['/bin/echo', '"/bin/echo" is not git: --version printed "'],
    [script, `cannot run ${script} in ${repository}: ENOENT\n`],
  ] as const) {
    const { exitCode, stderr } = config('set', '--global', 'agt.gitPath', path);
    expect(stderr).toContain(`error: ${reason}`);
    expect(exitCode).not.toBe(0);
    expect(existsSync(file)).toBe(false);
  }
  for (const before of ['/nowhere/git', '/bin/echo'])
    for (const back of [
      ['set', '--global', 'agt.gitPath', REAL_GIT],
      ['unset', '--global', 'agt.gitPath'],
    ]) {
      writeFileSync(file, `[agt]\n\tgitPath = ${before}\n`);
      expect(run(AGT, ['new'], at).exitCode).not.toBe(0);
      expect(config(...back)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
      expect(run(AGT, ['list'], at).exitCode).toBe(0);
    }
});

test('a program that is no git is named by agt doctor, and an error of it leads there', () => {
  const session = makeRepository();
  agtOk(session, 'new', 's1');
  const home = makeTempDir('home');
  writeFileSync(join(home, '.agtconfig'), '[agt]\n\tgitPath = /bin/cat\n');
  const inHome = (...words: string[]) =>
    run(AGT, words, { cwd: session, env: { HOME: home, AGT_GIT_PATH: undefined } });
  expect(inHome('list').stderr).toContain('\nhint: see whether that is git: agt doctor\n');
  expect(inHome('doctor').stdout).toContain('error: settings: "/bin/cat" is not git: --version printed "');
});
