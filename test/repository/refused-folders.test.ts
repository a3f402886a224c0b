/** agt refuses sessions of a home directory or a whole disk, and folders that contain the repository. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { autocommit, makeSession, tryAutocommit } from '../harness/session.ts';
import { AGT, agt, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

test('refuses a session of $HOME, also through a symbolic link or core.worktree', () => {
  const home = makeRepository({ 'notes/a': 'a\n' });
  const link = join(makeTempDir(), 'link');
  symlinkSync(home, link);
  const dotfiles = join(makeTempDir(), 'dotfiles');
  git(home, 'clone', '-q', '--bare', home, dotfiles);
  git(dotfiles, 'config', 'core.bare', 'false');
  git(dotfiles, 'config', 'core.worktree', home);
  for (const [HOME, cwd] of [
    [home, home],
    [link, join(home, 'notes')],
    [home, link],
    [home, dotfiles],
  ] as const) {
    const outcome = run(AGT, ['session', 'new', '--id', 's1'], { cwd, env: { HOME } });
    expect(`${cwd} ${outcome.exitCode}`).toBe(`${cwd} 1`);
    expect(`${cwd} ${outcome.stderr}`).toContain(
      `error: cannot create a session of your home directory ("${home}")\nhint: make the folder`,
    );
  }
  expect(existsSync(`${home}.agt`) || existsSync(`${dotfiles}.agt`)).toBe(false);
  expect(git(home, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  // A repository inside the home directory is fine.
  const inside = join(home, 'project');
  mkdirSync(inside);
  git(inside, 'init', '-q');
  git(inside, 'commit', '-q', '--allow-empty', '-m', 'first');
  expect(run(AGT, ['session', 'new'], { cwd: inside, env: { HOME: home } }).exitCode).toBe(0);
});

test('refuses a session of /', ({ skip }) => {
  const root = makeTempDir('root');
  // A root directory of its own, with the programs of this machine and the `.git` of the repository.
  const script = `
    mount --bind "$1" "$1" && cd "$1" || exit 77
    for entry in /*; do
      if [ -L "$entry" ]; then cp -P "$entry" .
      elif [ -d "$entry" ]; then mkdir ".$entry" && mount --rbind "$entry" ".$entry" || exit 77; fi
    done
    exec chroot . /bin/sh -c 'cd / && "$0" init -q && "$0" commit -q --allow-empty -m first && "$1" session new --id s1' "$2" "$3"`;
  const outcome = spawnSync('unshare', ['-m', 'sh', '-c', script, 'sh', root, REAL_GIT, AGT], {
    encoding: 'utf8',
    env: { ...process.env, AGT_GIT_PATH: REAL_GIT },
  });
  skip(outcome.status === 77 || outcome.status === null, 'a root of its own cannot be made here');
  skip(/unshare|chroot|Operation not permitted|not found/.test(outcome.stderr), outcome.stderr.trim());
  expect(outcome.stderr).toContain('error: cannot create a session of the root directory ("/")');
  expect(outcome.status).toBe(1);
  expect(readdirSync(join(root, '.git'))).not.toContain('agt');
});

test('refuses to capture a session folder that contains the repository', () => {
  const session = makeSession();
  const { commit } = autocommit(session);
  const store = join(session.folder, 'xdg/store');
  renameSync(join(session.repository, '.git'), store);
  writeFileSync(join(session.repository, '.git'), `gitdir: ${store}\n`);
  git(session.repository, 'worktree', 'repair', session.sandbox);
  const outcome = tryAutocommit(session);
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stderr).toContain(`error: the repository "${store}" is inside the session folder`);
  expect(git(session.repository, 'rev-parse', 'agtsessions/s1')).toBe(commit);
});

test('captures repositories of the agent, bare or not, like other files', () => {
  const session = makeSession();
  git(session.sandbox, 'init', '-q', '--bare', 'remote.git');
  git(session.sandbox, 'init', '-q', 'nested');
  write(join(session.sandbox, 'nested/a'), 'a\n');
  git(join(session.sandbox, 'nested'), 'add', 'a');
  git(join(session.sandbox, 'nested'), 'commit', '-q', '-m', 'first');
  const { skipped } = autocommit(session);
  expect(skipped.map(({ path }) => path)).toEqual(['sandbox/nested/.git']);
  expect(git(session.repository, 'show', 'agtsessions/s1:sandbox/remote.git/HEAD')).toMatch(/^ref: /);
  expect(agt(session.repository, 'autocommit', '--session-id', 's1').stdout).toBe('s1: nothing changed\n');
});
