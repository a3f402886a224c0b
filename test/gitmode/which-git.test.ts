/** The shim and the executable run the same real git, whoever else is called git, and with the Node that agt has. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { AGT, GIT_MODE, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

const root = join(import.meta.dirname, '../..');

/** Commands that the shim passes on, changes itself, and starts the executable for. */
const LINES = ['status -s', 'branch', 'log --all --format=%s', 'fetch', 'show-ref --heads'];

function hiddenRepository(): string {
  const repository = makeRepository();
  git(repository, 'branch', 'agt/s1');
  write(join(repository, '.git/agt/sessions/s1.json'), '{}');
  return repository;
}

/** A shim that was made where PATH is `dirs`. */
function shimMadeWith(dirs: readonly string[]): string {
  const dir = makeTempDir('shim');
  const env = { AGT_GIT_PATH: undefined, PATH: dirs.join(':') };
  expect(run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env }).exitCode).toBe(0);
  return dir;
}

/** A program named git that notes its call, and then does `body`. Its directory. */
function programNamedGit(body: string): { dir: string; calls: () => number } {
  const dir = makeTempDir('named-git');
  const calls = join(dir, 'calls');
  write(join(dir, 'git'), `#!/bin/sh\necho called >>'${calls}'\n${body}\n`, 0o755);
  write(calls, '');
  return { dir, calls: () => readFileSync(calls, 'utf8').split('\n').length - 1 };
}

const usual = ['/usr/local/bin', '/usr/bin', '/bin'];
const withReal = [dirname(REAL_GIT), ...usual];

/** Links to the programs of the system, but to no git. */
function programsWithoutGit(): string {
  const dir = makeTempDir('no-git');
  for (const name of ['sh', 'cat', 'ls', 'grep', 'rm'])
    write(join(dir, name), `#!/bin/sh\nexec /bin/${name} "$@"\n`, 0o755);
  return dir;
}

test('git is not on PATH: the executable runs the git of the shim, which need not be on PATH either', () => {
  const shim = shimMadeWith(withReal);
  const repository = hiddenRepository();
  const bare = makeRepository();
  for (const path of [shim, '/nonexistent']) {
    const env = { AGT_GIT_PATH: undefined, PATH: `${path}:${programsWithoutGit()}` };
    for (const line of LINES)
      expect(run(join(shim, 'git'), line.split(' '), { cwd: repository, env }).stderr).toBe('');
    const log = run(join(shim, 'git'), ['branch', '-v', '--format=%(refname)'], { cwd: repository, env });
    expect(log.stdout).toBe(git(bare, 'branch', '--format=%(refname)').concat('\n'));
  }
  const env = { AGT_GIT_PATH: undefined, PATH: `${shim}:${programsWithoutGit()}` };
  expect(run(AGT, ['list'], { cwd: makeRepository(), env }).exitCode).toBe(0);
});

test('another git comes first on PATH: shim and executable keep theirs, until the shim is made again', () => {
  const shim = shimMadeWith(withReal);
  const other = programNamedGit(`exec '${REAL_GIT}' "$@"`);
  const repository = hiddenRepository();
  const env = { AGT_GIT_PATH: undefined, PATH: [shim, other.dir, ...withReal].join(':') };
  const callAll = () => {
    for (const line of LINES) run('git', line.split(' '), { cwd: repository, env });
  };
  callAll();
  expect(other.calls()).toBe(0);
  run(AGT, ['shim', 'install', '--dir', shim], { cwd: '/', env });
  callAll();
  expect(other.calls()).toBeGreaterThanOrEqual(LINES.length);
});

/** As other tools do it: the first git on PATH that is not the wrapper itself. */
const FIND_OTHER = `IFS=:
for dir in $PATH; do
  if [ -x "$dir/git" ] && ! [ "$dir/git" -ef "$0" ]; then git=$dir/git; break; fi
done
unset IFS`;

