/** The guard captures a session wherever a command that can destroy its work runs, and through either face of agt. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { identify } from '../../../src/disk/lock-owner.ts';
import { makeSession, sessionIn, type TestSession } from '../../harness/session.ts';
import { ofToday } from '../../harness/today.ts';
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
} from '../../harness/world.ts';
import { words } from '../../twin/compare.ts';

const env = { PATH: `${dirname(REAL_GIT)}:${process.env['PATH']}`, AGT_GIT_PATH: undefined };

let shim: string;
beforeAll(() => {
  const dir = makeTempDir('shim');
  expect(run(AGT, ['shim', 'install', '--dir', dir], { cwd: '/', env }).exitCode).toBe(0);
  shim = join(dir, 'git');
});

const subject = ({ repository, id }: TestSession) =>
  git(repository, 'log', '-1', '--format=%s', `agtsessions/${id}`);
const stored = ({ repository, id }: TestSession, path: string) =>
  git(repository, 'show', `agtsessions/${id}:sandbox/${path}`);

const sessionWithA = () => makeSession({ a: 'a\n' });

function sessionWithEdit(session = sessionWithA()): TestSession {
  writeFileSync(join(session.sandbox, 'a'), 'work\n');
  return session;
}

describe.each([
  ['git mode', () => GIT_MODE],
  ['the shim', () => shim],
  ['agt', () => AGT],
])('through %s', (_, program) => {
  const call = (cwd: string, line: string, more = {}) =>
    run(program(), words(line), { cwd, env: { ...env, ...more } });

  test('in the sandbox itself', () => {
    const session = sessionWithEdit();
    expect(call(session.sandbox, 'reset -q --hard')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(stored(session, 'a')).toBe('work');
  });

  test('in a repository inside of the sandbox, by an alias too', () => {
    const session = sessionWithA();
    const inner = join(session.sandbox, 'deep/inner');
    mkdirSync(inner, { recursive: true });
    git(inner, 'init', '-q');
    write(join(inner, 'f'), 'committed\n');
    git(inner, 'add', 'f');
    git(inner, 'commit', '-q', '-m', 'inner');
    git(inner, 'config', 'alias.wipe', 'reset -q --hard');
    for (const line of ['checkout -q .', 'wipe']) {
      writeFileSync(join(inner, 'f'), `before ${line}\n`);
      expect(call(inner, line)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
      expect(readFileSync(join(inner, 'f'), 'utf8')).toBe('committed\n');
      expect(stored(session, 'deep/inner/f')).toBe(`before ${line}`);
    }
  });

  test('in a repository whose path has a line break', () => {
    const repository = join(makeTempDir(), 'line\nbreak');
    git('/', 'clone', '-q', makeRepository({ a: 'a\n' }), repository);
    const session = sessionWithEdit(sessionIn(repository));
    expect(call(session.sandbox, 'checkout -q .').stderr).toBe('');
    expect(stored(session, 'a')).toBe('work');
  });

  test.each(
    ofToday([
      '-C REPO --work-tree=SANDBOX checkout -f',
      '--git-dir=REPO/.git --work-tree SANDBOX reset -q --hard',
    ]),
  )('from outside: git %s', (line) => {
    const session = sessionWithEdit();
    const text = line.replace('SANDBOX', session.sandbox).replace('REPO', session.repository);
    if (program() !== AGT || !text.startsWith('-C')) expect(call('/', text).exitCode).toBe(0);
    else expect(call(session.repository, text.replace(/^-C \S+ /, '')).exitCode).toBe(0);
    expect(stored(session, 'a')).toBe('work');
  });

  test('from outside: with GIT_WORK_TREE', () => {
    const session = sessionWithEdit();
    expect(call(session.repository, 'checkout -f', { GIT_WORK_TREE: session.sandbox }).exitCode).toBe(0);
    expect(stored(session, 'a')).toBe('work');
  });

  test('from outside: git worktree remove, by the end of its path', () => {
    const session = sessionWithEdit();
    expect(call(session.repository, 'worktree remove --force s1/sandbox')).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
    expect(stored(session, 'a')).toBe('work');
  });

  test.each(
    ofToday([
      'diff --output=FILE',
      'log --output FILE',
      'archive -o FILE HEAD',
      'diff-tree --output=FILE HEAD',
    ]),
  )('from outside: git %s, if it writes over a file of the session', (line) => {
    const session = sessionWithEdit();
    const file = join(session.sandbox, 'a');
    expect(call(session.repository, line.replace('FILE', `${file}.tar`)).exitCode).toBe(0);
    expect(subject(session)).not.toMatch(/^before/);
    expect(call(session.repository, line.replace('FILE', file)).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toBe('work\n');
    expect(stored(session, 'a')).toBe('work');
  });

  test('git diff | git apply -R, and git merge-file', () => {
    const session = sessionWithEdit();
    const patch = git(session.sandbox, 'diff');
    expect(run(program(), ['apply', '-R'], { cwd: session.sandbox, env, input: `${patch}\n` }).exitCode).toBe(
      0,
    );
    expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('a\n');
    expect(stored(session, 'a')).toBe('work');
    write(join(session.sandbox, 'b'), 'mine\n');
    write(join(session.sandbox, 'c'), 'theirs\n');
    expect(call(session.sandbox, 'merge-file b a c').exitCode).toBe(1);
    expect(stored(session, 'b')).toBe('mine');
  });

  test.each(
    ofToday([
      'push -q . :x',
      'push -q -f . main:x',
      'fetch -q . +main:x',
      'update-ref refs/heads/x main',
      'update-ref -m why refs/heads/x main',
      'rebase -q --onto main main x',
    ]),
  )('git %s: the commit that the branch had stays reachable', (line) => {
    const session = sessionWithA();
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'base');
    git(session.sandbox, 'checkout', '-q', '-b', 'x', 'main');
    git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'only on x');
    git(session.sandbox, 'checkout', '-q', 'agt/s1');
    const commit = git(session.sandbox, 'rev-parse', 'x');
    const outcome = call(session.sandbox, line);
    expect([outcome.exitCode, outcome.stderr]).toEqual([0, '']);
    git(session.repository, 'merge-base', '--is-ancestor', commit, 'agtsessions/s1');
  });

  test.each(ofToday(['commit -q --amend --allow-empty -m other', 'reset -q --soft main', 'reset -q main']))(
    'git %s: the commit that HEAD had stays reachable',
    (line) => {
      const session = sessionWithA();
      agtOk(session.sandbox, 'autocommit');
      git(session.sandbox, 'commit', '-q', '--allow-empty', '-m', 'mine');
      const commit = git(session.sandbox, 'rev-parse', 'HEAD');
      expect(call(session.sandbox, line)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
      expect(git(session.sandbox, 'rev-parse', 'HEAD')).not.toBe(commit);
      git(session.repository, 'merge-base', '--is-ancestor', commit, 'agtsessions/s1');
    },
  );
});

const hasScript = run('sh', ['-c', 'command -v script'], { cwd: '/' }).exitCode === 0;

test('the guard waits as long as another agt works on the session, and says so on a terminal', async () => {
  const session = sessionWithEdit();
  const lock = join(session.repository, '.git/agt/locks/s1');
  const holder = spawn('sh', ['-c', 'sleep 6; rm "$0"', lock], { stdio: 'ignore' });
  write(lock, JSON.stringify(identify(holder.pid as number)));
  const ended = new Promise((resolve) => holder.on('exit', resolve));
  const [program, args] = hasScript
    ? ['script', ['-qec', `'${GIT_MODE}' reset -q --hard`, '/dev/null']]
    : [GIT_MODE, ['reset', '-q', '--hard']];
  const outcome = run(program, args, { cwd: session.sandbox, env });
  await ended;
  expect(outcome).toEqual({
    exitCode: 0,
    stdout: hasScript ? 'agt: waiting for another agt that is working on session "s1"\r\n' : '',
    stderr: '',
  });
  expect(stored(session, 'a')).toBe('work');
});
