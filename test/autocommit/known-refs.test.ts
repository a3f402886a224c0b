/** A capture reads refs from files and asks git only about commits that it has not met: always the answer that git gives. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession, type TestSession } from '../harness/session.ts';
import { AGT, git, REAL_GIT, run, write } from '../harness/world.ts';

/** The gits that an autocommit starts, without their options before the command. */
function gitsOf({ repository }: TestSession): string[] {
  const { stderr } = run(AGT, ['autocommit', 's1'], { cwd: repository, env: { AGT_TRACE: '1' } });
  return [...stderr.matchAll(/^agt: trace: (.*)$/gm)].map(
    ([, line = '']) => /(fast-import|cat-file|rev-list|for-each-ref)/.exec(line)?.[0] ?? line,
  );
}

/** HEAD according to the last snapshot, and its parents. */
function captured({ repository }: TestSession) {
  const { head } = JSON.parse(git(repository, 'show', 'agtsessions/s1:_/manifest.json'));
  const [previous, user] = git(repository, 'log', '-1', '--format=%P', 'agtsessions/s1').split(' ');
  return { head, previous, user };
}

test('nothing changed: no git; one file changed: only the one that stores it', () => {
  const session = makeSession();
  write(join(session.sandbox, 'new'), 'one\n');
  autocommit(session);
  expect(gitsOf(session)).toEqual([]);
  write(join(session.sandbox, 'new'), 'two\n');
  expect(gitsOf(session)).toEqual(['fast-import']);
  git(session.repository, 'pack-refs', '--all');
  expect(gitsOf(session)).toEqual([]);
  git(session.repository, 'commit', '-q', '--allow-empty', '-m', 'of the user');
  expect(gitsOf(session)).toEqual(['cat-file']);
  expect(gitsOf(session)).toEqual([]);
});

test('whatever happens to the refs, a snapshot has the HEAD and the parents that git names', () => {
  const session = makeSession();
  const { repository, sandbox } = session;
  const inSandbox = (...args: string[]) => git(sandbox, ...args);
  const start = inSandbox('rev-parse', 'HEAD');
  const known = join(repository, '.git/agt/refs/s1');
  const events: [string, () => unknown][] = [
    ['the agent commits', () => inSandbox('commit', '-q', '--allow-empty', '-m', 'first')],
    ['detached', () => inSandbox('checkout', '-q', '--detach', start)],
    ['another branch', () => inSandbox('checkout', '-q', '-b', 'side')],
    ['a branch without commits', () => inSandbox('checkout', '-q', '--orphan', 'empty')],
    ['back', () => inSandbox('checkout', '-qf', 'agt/s1')],
    ['amended', () => inSandbox('commit', '-q', '--amend', '--allow-empty', '-m', 'again')],
    ['packed refs', () => git(repository, 'pack-refs', '--all')],
    ['the user commits', () => git(repository, 'commit', '-q', '--allow-empty', '-m', 'mine')],
    ['a damaged file', () => writeFileSync(known, '{"tip":"')],
    ['a file of other values', () => writeFileSync(known, '{"tip":1,"tipTree":null,"commits":{}}')],
    ['no file', () => rmSync(known)],
    ['a symbolic ref', () => git(repository, 'symbolic-ref', 'refs/heads/main', 'refs/heads/side')],
    ['and back', () => git(repository, 'symbolic-ref', '--delete', 'refs/heads/main')],
    [
      'the work branch is gone',
      () => [inSandbox('checkout', '-q', '--detach'), inSandbox('branch', '-qD', 'agt/s1')],
    ],
  ];
  for (const [i, [event, act]] of events.entries()) {
    act();
    const previous = git(repository, 'rev-parse', 'agtsessions/s1');
    write(join(sandbox, 'work'), `${i}\n`);
    autocommit(session);
    const ask = (...args: string[]) => run(REAL_GIT, args, { cwd: sandbox }).stdout.trim() || null;
    const commitOf = (name: string) => ask('rev-parse', '--verify', '-q', name);
    const ref = ask('symbolic-ref', '-q', 'HEAD');
    const work = ref === 'refs/heads/agt/s1' ? {} : { work: commitOf('refs/heads/agt/s1') };
    expect(captured(session), event).toEqual({
      head: { ref, commit: commitOf('HEAD'), ...work },
      previous,
      user: commitOf('refs/heads/main') ?? start,
    });
  }
});
