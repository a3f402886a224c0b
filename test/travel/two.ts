/** A bare remote and two repositories that know it: `here` has a session with everything that a session can have. */
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sessionOf, snapshotFolder, type TestSession } from '../harness/session.ts';
import { agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';

export interface Two {
  readonly remote: string;
  readonly here: string;
  readonly there: string;
}

const FILES = { 'a.txt': 'one\n', 'b.txt': 'two\n', 'dir/c.txt': 'three\n', '.gitignore': '.env\nbuild/\n' };

/** `format`: of the objects of all three. */
export function makeTwo(format = 'sha1'): Two {
  const parent = makeTempDir();
  const [remote, here, there] = ['remote.git', 'here', 'there'].map((name) => join(parent, name)) as [
    string,
    string,
    string,
  ];
  git(parent, 'init', '-q', '--bare', '-b', 'main', `--object-format=${format}`, remote);
  git(parent, 'init', '-q', '-b', 'main', `--object-format=${format}`, here);
  for (const [path, content] of Object.entries(FILES)) write(join(here, path), content);
  git(here, 'add', '-A');
  git(here, 'commit', '-q', '-m', 'first');
  git(here, 'remote', 'add', 'origin', remote);
  git(here, 'push', '-q', 'origin', 'main');
  git(here, 'fetch', '-q', 'origin');
  git(parent, 'clone', '-q', remote, there);
  return { remote, here, there };
}

/** Three moments: work without commits, a commit and a stage, a merge in progress. */
export function workIn(repository: string, id = 's1'): TestSession {
  agtOk(repository, 'session', 'new', '--id', id);
  const session = sessionOf(repository, id);
  const { sandbox, folder } = session;
  write(join(sandbox, '.env'), 'TOKEN=abcdef\n', 0o600);
  write(join(sandbox, 'a.txt'), 'one\nand more\n');
  write(join(sandbox, 'run.sh'), '#!/bin/sh\n', 0o755);
  mkdirSync(join(sandbox, 'empty'));
  chmodSync(join(sandbox, 'empty'), 0o711);
  symlinkSync('a.txt', join(sandbox, 'link'));
  writeFileSync(Buffer.from(`${sandbox}/h\xe9\n`, 'latin1'), 'odd\n');
  write(join(folder, 'config/agent/settings.json'), '{}\n');
  agtOk(repository, 'autocommit', id, '--label', 'before the commit');
  git(sandbox, 'add', 'a.txt', 'run.sh');
  git(sandbox, 'commit', '-q', '-m', 'by the agent');
  write(join(sandbox, 'b.txt'), 'staged\n');
  git(sandbox, 'add', 'b.txt');
  write(join(sandbox, 'b.txt'), 'staged and more\n');
  agtOk(repository, 'autocommit', id);
  write(join(sandbox, 'build/out.o'), Buffer.from([0, 1, 2, 255]));
  utimesSync(join(sandbox, 'build/out.o'), 1, 1);
  agtOk(repository, 'autocommit', id);
  return session;
}

/** Everything that git and the disk say of a sandbox. */
export function factsOf({ folder, sandbox }: TestSession): Record<string, unknown> {
  const ask = (...words: string[]) => run(REAL_GIT, words, { cwd: sandbox }).stdout;
  return {
    files: [...snapshotFolder(folder)].sort(),
    head: ask('log', '--format=%H %s'),
    branch: ask('symbolic-ref', 'HEAD'),
    index: ask('ls-files', '--stage', '-z'),
    status: ask('status', '--porcelain=v2', '--ignored', '-z'),
    worktree: ask('diff', '--binary'),
  };
}

/** The snapshots, the oldest first. */
export function chain({ repository, id }: TestSession): string[] {
  return git(repository, 'rev-list', '--first-parent', '--reverse', `main..refs/agt/tip/${id}`).split('\n');
}

/** As another user's home would have it. */
export function withoutKey<T>(action: () => T): T {
  const before = process.env['XDG_CONFIG_HOME'];
  process.env['XDG_CONFIG_HOME'] = makeTempDir('config');
  try {
    return action();
  } finally {
    if (before === undefined) delete process.env['XDG_CONFIG_HOME'];
    else process.env['XDG_CONFIG_HOME'] = before;
  }
}

/** Snapshots have no finer time, and agt knows by it to where a session went. */
export function nextSecond(): void {
  const left = 1000 - (Date.now() % 1000);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left + 5);
}
