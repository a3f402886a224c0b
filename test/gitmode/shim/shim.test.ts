/** The shim prints what the executable prints, in every sh, and notices when it is out of date. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ofToday } from '../../harness/today.ts';
import { AGT, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../../harness/world.ts';
import { compareLine, compareLines, describeDifference, type Subject } from '../../twin/compare.ts';
import { LINES, quarterOf } from '../../twin/lines.ts';
import { buildTwin, SIDES, type Twin } from '../../twin/shapes.ts';

/** Without the variables that make the shim start the executable for every line. */
const external = makeTempDir('external');
const env = {
  AGT_GIT_PATH: undefined,
  GIT_CONFIG_GLOBAL: undefined,
  GIT_CONFIG_NOSYSTEM: undefined,
  PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}:${external}`,
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

const executable = () => join(dir, '.agt/git');

/** The programs that one line starts. */
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

test('shellcheck finds no problem', (context) => {
  if (spawnSync('shellcheck', ['--version']).status !== 0) context.skip('no shellcheck here');
  const outcome = run('shellcheck', [shim], { cwd: '/' });
  expect(outcome.stdout).toBe('');
});

describe.each(SHELLS.map((shell) => [shell.join(' '), shell] as const))('%s', (_name, shell) => {
  const words = '\xff\xe9 \'" $x `\n\n* ?';
  test('arguments of any bytes reach git unchanged', () => {
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

  test('hides branches, passes lines on to git, and rewrites lines', () => {
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

describe('the shim prints what real git prints in the twin', () => {
  const subject = (): Subject => ({ program: shim, env });
  /** Lines that depend on configuration and remotes; a twin that differs only in these runs no others. */
  const depending = /^(-\S+ )*(branch|for-each-ref|log|show|rev-list)\b/;

  let turn = 0;

  const set = (name: string, value: string) => (twin: Twin) => {
    for (const side of SIDES) git(join(twin.root, side, 'project'), 'config', name, value);
  };
  const forget = (ref: string) => (twin: Twin) =>
    void git(join(twin.root, 'with', 'project'), 'update-ref', '-d', ref);

  test.each(
    ofToday([
      ['linear', ''],
      ['linear', 'with log.decorate, which decorates in pipes too', set('log.decorate', 'short')],
      ['linear', 'with format.pretty, which decorates', set('format.pretty', 'format:%h%d')],
      ['inside a sandbox', ''],
      ['remote', 'with a hidden ref of a remote that is gone, which needs agt'],
      ['remote', 'with configured remotes only', forget('refs/remotes/gone/agt/x')],
    ] as const),
  )(
    '%s %s',
    async (name, difference, change: (twin: Twin) => void = () => {}) => {
      turn += 1;
      const twin = buildTwin(name);
      change(twin);
      ageConfigs(twin);
      await compareLine(twin, 'log -1', subject());
      const gitDir = git(join(twin.root, 'with', twin.cwd), 'rev-parse', '--absolute-git-dir');
      expect(existsSync(join(gitDir, 'agt-shim'))).toBe(true);
      const lines = quarterOf(Object.values(LINES).flat(), turn).filter(
        (line) => !line.startsWith('!') && (difference === '' || depending.test(line)),
      );
      const decorating = [
        'log --oneline',
        'log --no-decorate-refs --oneline',
        '-C . show -s',
        '--no-pager log -3 --graph',
      ];
      // git prints as for a terminal.
      const withPager = { ...subject(), env: { ...env, GIT_PAGER_IN_USE: '1' } };
      const differences = [
        ...(await compareLines(twin, [...decorating, ...lines], subject())),
        ...(await compareLines(
          twin,
          [...decorating, ...lines.filter((line) => /^(log|show)/.test(line))],
          withPager,
        )),
      ];
      expect(differences.map(describeDifference).join('\n')).toBe('');
    },
    300_000,
  );
});

describe.skipIf(!hasStrace)('the shim starts', () => {
  let repository: string;
  beforeAll(() => {
    repository = makeRepository();
    git(repository, 'branch', 'agt/s1');
    write(join(repository, '.git/agt/sessions/x.json'), '{}');
    write(join(external, 'git-an-external-program'), '#!/bin/sh\n', 0o755);
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
    '--version',
    '--exec-path',
    'remote --verbose',
    '--git-dir=.git status',
    '--git-dir .git -c x.y=z rev-parse HEAD',
    'an-external-program',
  ];
  test.each(ofToday(own))('sh and git, and nothing else, for git %s', (line) => {
    const programs = programsOf(line, repository);
    expect(programs.slice(0, 2)).toEqual([shim, REAL_GIT]);
    expect(programs).not.toContain(executable());
  });

  test.each(
    ofToday([
      'describe',
      'log --glob=*',
      'branch --list a*',
      '-c log.decorate=full log',
      '--git-dir=.git log',
    ]),
  )('the executable for git %s', (line) => {
    expect(programsOf(line, repository)[1]).toBe(executable());
  });

  test.each(ofToday(['log --oneline', 'show -s', 'rev-list HEAD', 'shortlog HEAD']))(
    'no executable in an agt clone without settings, but one in a clone with settings, for git %s',
    (line) => {
      const dir = makeTempDir();
      agtOk(dir, 'clone', repository);
      const main = join(dir, 'project/main');
      ageConfig(join(dir, 'project.git'), '.');
      run(shim, ['log', '-1'], { cwd: main, env });
      expect(programsOf(line, main)[1]).toBe(REAL_GIT);
      write(join(dir, 'project/.agt/config'), '# comment\n[agt]\n\tworkPrefix = mine/');
      expect(programsOf(line, main)[1]).toBe(executable());
    },
  );

  test('sh and git for every command in a repository without agt', () => {
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

describe.skipIf(!hasStrace)('a shim that is out of date', () => {
  test.each(ofToday(['status', 'rev-parse --all', 'rev-parse HEAD', 'branch --show-current', 'log -1']))(
    'older than the executable: it starts the executable for git %s',
    (line) => {
      const repository = makeRepository();
      const { atime, mtime } = statSync(shim);
      try {
        utimesSync(shim, 0, 0);
        expect(programsOf(line, repository)[1]).toBe(executable());
      } finally {
        utimesSync(shim, atime, mtime);
      }
    },
  );

  test('older than the settings: it starts the executable, which reads them', () => {
    const repository = makeRepository();
    expect(programsOf('status', repository)[1]).toBe(REAL_GIT);
    const settings = join(process.env['HOME'] as string, '.agtconfig');
    const other = join(makeTempDir('bin'), 'git');
    write(other, `#!/bin/sh\necho other git\n`, 0o755);
    const before = readFileSync(shim);
    try {
      utimesSync(shim, new Date(), new Date()); // too new for agt to write it again
      writeFileSync(settings, `[agt]\n\tgitPath = ${other}\n`);
      const later = new Date(Date.now() + 5000);
      utimesSync(settings, later, later);
      expect(run(shim, ['status'], { cwd: repository, env }).stdout).toBe('other git\n');
    } finally {
      run('rm', ['-f', settings], { cwd: '/' });
      writeFileSync(shim, before);
    }
  });

  test('git’s configuration is newer than the decorations file: the executable writes it again', () => {
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

  test('HEAD is newer than the decorations file: the agent’s branch that is checked out is shown', () => {
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
});

/** Makes the files that the shim compares older than every file that is written from now on. */
function ageConfig(repository: string, gitDir = '.git'): void {
  const past = new Date(Date.now() - 60_000);
  for (const file of globSync('{config,packed-refs}', { cwd: join(repository, gitDir) }))
    utimesSync(join(repository, gitDir, file), past, past);
}

function ageConfigs(twin: Twin): void {
  for (const side of SIDES) ageConfig(join(twin.root, side, 'project'));
}