test.each([
  ['becomes', 'exec "$git" "$@"'],
  ['starts', '"$git" "$@"; exit $?'],
])('a wrapper named git that %s the first other git, which is agt', (_, how) => {
  const wrapper = programNamedGit(`${FIND_OTHER}\n${how}`);
  const repository = hiddenRepository();
  const shim = shimMadeWith([wrapper.dir, ...withReal]);
  expect(readFileSync(join(shim, 'git'), 'utf8')).toContain(`agt_real='${wrapper.dir}/git'`);
  for (const first of [shim, dirname(GIT_MODE)]) {
    const env = { AGT_GIT_PATH: undefined, PATH: [first, wrapper.dir, ...withReal].join(':') };
    for (const line of ['status -s', 'log --all --format=%s']) {
      const outcome = run('timeout', ['30', 'git', ...line.split(' ')], { cwd: repository, env });
      expect([line, outcome.exitCode, outcome.stderr]).toEqual([line, 0, '']);
    }
    expect(run('git', ['branch'], { cwd: repository, env }).stdout).toBe('* main\n');
    // agt's own calls of git, too
    expect(run('timeout', ['30', AGT, 'status'], { cwd: repository, env }).exitCode).toBe(0);
  }
  expect(wrapper.calls()).toBeGreaterThan(0);
  run('rm', [join(shim, '.agt/git')], { cwd: '/' });
  const env = { AGT_GIT_PATH: undefined, PATH: [shim, wrapper.dir, ...withReal].join(':') };
  const gone = run('timeout', ['30', 'git', 'log', '--format=%s'], { cwd: repository, env });
  expect([gone.exitCode, gone.stdout]).toEqual([0, 'first\n']);
});

test('a program that git started, and that calls agt again: the same git, and agt hides', () => {
  const shim = shimMadeWith(withReal);
  const repository = hiddenRepository();
  const other = programNamedGit(`exec '${REAL_GIT}' "$@"`);
  const env = { AGT_GIT_PATH: undefined, PATH: [shim, ...withReal, other.dir].join(':') };
  const alias = `alias.again=!PATH='${env.PATH}' git log --all --format=%s`;
  const outcome = run('git', ['-c', alias, 'again'], { cwd: repository, env });
  expect(outcome).toEqual({ exitCode: 0, stdout: 'first\n', stderr: '' });
  expect(other.calls()).toBe(0);
});

test('run by a Node of the host’s: the shim and the hooks name it, whatever Node comes first on PATH', () => {
  const dir = makeTempDir('shim');
  const old = makeTempDir('old-node');
  write(join(old, 'node'), '#!/bin/sh\necho "agt needs a newer Node" >&2\nexit 1\n', 0o755);
  const home = makeTempDir('home');
  write(join(home, '.claude/settings.json'), '{}');
  const agt = (...words: string[]) =>
    run(process.execPath, [join(root, 'bin/agt'), ...words], {
      cwd: home,
      env: { AGT_GIT_PATH: undefined, HOME: home, XDG_STATE_HOME: undefined },
    });
  expect(agt('shim', 'install', '--dir', dir).exitCode).toBe(0);
  const repository = hiddenRepository();
  const env = { AGT_GIT_PATH: undefined, PATH: [old, ...withReal].join(':'), HOME: home };
  const call = () => run(join(dir, 'git'), ['show-ref', '--heads'], { cwd: repository, env });
  expect(call().stderr).toBe('');
  expect(call().stdout).toMatch(/^\w+ refs\/heads\/main\n$/);

  expect(agt('hooks', 'install', 'claude').exitCode).toBe(0);
  const settings = JSON.parse(readFileSync(join(home, '.claude/settings.json'), 'utf8'));
  const [{ command }] = settings.hooks.PostToolUse[0].hooks;
  const hook = run('sh', ['-c', command], { cwd: repository, env, input: '{}' });
  expect(hook.stderr).not.toContain('Node');
  expect(command).toContain(process.execPath);

  // That Node is gone.
  const text = readFileSync(join(dir, 'git'), 'utf8');
  writeFileSync(join(dir, 'git'), text.replaceAll(process.execPath, '/nonexistent/node'));
  expect(call().stderr).toMatch(/^warning: agt: .* is gone; nothing is hidden/);
  expect(call().stdout).toContain('refs/heads/agt/s1');
});

test('fewer open files than Node needs: the shim becomes the real git, after a warning', () => {
  const shim = shimMadeWith(withReal);
  const repository = hiddenRepository();
  const env = { AGT_GIT_PATH: undefined, PATH: [shim, ...withReal].join(':') };
  const call = (limit: string) =>
    run('sh', ['-c', `ulimit -n ${limit}; git show-ref --heads`], { cwd: repository, env });
  expect(call('20').stderr).toMatch(/^warning: agt: fewer than 64 open files are allowed; nothing is hidden/);
  expect(call('20').stdout).toContain('refs/heads/main');
  expect(call('64')).toEqual({ exitCode: 0, stdout: expect.not.stringContaining('agt/'), stderr: '' });
});
