/** The shim gives what the executable gives, whichever sh reads it, and knows when it is out of date. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { AGT, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../../harness/world.ts';
import { compareLine, compareLines, describeDifference, type Subject } from '../../twin/compare.ts';
import { LINES } from '../../twin/lines.ts';
import { buildTwin, SIDES, type Twin } from '../../twin/shapes.ts';

/** What sends every line to the executable is unset: the shim itself is what is tested. */
const env = {
  AGT_GIT_PATH: undefined,
  GIT_CONFIG_GLOBAL: undefined,
  GIT_CONFIG_NOSYSTEM: undefined,
  PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}`,
};

let dir: string;
let shim: string;
beforeAll(() => {
  dir = join(makeTempDir('shim'), "with space and 'quote'");
  const installed = run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env });
  expect(installed.exitCode).toBe(0);
  shim = join(dir, 'git');
  expect(installed.stdout).toBe(`${shim}\n`);
});

const SHELLS = [['dash'], ['bash'], ['bash', '--posix'], ['busybox', 'ash']].filter(
  ([program = '']) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0,
);

/** Real processes that one line starts, by their names. */
function programsOf(line: string, cwd: string): string[] {
  const trace = join(makeTempDir('trace'), 'trace');
  const command = [shim, ...line.split(' ').filter(Boolean)];
  run('strace', ['-f', '-qq', '-e', 'trace=execve', '-o', trace, ...command], { cwd, env });
  const lines = readFileSync(trace, 'utf8').split('\n');
  return lines
    .filter((text) => text.includes(' = 0'))
    .map((text) => /execve\("([^"]*)"/.exec(text)?.[1] ?? '');
}

const hasStrace = spawnSync('strace', ['-V']).status === 0;

test('shellcheck finds nothing', (context) => {
  if (spawnSync('shellcheck', ['--version']).status !== 0) context.skip('no shellcheck here');
  const outcome = run('shellcheck', [shim], { cwd: '/' });
  expect(outcome.stdout).toBe('');
});

describe.each(SHELLS.map((shell) => [shell.join(' '), shell] as const))('%s', (_name, shell) => {
  const words = '\xff\xe9 \'" $x `\n\n* ?';
  test('arguments of any bytes reach git', () => {
    const repository = makeRepository();
    const quoted = words.replaceAll("'", "'\\''");
    const output = (program: string) => {
      const script = join(makeTempDir('script'), 'run');
      const text = `exec ${program} rev-parse --sq-quote '${quoted}' '' 'last'\n`;
      write(script, Buffer.from(text, 'latin1'));
      return run('sh', [script], { cwd: repository, env: { ...env, SHIM: shim, REAL: REAL_GIT } });
    };
    expect(output(`${shell.join(' ')} "$SHIM"`)).toEqual(output('"$REAL"'));
  });

  test('hides, lets pass, and rewrites', () => {
    const repository = makeRepository();
    const plain = run(REAL_GIT, ['log', '--decorate'], { cwd: repository, env });
    git(repository, 'branch', 'agt/s1');
    const through = (...args: string[]) => {
      const [program = '', ...first] = [...shell, shim];
      return run(program, [...first, ...args], { cwd: repository, env });
    };
    expect(through('branch').stdout).toBe('* main\n');
    expect(through('log', '--decorate')).toEqual(plain);
    expect(through('log', '--decorate')).toEqual(plain);
    expect(through('status', '-sb').stdout).toBe('## main\n');
    expect(through('--disable-agt', 'branch').stdout).toBe('  agt/s1\n* main\n');
    expect(through('rev-list', '--all', '--count').stdout).toBe('1\n');
  });
});

