import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AGT, agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, write } from '../harness/world.ts';

describe('agt clone', () => {
  test('creates a bare repository, a primary worktree and an area, and tracks the remote as git clone does', () => {
    const source = makeRepository();
    git(source, 'branch', 'other');
    git(source, 'tag', 'v1');
    const dir = makeTempDir();
    agtOk(dir, 'clone', source);
    for (const name of ['sessions', 'timestamps'])
      expect(existsSync(join(dir, 'project.git/agt', name))).toBe(true);
    expect(readdirSync(dir).sort()).toEqual(['project', 'project.git']);
    expect(readdirSync(join(dir, 'project')).sort()).toEqual(['.agt', 'main', 'sessions']);
    const bare = join(dir, 'project.git');
    expect(git(bare, 'rev-parse', '--is-bare-repository')).toBe('true');
    expect(git(bare, 'config', '--get-all', 'remote.origin.fetch')).toBe(
      '+refs/heads/*:refs/remotes/origin/*',
    );
    expect(git(bare, 'for-each-ref', '--format=%(refname)').split('\n')).toEqual([
      'refs/heads/main',
      'refs/remotes/origin/HEAD',
      'refs/remotes/origin/main',
      'refs/remotes/origin/other',
      'refs/tags/v1',
    ]);
    const primary = join(dir, 'project', 'main');
    expect(git(primary, 'status', '--porcelain', '--branch')).toBe('## main...origin/main');
    expect(git(primary, 'log', '--format=%s')).toBe('first');
  });

  test('a second argument names the directory, as for git clone', () => {
    const dir = makeTempDir();
    const source = makeRepository();
    agtOk(dir, 'clone', source, 'mine');
    agtOk(dir, 'clone', source, 'deep/other/');
    expect(readdirSync(dir).sort()).toEqual(['deep', 'mine', 'mine.git']);
    expect(readdirSync(join(dir, 'deep')).sort()).toEqual(['other', 'other.git']);
    const again = agt(dir, 'clone', source, 'mine');
    expect(again.exitCode).not.toBe(0);
    expect(agtOk(join(dir, 'mine', 'main'), 'new', 's1')).toContain('s1');
  });

  test('hides every namespace of agt from people who fetch', () => {
    const dir = makeTempDir();
    agtOk(dir, 'clone', makeRepository());
    expect(
      git(join(dir, 'project.git'), 'config', '--get-all', 'uploadpack.hideRefs').split('\n').sort(),
    ).toEqual([
      '!refs/agt/shared',
      'refs/agt',
      'refs/heads/agt',
      'refs/heads/agtsessions',
      'refs/remotes/origin/agt',
      'refs/remotes/origin/agtsessions',
      'refs/tags/agtsessions',
    ]);
  });

  test('names the primary worktree after the last part of a default branch with a slash', () => {
    const source = makeRepository();
    git(source, 'branch', '-m', 'release/next');
    const dir = makeTempDir();
    agtOk(dir, 'clone', source);
    expect(git(join(dir, 'project', 'next'), 'symbolic-ref', 'HEAD')).toBe('refs/heads/release/next');
  });

  test('clones an empty remote, with the primary worktree on its unborn branch', () => {
    const dir = makeTempDir();
    git(dir, 'init', '-q', '--bare', '-b', 'trunk', 'empty.git');
    const outcome = agt(dir, 'clone', 'empty.git', '--path', 'here');
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stderr).toContain('warning: the remote has no commits');
    const primary = join(dir, 'here', 'empty', 'trunk');
    expect(git(primary, 'symbolic-ref', 'HEAD')).toBe('refs/heads/trunk');
    expect(git(primary, 'status', '--porcelain')).toBe('');
    write(join(primary, 'a'), 'a\n');
    git(primary, 'add', 'a');
    git(primary, 'commit', '-q', '-m', 'first');
    expect(git(primary, 'rev-list', '--count', 'HEAD')).toBe('1');
  });

  test('accepts file:// URLs, missing parent directories, --branch and --depth', () => {
    const source = makeRepository();
    git(source, 'commit', '-q', '--allow-empty', '-m', 'second');
    git(source, 'branch', 'other');
    const dir = makeTempDir();
    agtOk(dir, 'clone', `file://${source}`, '--path', 'a/b', '--branch', 'other', '--depth', '1');
    const primary = join(dir, 'a', 'b', 'project', 'other');
    expect(git(primary, 'rev-list', '--count', 'HEAD')).toBe('1');
  });

  test('refuses an existing target before it creates anything', () => {
    const source = makeRepository();
    const dir = makeTempDir();
    write(join(dir, 'project', 'precious'), 'mine\n');
    const outcome = agt(dir, 'clone', source);
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toBe(
      `error: "${join(dir, 'project')}" already exists and is not an empty directory\nhint: choose another name: agt clone ${source} NAME\n`,
    );
    expect(readdirSync(dir)).toEqual(['project']);
    expect(readdirSync(join(dir, 'project'))).toEqual(['precious']);
    agtOk(dir, 'clone', source, 'other');
  });

  test('leaves nothing of a failed clone, not even the parent directories that --path created', () => {
    const dir = makeTempDir();
    const outcome = agt(dir, 'clone', join(dir, 'nothing-here'), '--path', 'new/folder');
    expect(outcome.exitCode).toBe(128);
    expect(outcome.stderr).toContain('error: git could not clone "');
    expect(readdirSync(dir)).toEqual([]);
  });

  test('keeps an empty target directory that existed before a failed clone', () => {
    const dir = makeTempDir();
    mkdirSync(join(dir, 'gone'));
    expect(agt(dir, 'clone', join(dir, 'no', 'gone')).exitCode).toBe(128);
    expect(readdirSync(dir)).toEqual(['gone']);
  });

  test('leaves nothing of an interrupted clone', async () => {
    const source = makeRepository();
    const dir = makeTempDir();
    // A transport that hangs, so that the signal surely comes during the clone.
    const hang = join(dir, 'hang');
    write(hang, '#!/bin/sh\necho started >&2\nexec sleep 60\n', 0o755);
    const child = spawn(AGT, ['clone', `ssh://host${source}`, '--path', 'new'], {
      cwd: dir,
      env: { ...process.env, AGT_GIT_PATH: REAL_GIT, GIT_SSH: hang, GIT_SSH_VARIANT: 'simple' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => chunk.toString().includes('started') && resolve());
    });
    expect(existsSync(join(dir, 'new', 'project.git'))).toBe(true);
    child.kill('SIGINT');
    const code = await new Promise((resolve) => child.on('exit', resolve));
    expect(code).toBe(130);
    expect(readdirSync(dir)).toEqual(['hang']);
  });

  test('finds the repository from the area, from a session folder and from the sandbox', () => {
    const dir = makeTempDir();
    agtOk(dir, 'clone', makeRepository());
    const area = join(dir, 'project');
    agtOk(area, 'session', 'new', '--id', 's1');
    const sandbox = join(area, 'sessions', 's1', 'sandbox');
    for (const directory of [
      area,
      join(area, 'main'),
      sandbox,
      join(area, 'sessions', 's1', 'xdg'),
      join(dir, 'project.git'),
    ]) {
      expect(JSON.parse(agtOk(directory, 'session', 'list', '--json'))).toHaveLength(1);
    }
    expect(agtOk(join(area, 'sessions', 's1', 'config'), 'session', 'path')).toBe(sandbox);
  });
});
