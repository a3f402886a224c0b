/** When git mode becomes git, nothing of agt is left: in arguments, environment, signals, descriptors and exit codes. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  GIT_MODE,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  runsAsGit,
  write,
} from '../../harness/world.ts';
import { shell } from './shell.ts';

/** A git that only prints its arguments, byte for byte. */
function recorder(): { path: string; env: Record<string, string> } {
  const path = join(makeTempDir('recorder'), 'git');
  write(path, '#!/bin/sh\nprintf "%s\\0" "$@"\n');
  chmodSync(path, 0o755);
  return { path, env: runsAsGit(path) };
}

let project: string;
beforeAll(() => {
  project = makeRepository();
  git(project, 'branch', 'agt/s1');
});

describe('arguments reach git unchanged', () => {
  const strange = '\xff\xfe raw \xe9, empty: , quotes \' " `, dollar $HOME, backslash \\, lines\n\n';

  test.each(['status', 'branch -d', 'tag -a'])('git %s: bytes that are not UTF-8', (command) => {
    const quoted = strange.replaceAll("'", "'\\''");
    const { stdout } = shell(
      `"$GIT" ${command} '${quoted}' '' 'plain' '\xff' '\xfe'`,
      project,
      recorder().env,
    );
    expect(stdout).toBe([...command.split(' '), strange, '', 'plain', '\xff', '\xfe', ''].join('\0'));
  });

  test('bytes that are not UTF-8 in a line that a rule changes', () => {
    const { stdout } = shell(`"$GIT" log --all --grep='\xff\xe9' -- '\xff'`, project);
    const real = shell(`"$REAL" log main --grep='\xff\xe9' -- '\xff'`, project);
    expect(stdout).toBe(real.stdout);
  });

  test('100 KB, and an empty argument', () => {
    const long = 'x'.repeat(100_000);
    const outcome = run(GIT_MODE, ['status', long, ''], { cwd: project, env: recorder().env });
    expect(outcome.stdout).toBe(`status\0${long}\0\0`);
  });

  test('100 KB, and bytes that are not UTF-8', () => {
    const { stdout } = shell(`"$GIT" status "$(printf 'x%.0s' {1..100000})" '\xff'`, project, recorder().env);
    expect(stdout).toBe(`status\0${'x'.repeat(100_000)}\0\xff\0`);
  });
});

describe('the environment reaches git unchanged', () => {
  const spy = () => {
    const path = join(makeTempDir('spy'), 'git');
    write(path, '#!/bin/sh\nexec cat /proc/self/environ\n');
    chmodSync(path, 0o755);
    return runsAsGit(path);
  };
  // The sh of the spy sets these itself, and agt leaves a mark.
  const entries = (text: string) =>
    text
      .split('\0')
      .filter((entry) => !/^(_|PWD|OLDPWD|SHLVL|AGT_STARTED_GIT)=/.test(entry))
      .sort();

  test.each([
    ['as it is', ''],
    ['with a value that is not UTF-8', "export ODD='\xff\xe9 x'"],
    ['with a value of several lines', "export ODD='a\nb'"],
    ['with a name that sh does not accept', ''],
  ])('%s', (what, prepare) => {
    const set = what.includes('a name') ? 'env "odd-name=1" "a.b=\xff"' : '';
    const env = spy();
    const got = shell(`${prepare}\n${set} "$GIT" status`, project, env);
    const real = shell(`${prepare}\n${set} "$AGT_GIT_PATH" status`, project, env);
    expect(entries(got.stdout)).toEqual(entries(real.stdout));
  });
});

describe('signals and descriptors', () => {
  test.each(['SigIgn', 'SigBlk', 'SigCgt'])('%s is the same as in a child of the shell', (field) => {
    const path = join(makeTempDir('spy'), 'git');
    write(path, `#!/bin/sh\nexec grep ${field} /proc/self/status\n`);
    chmodSync(path, 0o755);
    const env = runsAsGit(path);
    expect(shell('"$GIT" status', project, env).stdout).toBe(
      shell('"$AGT_GIT_PATH" status', project, env).stdout,
    );
  });

  test('when its reader stops early, git ends by SIGPIPE', () => {
    const big = makeRepository();
    for (let n = 0; n < 3; n++) git(big, 'commit', '-q', '--allow-empty', '-m', 'x'.repeat(100_000));
    git(big, 'branch', 'agt/s1');
    const body = (name: string) => `"$${name}" log --all -p | (sleep 0.2; true); echo "\${PIPESTATUS[0]}"`;
    expect(shell(body('GIT'), big).stdout).toBe(shell(body('REAL'), big).stdout);
    expect(shell(body('GIT'), big).stdout).toBe('141\n');
  });

  test.each(['>&-', '<&-', '2>&-', '<&- >&- 2>&-', '>/dev/full'])(
    'git status with %s behaves as real git',
    (redirection) => {
      const body = (name: string) => `"$${name}" status ${redirection}; echo "$?"`;
      const got = shell(body('GIT'), project);
      const real = shell(body('REAL'), project);
      expect([got.stdout, got.exitCode]).toEqual([real.stdout, real.exitCode]);
    },
  );

  test('when a signal kills git, the shell sees 128 and its number', () => {
    const path = join(makeTempDir('spy'), 'git');
    write(path, '#!/bin/sh\nkill -TERM $$\n');
    chmodSync(path, 0o755);
    expect(shell('"$GIT" status; echo $?', project, runsAsGit(path)).stdout).toBe('143\n');
  });

  test('standard input reaches git', () => {
    const outcome = run(GIT_MODE, ['hash-object', '--stdin'], { cwd: project, input: 'hello\n' });
    expect(outcome.stdout).toBe('ce013625030ba8dba906f756967f9e9ca394464a\n');
  });

  test('exit codes are those of git', () => {
    for (const args of [['diff', '--quiet', 'HEAD'], ['rev-parse', '--verify', '-q', 'none'], ['nonsense']]) {
      const got = run(GIT_MODE, args, { cwd: project });
      expect(got).toEqual(run(REAL_GIT, args, { cwd: project }));
    }
  });

  test('pager, colours and columns on a terminal are those of git', () => {
    const bare = makeRepository();
    const env = { ...process.env, AGT_GIT_PATH: REAL_GIT, GIT_PAGER: 'sed s/^/paged:/', TERM: 'xterm' };
    for (const line of [
      'branch -v',
      'log --oneline --all --graph',
      'tag',
      'branch --column',
      'log -1 --stat',
    ]) {
      const on = (program: string, cwd: string) =>
        spawnSync('script', ['-qec', `stty cols 60; ${program} ${line}`, '/dev/null'], {
          cwd,
          encoding: 'latin1',
          env,
        }).stdout;
      expect(on(GIT_MODE, project)).toBe(on(REAL_GIT, bare));
    }
  });
});