describe('against the twins', () => {
  const subject = (): Subject => ({ program: shim, env });
  /** What depends on configuration and remotes; the others are asked of the usual repositories alone. */
  const depending = /^(-\S+ )*(branch|log|show|rev-list)\b/;

  const set = (name: string, value: string) => (twin: Twin) => {
    for (const side of SIDES) git(join(twin.root, side, 'project'), 'config', name, value);
  };
  const forget = (ref: string) => (twin: Twin) =>
    void git(join(twin.root, 'with', 'project'), 'update-ref', '-d', ref);

  test.each([
    ['linear', '', true],
    ['linear', 'that decorates in pipes too', true, set('log.decorate', 'short')],
    ['linear', 'with a format that decorates', true, set('format.pretty', 'format:%h%d')],
    ['inside a sandbox', '', true],
    ['remote', 'with a hidden ref of a remote that is gone: the words would not be enough', false],
    ['remote', 'with known remotes alone', true, forget('refs/remotes/gone/agt/x')],
  ] as const)(
    '%s %s',
    async (name, what, wordsLeft, change: (twin: Twin) => void = () => {}) => {
      const twin = buildTwin(name);
      change(twin);
      age(twin);
      await compareLine(twin, 'log -1', subject());
      const gitDir = git(join(twin.root, 'with', twin.cwd), 'rev-parse', '--absolute-git-dir');
      expect(existsSync(join(gitDir, 'agt-decorations'))).toBe(wordsLeft);
      const lines = Object.values(LINES)
        .flat()
        .filter((line) => !line.startsWith('!') && (what === '' || depending.test(line)));
      const decorating = [
        'log --oneline',
        'log --no-decorate-refs --oneline',
        '-C . show -s',
        '--no-pager log -3 --graph',
      ];
      // What git prints for a terminal, without one.
      const looked = { ...subject(), env: { ...env, GIT_PAGER_IN_USE: '1' } };
      const differences = [
        ...(await compareLines(twin, [...decorating, ...lines], subject())),
        ...(await compareLines(
          twin,
          [...decorating, ...lines.filter((line) => /^(log|show)/.test(line))],
          looked,
        )),
      ];
      expect(differences.map(describeDifference).join('\n')).toBe('');
    },
    300_000,
  );
});

describe.skipIf(!hasStrace)('what it starts', () => {
  let repository: string;
  beforeAll(() => {
    repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    write(join(repository, '.git/agt/sessions/x.json'), '{}');
    ageConfig(repository);
    run(shim, ['log', '-1'], { cwd: repository, env });
  });

  const own = [
    'status',
    'rev-parse HEAD',
    'log',
    'log -10',
    'log --oneline -1000',
    'log --oneline main',
    'show -s HEAD',
    'shortlog HEAD',
    'rev-list HEAD',
    '-c color.ui=false status',
    '-C . log --decorate',
    '--no-pager log --format=%d',
    'commit --allow-empty --dry-run',
  ];
  test.each(own)('%s: sh and git, nothing else', (line) => {
    const programs = programsOf(line, repository);
    expect(programs.slice(0, 2)).toEqual([shim, REAL_GIT]);
    expect(programs).not.toContain(join(dir, '.agt/git'));
  });

  test.each(['branch', 'log --all', 'for-each-ref', '-c log.decorate=full log', '--git-dir=.git log'])(
    '%s: the executable',
    (line) => {
      expect(programsOf(line, repository)[1]).toBe(join(dir, '.agt/git'));
    },
  );

  test('in a repository without agt everything is git’s', () => {
    const plain = makeRepository();
    for (const line of [
      '',
      'some-alias x',
      'branch -a',
      'log --all',
      'for-each-ref',
      'push --dry-run .',
      'worktree list',
    ]) {
      expect(programsOf(line, plain).slice(0, 2)).toEqual([shim, REAL_GIT]);
    }
  });
});

