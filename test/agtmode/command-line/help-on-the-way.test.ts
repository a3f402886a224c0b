/** Did you mean, completion, and what a shell gets from agt. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession } from '../../harness/session.ts';
import {
  AGT,
  agt,
  agtOk,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  write,
} from '../../harness/world.ts';

test('unknown words: agt says which command of agt or git, option or setting is meant', () => {
  const { repository } = makeSession();
  git(repository, 'config', 'alias.shortlist', 'log --oneline');
  const hintsFor = (...words: string[]) => {
    const { exitCode, stdout, stderr } = agt(repository, ...words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    return stderr;
  };
  expect(hintsFor('lits')).toBe(
    'error: "lits" is not a command of agt or git\nhint: did you mean: agt list?\nhint: see: agt help, agt help -a\n',
  );
  expect(hintsFor('restroe')).toContain('did you mean: agt restore?');
  expect(hintsFor('comit')).toContain('did you mean: agt commit?');
  expect(hintsFor('shortlst')).toMatch(/did you mean: .*agt shortlist/);
  expect(hintsFor('qqqqqq')).toBe(
    'error: "qqqqqq" is not a command of agt or git\nhint: see: agt help, agt help -a\n',
  );
  expect(hintsFor('session', 'udno')).toBe(
    'error: unknown command "session udno"\nhint: did you mean: agt session undo?\nhint: see: agt help session\n',
  );
  expect(hintsFor('session', 'new', '--idd', 'x')).toBe(
    'error: unknown option "--idd"\nhint: did you mean: --id?\nhint: see: agt session new --help\n',
  );
  expect(hintsFor('config', 'get', 'agt.retentoin')).toContain('hint: did you mean: agt.retention?\n');
  expect(hintsFor('cd', 's1')).toContain('shell-init');
  expect(agt(repository, 'shortlist').stdout).toContain('first');
});

test.each([
  ['ls', 'agt list'],
  ['create', 'agt new'],
  ['delete', 'agt remove'],
  ['done', 'agt accept'],
  ['discard', 'agt reject'],
  ['save', 'agt snapshot'],
  ['checkpoint', 'agt snapshot'],
  ['snapshots', 'agt snapshot list'],
  ['rollback', 'agt undo'],
  ['session rm', 'agt session remove'],
  ['session merge', 'agt session accept'],
])('agt %s: the command that means the same', (words, command) => {
  const { repository } = makeSession();
  const { exitCode, stderr } = agt(repository, ...words.split(' '));
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`hint: did you mean: ${command}?\n`)]);
});

test('agt history is no error of git, and --hlep neither', () => {
  const { repository } = makeSession();
  expect(agt(repository, 'history').stderr).toMatch(/did you mean: agt session log\?|git history/);
  expect(agt(repository, '--hlep').stderr).toBe(
    'error: unknown option "--hlep"\nhint: did you mean: agt --help?\n',
  );
});

test.each([
  ['diff', 'agt session diff s1 --base'],
  ['merge', 'agt accept s1'],
  ['rm', 'agt remove s1'],
  ['switch', 'cd "$(agt session path s1)"'],
])('agt %s on a session: after the error of git, the command of agt', (command, advice) => {
  const { repository } = makeSession();
  const [ofGit, ofAgt] = [
    run(REAL_GIT, [command, 's1'], { cwd: repository }),
    agt(repository, command, 's1'),
  ];
  expect(ofAgt).toEqual({ ...ofGit, stderr: `${ofGit.stderr}hint: "s1" is a session: ${advice}\n` });
  expect(agt(repository, command, 'none').stderr).not.toContain('hint: "none"');
});

test('agt log with options on a session, and agt diff on a snapshot: the command of agt', () => {
  const { repository, sandbox } = makeSession();
  for (const words of [
    ['s1', '--stat', '--graph'],
    ['-n', '2', 's1', '--stat'],
  ])
    expect(agt(repository, 'log', ...words).stderr).toMatch(
      /^fatal: .*\nhint: "s1" is a session: agt session log s1 --stat\n$/s,
    );
  expect(agt(repository, 'diff', 's1', '--name-only', '--stat').stderr).toMatch(
    /: agt session diff s1 --base --name-only --stat\n$/,
  );
  agtOk(repository, 'session', 'new', '--id', 's2');
  for (const two of [['s1..s2'], ['s1...s2'], ['s1', 's2']])
    expect(agt(repository, 'diff', ...two, '--stat').stderr).toMatch(
      /\nhint: "s1" and "s2" are sessions: agt diff s1 --with s2\n$/,
    );
  agtOk(repository, 'reject', 's2');
  expect(agt(repository, 'diff', 's2', '--stat').stderr).toMatch(/: agt session diff s2 --stat\n$/);
  const [file] = git(repository, 'ls-files').split('\n');
  expect(agt(repository, 'why', `${file}:some text`).stderr).toBe(
    `error: "${file}:some text" names no line\n` +
      'hint: usage: agt why [REVISION] FILE:LINE, where LINE is a number\n' +
      `hint: the numbers of lines: grep -nF -- 'some text' ${file}\n`,
  );
  for (const [word, command] of [
    ['diff', 'diff s1 @{0}'],
    ['show', 'diff s1 @{1} @{0}'],
    ['log', 'log s1'],
  ] as const) {
    const hint = `hint: to git, this is in its reflog: @{0}; for snapshots of "s1": agt session ${command}\n`;
    expect(agt(sandbox, word, '@{0}')).toMatchObject({ exitCode: 0, stderr: hint });
    expect(agt(sandbox, 'git', word, '@{0}').stderr).toBe('');
    expect(agt(repository, word, '@{0}').stderr).toBe('');
  }
});

test.each([
  [['log', 's1', '--json'], 'log'],
  [['diff', 's1', '--base', '--stat'], 'diff'],
  [['diff', 's1', '--with', 's1', '--json'], 'diff'],
])('agt %j is the command of agt, since git has no such option', (words, name) => {
  const session = makeSession();
  write(join(session.sandbox, 'made'), '1');
  autocommit(session);
  const [, ...others] = words;
  const own = agtOk(session.repository, 'session', name, ...others);
  expect(own).not.toBe('');
  expect(agtOk(session.repository, ...words)).toBe(own);
});

test('git finds no repository in a folder that has snapshots: agt names its own command', () => {
  const above = makeTempDir();
  const folder = join(above, 'notes');
  write(join(folder, 'd/a'), '2');
  agtOk(folder, 'snapshot');
  for (const [command, advice] of [
    ['log', 'agt snapshot list'],
    ['diff', 'agt snapshot diff'],
  ] as const) {
    expect(agt(folder, command)).toEqual({
      exitCode: 128,
      stdout: '',
      stderr: `error: this folder is in no git repository; agt has its snapshots\nhint: see: ${advice}\n`,
    });
    expect(agt(above, command).stderr).not.toContain('agt');
  }
  write(join(folder, 'e'), '2');
  expect(agt(folder, 'diff', 'd/a', 'e')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('no example breaks across lines', () => {
  const dir = makeTempDir();
  const examples = (command: string) => agtOk(dir, ...command.split(' '), '--help').split('Examples:\n')[1];
  expect(examples('session log')).toMatch(/^ {2}agt session log --since "2 hours ago" --stat -- src$/m);
  expect(examples('session log')).toMatch(/^ {2}agt log --turns {2,}list the prompts/m);
});

test('without snapshots, a command on the folder says that there are none', () => {
  for (const words of [['undo'], ['log', '--turns'], ['diff', '--turn', '3']])
    expect(agt(makeRepository(), ...words).stderr).toMatch(
      /^error: no session given, .* has no snapshots yet\n/,
    );
});

test('a branch of the name of a session is what git says', () => {
  const { repository } = makeSession();
  git(repository, 'branch', 's1');
  expect(agt(repository, 'log', '-1', 's1').exitCode).toBe(0);
  expect(agt(repository, 'log', 's1')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('agt restore overwrites no file: git is meant only where somebody says so', () => {
  const session = makeSession({ a: 'a\n' });
  const { sandbox } = session;
  const file = join(sandbox, 'a');
  autocommit(session);
  write(file, 'mine\n');
  for (const [words, code] of [
    [['a'], 1],
    [['--source=HEAD', 'a'], 2],
  ] as const) {
    const { exitCode, stderr } = agt(sandbox, 'restore', ...words);
    expect([exitCode, readFileSync(file, 'utf8')]).toEqual([code, 'mine\n']);
    expect(stderr).toContain('hint: to bring a path back: agt restore s1 @{0} -- a\n');
    expect(stderr).toContain(`which overwrites files: agt git restore ${words.join(' ')}\n`);
  }
  expect(agt(sandbox, 'git', 'restore', 'a').exitCode).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe('a\n');
});

test('in a directory that is gone, agt says where to go', () => {
  const place = makeTempDir();
  for (const start of ['', 'PWD= ']) {
    const script = `mkdir gone && cd gone && rmdir "$PWD" && ${start}exec '${AGT}' list`;
    const { exitCode, stderr } = run('sh', ['-c', script], { cwd: place });
    const problem = 'error: cannot read the current directory: no such file or directory\n';
    const hint = `hint: it is gone; change to one that is there: cd ${place}\n`;
    expect([exitCode, stderr]).toEqual([128, problem + hint]);
  }
});

test('completion knows commands, options, sessions, snapshots, settings, remotes and branches', () => {
  const session = makeSession();
  const { repository } = session;
  autocommit(session, '--label', 'npm installed');
  git(repository, 'remote', 'add', 'upstream', '.');
  git(repository, 'branch', 'topic');
  const words = (...line: string[]) =>
    agtOk(repository, '--get-yargs-completions', 'agt', ...line).split('\n');
  expect(words('')).toEqual(expect.arrayContaining(['list', 'session', 'help', 'config']));
  expect(words('session', 'un')).toEqual(['unaccept', 'undo']);
  expect(words('session', 'remove', '--d')).toEqual(['--delete-branch', '--dry-run']);
  expect(words('remove', '')).toEqual(['s1']);
  expect(words('cd', '')).toEqual(['s1']);
  expect(words('session', 'show', '--session', '')).toEqual(['s1']);
  expect(words('session', 'restore', 's1', '--to', '')).toEqual(['@{0}', 'npm installed']);
  expect(words('session', 'diff', 's1', 'n')).toEqual(['npm installed']);
  expect(words('restore', 's1', '')).toEqual(['@{0}', 'npm installed']);
  const here = agtOk(session.sandbox, '--get-yargs-completions', 'agt', 'restore', '').split('\n');
  expect(here).toEqual(['@{0}', 'npm installed', 's1']);
  expect(words('config', 'get', 'agt.ret')).toEqual(['agt.retention']);
  expect(words('session', 'export', '--remote', '')).toEqual(['upstream']);
  expect(words('new', '--from', 't')).toEqual(['topic']);
  expect(words('list', '--state', '=', 'fai')).toEqual(['--state=failed']);
  expect(words('remove', '--').filter((word) => /^--.$/.test(word))).toEqual([]);
});

test('shell-init: agt cd goes to a sandbox, and completion works in bash', () => {
  const session = makeSession();
  const { repository, sandbox } = session;
  autocommit(session, '--label', 'npm installed');
  const inBash = (script: string, program = AGT) =>
    run('bash', ['--norc', '-c', `eval "$(agt shell-init bash)"\n${script}`], {
      cwd: repository,
      env: { PATH: `${join(program, '..')}:${process.env['PATH']}` },
    });
  expect(inBash('agt cd s1 && pwd')).toEqual({ exitCode: 0, stdout: `${sandbox}\n`, stderr: '' });
  expect(inBash('agt cd nosuch; echo $?; pwd').stdout).toBe(`1\n${repository}\n`);
  expect(inBash('set -u; agt list | wc -l').stdout.trim()).toBe('2');
  const completed = (line: string[]) =>
    inBash(
      `COMP_WORDS=(${line.join(' ')}); COMP_CWORD=${line.length - 1}; _agt_complete; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ).stdout;
  expect(completed(['agt', 'session', 'und'])).toBe('undo\n');
  expect(completed(['agt', 'session', 'restore', 's1', '--to', 'npm'])).toBe('npm\\ installed\n');
  expect(completed(['agt', 'list', '--state', '=', 'fai'])).toBe('failed\n');
  const deleted = 'agt cd s1; mkdir d; >d/f; agt autocommit -q; cd d; agt undo -q; pwd';
  expect(inBash(deleted).stdout).toBe(`${sandbox}\n`);
  const gone = 'agt cd s1; mkdir -p d; cd d; agt reject >/dev/null; echo $?; pwd';
  expect(inBash(gone)).toEqual({ exitCode: 0, stdout: `0\n${repository}\n`, stderr: '' });
  agtOk(repository, 'undo', 's1');
  const script = join(makeTempDir(), 'agt'); // as the one beside the shim: sh loses the PWD of a directory that is gone
  write(script, `#!/bin/sh\nexec '${AGT}' "$@"\n`, 0o755);
  expect(inBash(gone, script)).toEqual({ exitCode: 0, stdout: `0\n${repository}\n`, stderr: '' });
  agtOk(repository, 'undo', 's1');
  const hint = `hint: the directory that you are in is gone now: cd ${repository}\n`;
  expect(run(AGT, ['remove', 's1', '--json'], { cwd: sandbox }).stderr).toBe(hint);
  expect(run(AGT, ['remove', 's1', '--json'], { cwd: repository }).stderr).toBe('');
  expect(agtOk('/', 'completion', 'zsh')).toContain('#compdef agt');
  expect(agtOk('/', 'completion', 'bash')).toContain('complete -o bashdefault');
  expect(agtOk('/', 'completion', 'fish')).toContain('complete -c agt');
  expect(run(AGT, ['completion'], { cwd: '/', env: { SHELL: '/usr/bin/zsh' } }).stdout).toContain('#compdef');
  expect(agt('/', 'shell-init', 'tcsh')).toMatchObject({ exitCode: 2, stdout: '' });
});

test('session open starts the editor of the setting, VISUAL or EDITOR in the sandbox', () => {
  const { repository, sandbox } = makeSession();
  const open = (env: Record<string, string | undefined>) =>
    run(AGT, ['session', 'open', 's1'], {
      cwd: repository,
      env: { VISUAL: undefined, EDITOR: undefined, ...env },
    });
  expect(open({}).stderr).toContain('error: no editor is set');
  expect(open({ EDITOR: 'false', VISUAL: 'echo visual' }).stdout).toBe(`visual ${sandbox}\n`);
  const editor = join(makeTempDir(), 'my editor');
  write(editor, '#!/bin/sh\necho "$PWD|$2"; exit 3\n', 0o755);
  agtOk(repository, 'config', 'set', 'agt.editor', `'${editor}' --wait`);
  expect(open({ EDITOR: 'false' })).toMatchObject({ exitCode: 3, stdout: `${sandbox}|${sandbox}\n` });
});

test.each([
  ['log', ['--all-sessions', '--turns', '--turn <n>', '--json', '--everywhere']],
  ['diff', ['--turn <n>', '--base', '--with <id>', '--json']],
])('agt %s --help: the options that only agt has, and where those of git are', (command, options) => {
  const { repository } = makeSession();
  const help = agtOk(repository, command, '--help');
  expect(help.match(/--[a-z-]+(?: <\w+>)?(?= {2})/g)).toEqual(options);
  expect(help).toContain(`Every other option is git's: git ${command} --help`);
  expect(agtOk(repository, 'help', command)).toBe(help);
  expect(agtOk(repository, command, '--help', '--all')).toBe(help);
  for (const [, other = ''] of help.matchAll(/agt (session \w+) --help/g))
    expect(agtOk(repository, ...other.split(' '), '--help')).toContain(`agt ${other}`);
});