describe('git mode can be switched off', () => {
  test.each([
    ['--disable-agt', ['--disable-agt', 'branch'], {}],
    ['AGT_DISABLE_FILTER=1', ['branch'], { AGT_DISABLE_FILTER: '1' }],
  ])('%s shows every branch', (_, args, env) => {
    expect(run(GIT_MODE, args, { cwd: project, env }).stdout).toBe('  agt/s1\n* main\n');
  });

  test('AGT_DISABLE_FILTER=0 does not switch it off', () => {
    const env = { AGT_DISABLE_FILTER: '0' };
    expect(run(GIT_MODE, ['branch'], { cwd: project, env }).stdout).toBe('* main\n');
  });

  test('AGT_TRACE=1 prints the command line that git gets', () => {
    const { stderr } = run(GIT_MODE, ['status', '-s'], { cwd: project, env: { AGT_TRACE: '1' } });
    expect(stderr).toBe(`agt: trace: ${REAL_GIT} status -s\n`);
  });
});

describe('children of git', () => {
  test('a hook that calls git gets the real git', () => {
    const repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    write(
      join(repository, '.git/hooks/pre-commit'),
      '#!/bin/sh\ngit branch --list "agt/*" >seen\ncommand -v git >>seen\n',
      0o755,
    );
    const env = { PATH: `${join(GIT_MODE, '..')}:${process.env['PATH']}` };
    expect(
      run(GIT_MODE, ['commit', '-q', '--allow-empty', '-m', 'x'], { cwd: repository, env }).exitCode,
    ).toBe(0);
    const seen = readFileSync(join(repository, 'seen'), 'utf8');
    expect(seen).toMatch(/^ {2}agt\/s1\n/);
    expect(seen).not.toContain('dist/git');
  });

  test('rebase -x, submodule foreach and bisect run end', () => {
    const repository = makeRepository();
    for (const n of [1, 2, 3]) git(repository, 'commit', '-q', '--allow-empty', '-m', `${n}`);
    git(repository, 'branch', 'agt/s1');
    const env = { PATH: `${join(GIT_MODE, '..')}:${process.env['PATH']}` };
    const rebase = run('git', ['rebase', '-q', '-x', 'git log -1 --format=%s', 'HEAD~2'], {
      cwd: repository,
      env,
    });
    expect(rebase.exitCode).toBe(0);
    expect(run('git', ['bisect', 'start', 'HEAD', 'HEAD~3'], { cwd: repository, env }).exitCode).toBe(0);
    expect(run('git', ['bisect', 'run', 'git', 'log', '-1'], { cwd: repository, env }).exitCode).toBe(0);
    expect(run('git', ['submodule', 'foreach', 'git status'], { cwd: repository, env }).exitCode).toBe(0);
  });
});

describe('without execve, git runs as a child', () => {
  /** becomeGit() in a Node without execve, as on Windows. */
  const script = (git: string) => `
    process.execve = undefined;
    const { becomeGit } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/git/run/become.ts'))});
    process.exitCode = await becomeGit(${JSON.stringify(git)}, ['rev-parse', '--verify', '-q', process.argv[1]]);`;
  const start = (git: string, word: string) => ['--input-type=module', '-e', script(git), word];

  test('output and exit code are those of git', () => {
    expect(run(process.execPath, start(REAL_GIT, 'HEAD'), { cwd: project }).stdout).toMatch(
      /^[0-9a-f]{40}\n$/,
    );
    expect(run(process.execPath, start(REAL_GIT, 'none'), { cwd: project }).exitCode).toBe(1);
  });

  test('signals reach git; a signal that ends git ends this process', async () => {
    const path = join(makeTempDir('spy'), 'git');
    write(
      path,
      '#!/bin/sh\ntrap "echo caught; exit 7" TERM\necho ready\nwhile :; do sleep 0.05; done\n',
      0o755,
    );
    const child = spawn(process.execPath, start(path, 'x'), { cwd: project });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      if (text === '') child.kill('SIGTERM');
      text += chunk;
    });
    const [exitCode] = (await once(child, 'close')) as [number]; // with all that it printed
    expect([text, exitCode]).toEqual(['ready\ncaught\n', 7]);

    write(path, '#!/bin/sh\nkill -TERM $$\n', 0o755);
    const killed = spawn(process.execPath, start(path, 'x'), { cwd: project });
    expect((await once(killed, 'exit'))[1]).toBe('SIGTERM');
  });
});