describe.skipIf(!hasStrace)('out of date', () => {
  const first = (cwd: string) => programsOf('status', cwd)[1];

  test.each(['status', 'rev-parse --all', 'rev-parse HEAD', 'branch --show-current', 'log -1'])(
    'older than the executable: git %s is the executable’s',
    (line) => {
      const repository = makeRepository();
      const { atime, mtime } = statSync(shim);
      try {
        utimesSync(shim, 0, 0);
        expect(programsOf(line, repository)[1]).toBe(join(dir, '.agt/git'));
      } finally {
        utimesSync(shim, atime, mtime);
      }
    },
  );

  test('settings or the executable newer than the script: the executable decides', () => {
    const repository = makeRepository();
    expect(first(repository)).toBe(REAL_GIT);
    const settings = join(process.env['HOME'] as string, '.agtconfig');
    const other = join(makeTempDir('bin'), 'git');
    write(other, `#!/bin/sh\necho other git\n`, 0o755);
    const before = readFileSync(shim);
    try {
      writeFileSync(settings, `[agt]\n\tgitPath = ${other}\n`);
      const later = new Date(Date.now() + 5000);
      utimesSync(settings, later, later);
      expect(run(shim, ['status'], { cwd: repository, env }).stdout).toBe('other git\n');
    } finally {
      run('rm', ['-f', settings], { cwd: '/' });
      writeFileSync(shim, before);
    }
  });

  test('configuration of git changed after the words for log were left: they are not used', () => {
    const repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    write(join(repository, '.git/agt/sessions/x.json'), '{}');
    ageConfig(repository);
    run(shim, ['log', '-1'], { cwd: repository, env });
    expect(programsOf('log -1', repository)[1]).toBe(REAL_GIT);
    git(repository, 'config', 'log.excludeDecoration', 'refs/heads/main');
    const later = new Date(Date.now() + 5000);
    utimesSync(join(repository, '.git/config'), later, later);
    const twin = makeRepository();
    git(twin, 'config', 'log.excludeDecoration', 'refs/heads/main');
    expect(run(shim, ['log', '--decorate'], { cwd: repository, env })).toEqual(
      run(REAL_GIT, ['log', '--decorate'], { cwd: twin, env }),
    );
  });

  test('a session checked out here since then: its own branch is shown', () => {
    const repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    write(join(repository, '.git/agt/sessions/x.json'), '{}');
    ageConfig(repository);
    run(shim, ['log', '-1'], { cwd: repository, env });
    git(repository, 'checkout', '-q', 'agt/s1');
    expect(run(shim, ['log', '--decorate', '--oneline'], { cwd: repository, env }).stdout).toContain(
      'HEAD -> agt/s1',
    );
  });

  test('gone executable: real git, and a warning', () => {
    const other = makeTempDir('shim');
    run(AGT, ['shim', 'install', '--dir', other], { cwd: '/', env });
    run('rm', [join(other, '.agt/git')], { cwd: '/' });
    const repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    const outcome = run(join(other, 'git'), ['branch', '--list', 'main'], { cwd: repository, env });
    expect(outcome.stdout).toBe('* main\n');
    expect(outcome.stderr).toMatch(/^warning: agt: .* is gone/);
  });
});

test('uninstall removes its own and nothing else', () => {
  const other = makeTempDir('shim');
  run(AGT, ['shim', 'install', '--dir', other], { cwd: '/', env });
  expect(run(AGT, ['shim', 'uninstall', '--dir', other], { cwd: '/', env }).exitCode).toBe(0);
  expect(existsSync(join(other, 'git')) || existsSync(join(other, '.agt'))).toBe(false);
  write(join(other, 'git'), '#!/bin/sh\n', 0o755);
  for (const command of ['install', 'uninstall']) {
    const outcome = run(AGT, ['shim', command, '--dir', other], { cwd: '/', env });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain("is not agt's shim");
  }
  expect(readFileSync(join(other, 'git'), 'utf8')).toBe('#!/bin/sh\n');
});

/** Configuration older than anything that is left from now on. */
function ageConfig(repository: string): void {
  const past = new Date(Date.now() - 60_000);
  utimesSync(join(repository, '.git/config'), past, past);
}

function age(twin: Twin): void {
  for (const side of SIDES) ageConfig(join(twin.root, side, 'project'));
}
