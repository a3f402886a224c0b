import { chmodSync, copyFileSync, linkSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandName } from '../../src/agtmode/command-line/command.ts';
import { COMMAND_GROUPS, COMMANDS } from '../../src/agtmode/commands/index.ts';
import { manualPage } from '../../src/agtmode/output/help.ts';
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
  runsAsGit,
  write,
} from '../harness/world.ts';

const root = join(import.meta.dirname, '..', '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

describe('the two faces', () => {
  test('agt --version prints the version of agt, git --version that of the real git', () => {
    const dir = makeTempDir();
    for (const word of ['--version', '-v', 'version']) expect(agtOk(dir, word)).toBe(`agt ${version}`);
    expect(run(GIT_MODE, ['--version'], { cwd: dir })).toEqual(run(REAL_GIT, ['--version'], { cwd: dir }));
  });

  test('every other command runs the real git, unfiltered, and returns its exit code', () => {
    const repository = makeRepository();
    agtOk(repository, 'session', 'new', '--id', 's1');
    expect(agtOk(repository, 'branch', '-a')).toBe(git(repository, 'branch', '-a'));
    expect(agtOk(repository, 'log', '--all', '--oneline')).toBe(git(repository, 'log', '--all', '--oneline'));
    expect(agtOk(repository, 'git', 'status')).toBe(git(repository, 'status'));
    expect(agtOk(repository, '--no-pager', '-c', 'x.y=z', 'config', 'x.y')).toBe('z');
    expect(agt(repository, 'rev-parse', '--verify', '-q', 'nothing')).toEqual(
      run(REAL_GIT, ['rev-parse', '--verify', '-q', 'nothing'], { cwd: repository }),
    );
  });

  test('agt stash is the stash of the session there, and that of the user elsewhere', () => {
    const repository = makeRepository({ a: 'a\n' });
    const { sandbox } = JSON.parse(agtOk(repository, 'new', 's1', '--json'));
    write(join(sandbox, 'a'), 'of the agent\n');
    agtOk(sandbox, 'stash', 'push', '-q', '-m', 'mine');
    expect(agtOk(sandbox, 'stash', 'list')).toBe('stash@{0}: On agt/s1: mine');
    expect(agtOk(repository, 'stash', 'list')).toBe('');
    expect(agtOk(sandbox, 'git', 'stash', 'list')).toBe('');
  });

  test('-C changes the directory for commands of agt and of git', () => {
    const repository = makeRepository();
    const dir = makeTempDir();
    expect(agtOk(dir, '-C', repository, 'log', '--format=%s')).toBe('first');
    expect(agtOk(dir, '-C', join(repository, '..'), '-C', 'project', 'session', 'list')).toBe('');
    expect(agt(dir, '-C', 'nowhere', 'session', 'list').stderr).toContain('error: cannot change to "');
  });
});

describe('help', () => {
  test('agt --help and agt help list every command under its heading', () => {
    const help = agtOk(makeTempDir(), '--help');
    expect(agtOk(makeTempDir(), 'help')).toBe(help);
    expect(agtOk(makeTempDir(), 'help', 'agt')).toBe(help);
    for (const command of COMMANDS) expect(help).toContain(`  agt ${command.usage} `);
    expect(help).toMatch(/^The word session can be left out: agt new, list, .*, accept, .*\.$/m);
  });

  test.each(COMMANDS.map((command) => [commandName(command), command] as const))(
    'agt help %s shows all options and examples',
    (name, command) => {
      const dir = makeTempDir();
      const help = agtOk(dir, 'help', ...name.split(' '));
      expect(agtOk(dir, ...name.split(' '), '--help')).toBe(help);
      expect(agtOk(dir, '-h', ...name.split(' '))).toBe(help);
      expect(help).toContain(`agt ${command.usage} [options]`);
      const shown = Object.entries(command.options ?? {}).filter(([, { hidden }]) => hidden !== true);
      for (const [option] of shown)
        expect(help).toContain(option.length === 1 ? `-${option}` : `--${option}`);
      expect(command.examples.length).toBeGreaterThan(0);
      expect(help).toContain('Examples:');
    },
  );

  test('agt help of a git command shows the help of git', () => {
    expect(agt(makeTempDir(), 'help', 'gitnonsense').stderr).toBe(
      run(REAL_GIT, ['help', 'gitnonsense'], { cwd: makeTempDir() }).stderr,
    );
  });

  test('a missing command is wrong usage', () => {
    expect(agt(makeTempDir()).exitCode).toBe(2);
    expect(agt(makeTempDir(), 'config').stderr).toBe(
      'error: no command after "agt config"\nhint: to list what there is: agt config list\nhint: see: agt help config\n',
    );
  });

  test('the manual page is up to date and contains no roff mistakes', () => {
    const page = readFileSync(join(root, 'docs/agt.1'), 'utf8');
    expect(page).toBe(manualPage(COMMAND_GROUPS, version));
    for (const line of page.split('\n'))
      expect(line).toMatch(/^(?:\.(?:TH|SH|SS|TP|PP|RS|RE|nf|fi|br)\b|[^.'])|^$/);
  });

  test('completion offers the sessions that fit the command', () => {
    const repository = makeRepository();
    for (const id of ['kept', 'gone', 'open']) {
      const { sandbox } = JSON.parse(agtOk(repository, 'new', id, '--json'));
      write(join(sandbox, id), id);
    }
    agtOk(repository, 'accept', 'kept', '--keep', '--untracked=all', '-m', 'kept');
    agtOk(repository, 'remove', 'gone');
    const offered = (command: string) => {
      const words = ['agt', ...command.split(' '), ''];
      return agtOk(repository, '--get-yargs-completions', ...words).split('\n');
    };
    expect(offered('accept')).toEqual(['kept', 'open']);
    expect(offered('autocommit --session')).toEqual(['kept', 'open']);
    expect(offered('session unaccept')).toEqual(['kept']);
    expect(offered('accept kept')).toEqual(['open']);
    expect(offered('accept -m text open')).toEqual(['kept']);
    expect(offered('accept kept --onto')).toEqual(expect.arrayContaining(['main']));
    expect(offered('accept kept --untracked')).toEqual(['all', 'ask', 'none']);
    expect(offered('config set agt.untracked')).toEqual(['all', 'ask', 'none']);
    expect(offered('config set agt.watch')).toEqual(['false', 'true']);
    for (const command of ['remove', 'session show'])
      expect(offered(command)).toEqual(['gone', 'kept', 'open']);
  });

  test('completion offers turns, states of agents, and after -- programs or what the shell has', () => {
    const repository = makeRepository();
    const { sandbox } = JSON.parse(agtOk(repository, 'new', 's1', '--json'));
    write(join(sandbox, 'a'), 'a');
    agtOk(sandbox, 'autocommit', '--tool', 'Edit');
    const bin = makeTempDir('bin');
    write(join(bin, 'agt-tool'), '#!/bin/sh\n', 0o755);
    const offered = (...words: string[]) => {
      const line = ['--get-yargs-completions', 'agt', ...words];
      const { stdout } = run(AGT, line, { cwd: repository, env: { PATH: `${bin}:${process.env['PATH']}` } });
      return stdout.split('\n').slice(0, -1);
    };
    expect(offered('undo', 's1', '--turn', '')).toEqual(['1']);
    expect(offered('session', 'log', 's1', '--turn', '')).toEqual(['1']);
    expect(offered('list', '--state', 'w')).toEqual(['waits', 'works']);
    expect(offered('blame', '-')).toEqual(expect.arrayContaining(['-L', '-w', '--json']));
    expect(offered('log', '--t')).toEqual(['--turn', '--turns']);
    expect(offered('log', '--turns', '--s')).toEqual(['--session', '--since', '--stat']);
    expect(offered('diff', '--b')).toEqual(['--base']);
    expect(offered('run', 's1', '--', 'agt-t')).toEqual(['agt-tool']);
    for (const words of ['run s1 -- agt-tool', 'run -- agt-tool', 'restore s1 @{0} --', 'run s1 --'])
      for (const last of ['', '-']) expect(offered(...words.split(' '), last)).toEqual([]);
  });

  test('agt completion completes commands and options', () => {
    const dir = makeTempDir();
    expect(agtOk(dir, 'completion')).toContain('agt --get-yargs-completions');
    const words = agtOk(dir, '--get-yargs-completions', 'agt', 'session', '').split('\n');
    expect(words.map((word) => word.replace(/:.*/, ''))).toContain('fork');
  });
});

describe('the real git', () => {
  function path(...dirs: string[]): { PATH: string; AGT_GIT_PATH: undefined } {
    return { PATH: [...dirs, join(REAL_GIT, '..')].join(':'), AGT_GIT_PATH: undefined };
  }

  test.each([
    ['a symlink to agt', (to: string) => symlinkSync(AGT, to)],
    ['a hard link to agt', (to: string) => linkSync(AGT, to)],
    ['a copy of agt', (to: string) => copyFileSync(AGT, to)],
    ['a shim', (to: string) => write(to, '#!/bin/sh\n# agt-shim\nexec false\n', 0o755)],
    ['a directory', (to: string) => mkdirSync(to)],
    ['a file that is not executable', (to: string) => write(to, '#!/bin/sh\n')],
  ])('is found after %s called git on PATH', (_what, make) => {
    const bin = makeTempDir('bin');
    make(join(bin, 'git'));
    const outcome = run(AGT, ['config', 'get', 'agt.gitPath'], { cwd: bin, env: path(bin) });
    expect(outcome).toEqual({ exitCode: 0, stdout: `${REAL_GIT}\n`, stderr: '' });
  });

  test('may be any other script called git', () => {
    const bin = makeTempDir('bin');
    write(join(bin, 'git'), `#!/bin/sh\nexec ${REAL_GIT} "$@"\n`, 0o755);
    const outcome = run(AGT, ['config', 'get', 'agt.gitPath'], { cwd: bin, env: path(bin) });
    expect(outcome.stdout).toBe(`${bin}/git\n`);
  });

  test.each([
    ['missing', '/nowhere/git', /agt\.gitPath "\/nowhere\/git" \(environment AGT_GIT_PATH\) does not exist/],
    ['relative', 'git', /is not an absolute path/],
    ['not executable', '/etc/passwd', /is not an executable file/],
    ['agt itself', AGT, /is agt itself/],
    ['not git', '/bin/echo', /"\/bin\/echo" \(environment AGT_GIT_PATH\) is not a git on PATH/],
  ])('gives one clear error if it is configured but %s', (_what, value, message) => {
    const outcome = run(AGT, ['session', 'list'], { cwd: makeTempDir(), env: { AGT_GIT_PATH: value } });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr.split('\n').filter((line) => line.startsWith('error:'))).toHaveLength(1);
  });

  test('gives one clear error if it is not on PATH', () => {
    const empty = makeTempDir('bin');
    const outcome = run(AGT, ['session', 'list'], {
      cwd: empty,
      env: { PATH: empty, AGT_GIT_PATH: undefined },
    });
    expect(outcome.stderr).toMatch(/^error: no git found on PATH\nhint: install git/);
  });

  test('gives one clear error if it is too old', () => {
    const bin = makeTempDir('bin');
    write(join(bin, 'git'), '#!/bin/sh\necho git version 2.30.1\n', 0o755);
    const outcome = run(AGT, ['session', 'new'], { cwd: makeRepository(), env: runsAsGit(join(bin, 'git')) });
    expect(outcome.stderr).toContain(`error: git 2.30.1 (${bin}/git) is too old`);
  });

  test('is printed with each command line if AGT_TRACE=1', () => {
    const outcome = run(AGT, ['doctor'], { cwd: makeTempDir(), env: { AGT_TRACE: '1' } });
    expect(outcome.stderr).toContain(`agt: trace: ${REAL_GIT} --version`);
  });

  test('is not redirected by the environment of a hook', () => {
    const repository = makeRepository();
    const other = makeRepository();
    const env = {
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(other, '.git/index'),
    };
    const outcome = run(AGT, ['session', 'new', '--id', 's1'], { cwd: repository, env });
    expect(outcome.exitCode).toBe(0);
    expect(git(other, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(git(repository, 'branch', '--list', 'agt/*')).toContain('agt/s1');
  });
});

describe('the launcher', () => {
  test('refuses an old Node with a clear error', () => {
    const bin = makeTempDir('bin');
    const launcher = readFileSync(join(root, 'bin/agt'), 'utf8').replace('process.versions.node', "'20.9.0'");
    write(join(bin, 'agt.mjs'), launcher);
    chmodSync(join(bin, 'agt.mjs'), 0o755);
    const outcome = run(process.execPath, [join(bin, 'agt.mjs'), '--version'], { cwd: bin });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toMatch(/^error: agt needs Node 22\.15 or newer/);
  });

  test('runs the bundle with an installed Node', () => {
    const outcome = run(process.execPath, [join(root, 'bin/agt'), '--version'], { cwd: makeTempDir() });
    expect(outcome).toEqual({ exitCode: 0, stdout: `agt ${version}\n`, stderr: '' });
  });
});
