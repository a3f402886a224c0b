/** A call of git mode looks up the repository and reads the settings when it needs them, and then once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { NO_STRACE, straceWorks } from '../harness/strace.ts';
import { GIT_MODE, makeTempDir, run, runsAsGit, write } from '../harness/world.ts';
import { words } from '../twin/compare.ts';

/** Files that the call opened, in a git that answers nothing; child processes are not counted. */
function filesOpenedBy(line: string, cwd: string): string[] {
  const log = join(makeTempDir('trace'), 'trace');
  const silent = join(makeTempDir('silent'), 'git');
  write(silent, '#!/bin/sh\n', 0o755);
  const env = runsAsGit(silent);
  const outcome = run('strace', ['-e', 'trace=openat', '-o', log, GIT_MODE, ...words(line)], { cwd, env });
  expect(outcome.exitCode).toBe(0);
  return [...readFileSync(log, 'utf8').matchAll(/openat\([^"]*"([^"]*)"/g)].map((match) => match[1] ?? '');
}

describe.skipIf(!straceWorks)(`what a call opens${straceWorks ? '' : `: ${NO_STRACE}`}`, () => {
  let session: TestSession;
  let userSettings: string;
  let repositorySettings: string;
  beforeAll(() => {
    session = makeSession();
    userSettings = join(process.env['HOME'] as string, '.agtconfig');
    repositorySettings = join(session.repository, '.git/agt/config');
  });

  test.each(['status', 'commit -m x', 'add .', 'mv a b', 'clean -n'])(
    'git %s: nothing of the repository, although this is a sandbox',
    (line) => {
      const opened = filesOpenedBy(line, session.sandbox);
      expect(opened.filter((path) => path.startsWith(`${session.repository}/`))).toEqual([]);
      expect(opened.filter((path) => path === userSettings)).toHaveLength(1);
    },
  );

  test('git reset in a sandbox: whether it ends a merge with an autostash, but no settings', () => {
    const opened = filesOpenedBy('reset -q', session.sandbox);
    expect(opened.filter((name) => name.endsWith('/MERGE_AUTOSTASH'))).toHaveLength(1);
    expect(opened).not.toContain(repositorySettings);
  });

  test('git reset --hard outside a sandbox: no settings of the repository', () => {
    const opened = filesOpenedBy('reset --hard', session.repository);
    expect(opened).toContain(join(session.repository, '.git/HEAD'));
    expect(opened).not.toContain(repositorySettings);
  });

  test.each(['reset --hard', 'branch', 'branch -D x', 'log --all'])(
    'git %s in a sandbox: one look-up of the repository, one reading of each settings file',
    (line) => {
      const opened = filesOpenedBy(line, session.sandbox);
      const count = (path: string) => opened.filter((name) => name === path).length;
      const gitFile = join(session.sandbox, '.git');
      expect([count(gitFile), count(userSettings), count(repositorySettings)]).toEqual([1, 1, 1]);
    },
  );
});
