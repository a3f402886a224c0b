/** Unreadable directories, named pipes and wrong settings: git mode does what git does in its place. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sessionIn } from '../harness/session.ts';
import {
  AGT,
  agtOk,
  GIT_MODE,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  write,
} from '../harness/world.ts';

const SETPRIV = spawnSync('sh', ['-c', 'command -v setpriv'], { encoding: 'utf8' }).stdout.trim();
const path = `${dirname(REAL_GIT)}:${process.env['PATH']}`;

describe('directories on PATH', () => {
  const bin = makeTempDir('bin');
  symlinkSync('loop', join(bin, 'loop'));
  mkdirSync(join(bin, 'git-loop'));
  symlinkSync('git', join(bin, 'git-loop/git'));
  mkdirSync(join(bin, 'locked/inner'), { recursive: true });
  writeFileSync(join(bin, 'file'), '');
  chmodSync(join(bin, 'locked'), 0);
  const odd = ['loop', 'git-loop', 'locked', 'locked/inner', 'file', 'gone', 'x'.repeat(300)].map((name) =>
    join(bin, name),
  );

  const unprivileged = (program: string, args: string[], cwd: string) =>
    spawnSync(SETPRIV, ['--reuid=65534', '--clear-groups', program, ...args], {
      cwd,
      env: { PATH: [...odd, path].join(':'), HOME: '/nonexistent' },
      encoding: 'utf8',
    });

  test('that cannot be used are passed over, as a shell does', (context) => {
    const env = { PATH: [...odd, path].join(':'), AGT_GIT_PATH: undefined };
    expect(run(GIT_MODE, ['--version'], { cwd: '/', env }).stdout).toMatch(/^git version/);
    expect(run(AGT, ['doctor'], { cwd: makeTempDir(), env }).exitCode).toBe(0);
    if (process.geteuid?.() !== 0 || unprivileged('/bin/true', [], '/').status !== 0)
      return context.skip('needs root and setpriv(1)');
    for (const [program, args] of [
      [GIT_MODE, ['--version']],
      [AGT, ['config', 'list']],
    ] as const) {
      const { status, stderr } = unprivileged(program, [...args], '/');
      expect([status, stderr]).toEqual([0, '']);
    }
  });
});

describe('a named pipe', () => {
  const pipe = (file: string) => {
    rmSync(file, { force: true, recursive: true });
    execFileSync('mkfifo', [file]);
  };
  /** Ends by itself, or is killed after a minute. */
  const ends = (program: string, args: string[], cwd: string, env = {}) => {
    const run = spawnSync('timeout', ['-k', '1', '60', program, ...args], {
      cwd,
      env: { ...process.env, AGT_GIT_PATH: REAL_GIT, ...env },
      encoding: 'utf8',
    });
    return { status: run.status, stdout: run.stdout, stderr: run.stderr };
  };

  test('as .git, or behind a link of that name: as git', () => {
    const dir = makeTempDir();
    pipe(join(dir, '.git'));
    mkdirSync(join(dir, 'sub'));
    pipe(join(dir, 'pipe'));
    symlinkSync('../pipe', join(dir, 'sub/.git'));
    const shims = makeTempDir('shim');
    agtOk('/', 'shim', 'install', '--dir', shims);
    for (const cwd of [dir, join(dir, 'sub')]) {
      for (const args of [['log'], ['branch'], ['reset', '--hard']]) {
        const real = ends(REAL_GIT, args, cwd);
        expect(real.status).toBe(128);
        expect(ends(GIT_MODE, args, cwd)).toEqual(real);
        expect(ends(join(shims, 'git'), args, cwd, { AGT_GIT_PATH: undefined })).toEqual(real);
      }
    }
  });

  test.each([
    'agt/sessions/s1.json',
    'agt/config',
    'agt/area',
    'worktrees/sandbox/gitdir',
    'worktrees/sandbox/HEAD',
  ])('as .git/%s: git branch ends in the main worktree', (file) => {
    const repository = makeRepository();
    sessionIn(repository);
    pipe(join(repository, '.git', file));
    const outcome = ends(GIT_MODE, ['tag', '-l'], repository);
    expect([outcome.status, outcome.stdout]).toEqual([0, '']);
  });
});

describe('settings that agt cannot use', () => {
  const broken = {
    'a git that is gone': [
      '[agt]\n\tgitPath = /nonexistent/git\n',
      /^error: agt\.gitPath "\/nonexistent\/git" .* does not exist\n/,
    ],
    'a program that is not git': ['[agt]\n\tgitPath = /bin/cat\n', /\/bin\/cat/],
    'no boolean': ['[agt]\n\tguard = maybe\n', /^error: invalid value "maybe" for agt\.guard/],
    'a wrong prefix': ['[agt]\n\tworkPrefix = x\n', /^error: invalid value "x" for agt\.workPrefix/],
    'prefixes that overlap': ['[agt]\n\tworkPrefix = agtsessions/x/\n', /overlap/],
    'no settings file': ['[agt\n', /bad section header in line 1/],
  } as const;

  function homeWith(text: string) {
    const home = makeTempDir('home');
    write(join(home, '.agtconfig'), text);
    return { HOME: home, AGT_GIT_PATH: undefined, PATH: path };
  }

  test.each(Object.entries(broken).filter(([name]) => name !== 'a program that is not git'))(
    '%s: git mode hides and guards all the same, with at most one line of warning',
    (_, [text]) => {
      const repository = makeRepository({ a: 'a\n' });
      const session = sessionIn(repository);
      const env = homeWith(text);
      const call = (cwd: string, ...args: string[]) => run(GIT_MODE, args, { cwd, env });
      expect(call(repository, 'branch', '--list').stdout).toBe('* main\n');
      const warned = call(repository, 'branch').stderr;
      if (!text.includes('guard')) expect(warned).toMatch(/^warning: agt: [^\n]+\n$/);
      const status = call(repository, 'status', '--short');
      expect([status.exitCode, status.stdout]).toEqual([0, '']);
      writeFileSync(join(session.sandbox, 'a'), 'work\n');
      expect(call(session.sandbox, 'checkout', '-q', '.').exitCode).toBe(0);
      expect(git(repository, 'show', 'agtsessions/s1:sandbox/a')).toBe('work');
    },
  );

  test.each(Object.entries(broken))('%s: agt names it, and can mend it', (name, [text, message]) => {
    const repository = makeRepository();
    const env = homeWith(text);
    const call = (...args: string[]) => run(AGT, args, { cwd: repository, env });
    const status = call('status');
    expect(status.exitCode).not.toBe(0);
    expect(status.stderr).toMatch(message);
    for (const args of [['help'], ['help', 'config', 'set'], ['--version']])
      expect(call(...args).exitCode).toBe(0);
    const doctor = call('doctor');
    expect([doctor.exitCode, doctor.stderr]).toEqual([1, '']);
    expect(doctor.stdout).toMatch(new RegExp(message.source.replace('^error: ', '').replace(/\\n$/, '')));
    if (name === 'no settings file') return;
    const key = /\t(\w+) =/.exec(text)?.[1];
    expect(call('config', 'unset', '--global', `agt.${key}`)).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
    expect(call('doctor').exitCode).toBe(0);
    const again = call('config', 'unset', '--global', `agt.${key}`);
    expect([again.exitCode, again.stderr]).toEqual([1, `error: agt.${key} is not set\n`]);
  });
});
