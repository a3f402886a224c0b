/**
 * Twelve ways that the work of an agent ends, in a sandbox and in the user's own checkout. Whatever happens, the user's
 * branch has one commit with the accepted work, or is as it was; the user's uncommitted work is there byte for byte.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { busyCheckout, look, metadata } from '../lifecycle/in-place/checkout.ts';

type WorkingCopy = 'worktree' | 'in-place';

interface Scene {
  readonly repository: string;
  /** Where the agent works. */
  readonly place: string;
  readonly before: ReturnType<typeof look>;
}

function begin(workingCopy: WorkingCopy): Scene {
  const repository = busyCheckout();
  const before = look(repository);
  agtOk(repository, 'session', 'new', 's1', '--working-copy', workingCopy);
  agtOk(repository, 'config', 'set', 'agt.autoRevert', 'always');
  const place = workingCopy === 'in-place' ? repository : agtOk(repository, 'session', 'path', 's1');
  return { repository, place, before };
}

function tool({ place }: Scene, script: string, ...options: string[]) {
  return agt(place, 'session', 'exec', '--tool', 'Bash', ...options, '--', 'sh', '-c', script);
}

/** Records of tool calls that each change one file. */
function recordCalls(scene: Scene, ...names: string[]): void {
  for (const name of names) expect(tool(scene, `echo ${name} >${name}`).exitCode).toBe(0);
}

function expectAccepted({ repository, before }: Scene, ...files: string[]): void {
  expect(git(repository, 'rev-list', '--count', `${before.main}..main`)).toBe('1');
  const changed = git(repository, 'diff', '--name-only', before.main, 'main');
  expect(changed.split('\n')).toEqual(files);
  expect(git(repository, 'log', '-1', '--format=%an%n%(trailers)', 'main')).toMatch(
    /^Ann Author\nAgt-Session: s1/,
  );
  const after = look(repository);
  for (const [path, content] of before.files) expect([path, after.files.get(path)]).toEqual([path, content]);
  expect(after.status).toBe(before.status);
  expect(metadata(repository).state).toBe('accepted');
}

function expectUntouched({ repository, before }: Scene, state: string): void {
  expect(look(repository)).toEqual(before);
  expect(metadata(repository).state).toBe(state);
  expect(git(repository, 'for-each-ref', '--format=%(refname)', 'refs/heads/agt/', 'refs/agt/stash')).toBe(
    '',
  );
}

/** Nobody decides: the next sweep reverts the session. */
function sweep({ repository }: Scene, reason: RegExp): void {
  expect(agtOk(repository, 'session', 'sweep')).toMatch(reason);
}

describe.each<WorkingCopy>(['worktree', 'in-place'])('%s', (workingCopy) => {
  test('accepted after three files have changed: one commit', () => {
    const scene = begin(workingCopy);
    for (const name of ['one', 'two', 'three']) write(join(scene.place, name), `${name}\n`);
    agtOk(scene.repository, 'accept', 's1');
    expectAccepted(scene, 'one', 'three', 'two');
  });

  test('rejected after five records: the branch and the uncommitted work are as before', () => {
    const scene = begin(workingCopy);
    recordCalls(scene, 'one', 'two', 'three', 'four', 'five');
    git(scene.place, 'add', 'one');
    git(scene.place, 'commit', '-q', '-m', 'by the agent');
    agtOk(scene.repository, 'reject', 's1', '--reason', 'not good');
    expectUntouched(scene, 'rejected');
    expect(JSON.parse(agtOk(scene.repository, 'session', 'log', 's1', '--json')).length).toBeGreaterThan(4);
  });

  test('three records, of which one failed: one commit without the changes of that one', () => {
    const scene = begin(workingCopy);
    recordCalls(scene, 'one');
    expect(tool(scene, 'echo half >half; exit 7').exitCode).toBe(7);
    recordCalls(scene, 'two');
    const accepted = agt(scene.repository, 'accept', 's1');
    expect(accepted).toMatchObject({
      exitCode: 0,
      stderr: 'warning: changes by failed calls stay out (half); take them too: --with-failed\n',
    });
    expectAccepted(scene, 'one', 'two');
  });

  test('an agent and its agt that are killed: the sweep captures and reverts', async () => {
    const scene = begin(workingCopy);
    const args = ['run', 's1', '--', 'sh', '-c', 'echo work >work; echo ready; exec sleep 60'];
    const child = spawn(AGT, args, {
      cwd: scene.repository,
      detached: true,
      env: { ...process.env, AGT_GIT_PATH: REAL_GIT },
    });
    while (metadata(scene.repository).owner === undefined || !existsSync(join(scene.place, 'work')))
      await sleep(10);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    process.kill(-(child.pid as number), 'SIGKILL');
    await ended;
    sweep(scene, /^s1: reverted, because its command sh \(process \d+\) has died/);
    expectUntouched(scene, 'reverted');
    expect(git(scene.repository, 'show', 'agtsessions/s1:sandbox/work')).toBe('work');
  });

  test('a tool that throws: recorded as failed, the session goes on', () => {
    const scene = begin(workingCopy);
    const thrown = tool(scene, 'echo half >half; echo oops >&2; exit 1');
    expect(thrown).toMatchObject({ exitCode: 1, stderr: 'oops\n' });
    expect(metadata(scene.repository).state).toBe('active');
    recordCalls(scene, 'one');
    agtOk(scene.repository, 'accept', 's1');
    expectAccepted(scene, 'one');
  });
});

test('the user branch has moved, and conflicts: refused, nothing changes, and a sync helps', () => {
  const scene = begin('worktree');
  const { repository, place, before } = scene;
  recordCalls(scene, 'same');
  const tree = git(repository, 'rev-parse', 'main^{tree}');
  const blob = git(repository, 'rev-parse', 'main:a');
  const entries = `${git(repository, 'ls-tree', tree)}\n100644 blob ${blob}\tsame\n`;
  const theirs = spawnSync(REAL_GIT, ['mktree'], { cwd: repository, input: entries, encoding: 'utf8' });
  const commit = git(repository, 'commit-tree', theirs.stdout.trim(), '-p', before.main, '-m', 'by the user');
  git(repository, 'update-ref', 'refs/heads/main', commit);
  const refused = agt(repository, 'accept', 's1');
  expect(refused.stderr).toMatch(
    /^error: session "s1" conflicts with "main" in 1 file, and nothing has changed\nhint: same: add\/add\nhint: commit same in the sandbox first: git -C \S+ add -- same && git .*\nhint: then solve the conflicts in the sandbox: agt sync s1\n/,
  );
  expect(git(repository, 'rev-parse', 'main')).toBe(commit);
  expect(metadata(repository).state).toBe('active');
  git(place, 'add', 'same');
  git(place, 'commit', '-q', '-m', 'by the agent');
  expect(agt(repository, 'sync', 's1').exitCode).toBe(1);
  writeFileSync(join(place, 'same'), 'both\n');
  git(place, 'add', 'same');
  git(place, 'commit', '-q', '--no-edit');
  git(repository, 'checkout', '-q', 'main', '--', 'same');
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'show', 'main:same')).toBe('both');
  expect(git(repository, 'log', '--format=%s', `${before.main}..main`).split('\n')).toContain('by the user');
});

test('an agent that dies of an exception: its work is captured, and the session goes back at once', () => {
  const scene = begin('in-place');
  const died = agt(scene.repository, 'run', 's1', '--', 'sh', '-c', 'echo work >work; kill -ABRT $$');
  expect(died.exitCode).toBe(134);
  expectUntouched(scene, 'reverted');
  expect(git(scene.repository, 'show', 'agtsessions/s1:sandbox/work')).toBe('work');
});

test('an agent that ends, and nobody decides: reverted when the time is over, and undo brings it back', () => {
  const scene = begin('in-place');
  expect(agt(scene.repository, 'run', 's1', '--', 'sh', '-c', 'echo work >work').exitCode).toBe(0);
  expect(agtOk(scene.repository, 'session', 'sweep')).toBe('');
  agtOk(scene.repository, 'config', 'set', 'agt.sessionTimeout', '0 minutes');
  sweep(scene, /^s1: reverted, because nobody has worked in it/);
  expectUntouched(scene, 'reverted');
  agtOk(scene.repository, 'undo', 's1');
  const folder = agtOk(scene.repository, 'session', 'path', 's1');
  expect(readFileSync(join(folder, 'work'), 'utf8')).toBe('work\n');
});

test('no repository: sessions are off, and the harness goes on', () => {
  const off = agt(makeTempDir(), 'session', 'new', '--working-copy', 'in-place', '--if-repo');
  expect(off).toMatchObject({ exitCode: 0, stdout: 'sessions are off here: this is no git repository\n' });
});

test('git cannot write during a record, because the disk is full: failed with the reason, and nothing is lost', ({
  skip,
}) => {
  const disk = makeTempDir('disk');
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk]);
  skip(mount.status !== 0, 'a small disk cannot be mounted here');
  try {
    const repository = join(disk, 'project');
    mkdirSync(repository);
    git(repository, 'init', '-q', '-b', 'main');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'first');
    agtOk(repository, 'session', 'new', 's1');
    const place = agtOk(repository, 'session', 'path', 's1');
    const scene = { repository, place, before: look(repository) };
    recordCalls(scene, 'one');
    const filled = tool(scene, `dd if=/dev/urandom of=big bs=1M count=14 2>/dev/null; exit 5`);
    expect(filled.exitCode).toBe(5);
    expect(filled.stderr).toMatch(/^error: .*(space|full|fit)/);
    expect(metadata(repository)).toMatchObject({ state: 'failed', state_reason: expect.stringMatching(/./) });
    expect(existsSync(join(place, 'big'))).toBe(true);
    expect(tool(scene, 'exit 6').exitCode).toBe(6);
    expect(agtOk(repository, 'list')).toContain('failed');
    run('rm', [join(place, 'big')], { cwd: place });
    recordCalls(scene, 'two');
    expect(metadata(repository).state).toBe('active');
    agtOk(repository, 'accept', 's1');
    expect(git(repository, 'ls-tree', '--name-only', 'main').split('\n')).toEqual(['one', 'two']);
  } finally {
    spawnSync('umount', ['--lazy', disk]);
  }
});

test.each([
  ['', 'review --seen'],
  ['--rebase', 'review --seen'],
  ['', 'accept --include'],
])('sync %s after a part by %s: commits that stayed out stay commits, by the same author', (way, part) => {
  const { repository, sandbox } = makeSession({ base: '1\n2\n3\n' });
  const commit = (file: string, text: string, ...words: string[]) => {
    write(join(sandbox, file), text);
    git(sandbox, 'add', '.');
    git(
      sandbox,
      'commit',
      '-q',
      '--author=Agent <a@example.com>',
      '--date=2026-02-03T04:05:06+0100',
      ...words,
    );
  };
  commit('a', 'a\n', '-m', 'Add a');
  commit('b', 'b\n', '-m', 'Add b', '-m', 'Because of c.');
  write(join(sandbox, 'b'), 'open\n');
  write(join(sandbox, 'untracked'), 'u\n');
  if (part.startsWith('review')) agtOk(repository, 'review', 's1', '--seen', 'a');
  const words = part.startsWith('review') ? ['--seen'] : ['--include', 'a', '--keep'];
  agtOk(repository, 'accept', 's1', ...words, '-m', 'Part');
  write(join(repository, 'base'), '0\n2\n3\n');
  git(repository, 'commit', '-qam', 'By the user');
  agtOk(repository, 'sync', 's1', ...(way === '' ? [] : [way]));
  expect(git(sandbox, 'log', '--format=%an %aI %B%P', 'main..')).toBe(
    `Agent 2026-02-03T04:05:06+01:00 Add b\n\nBecause of c.\n${git(repository, 'rev-parse', 'main')}`,
  );
  expect(git(sandbox, 'show', '--stat', '--format=')).toMatch(/^ b \| 1 \+\n 1 file changed/);
  expect(git(sandbox, 'status', '--porcelain')).toBe(' M b\n?? untracked');
  expect(agtOk(repository, 'accept', 's1', '--untracked=none')).toContain('accepted s1: 1 file changed');
  expect(git(repository, 'log', '-1', '--format=%B')).toContain('Add b\n\nBecause of c.\n');
});

test('sync after a part: a commit that conflicts with the branch stays out, and the later ones are copied', () => {
  const { repository, sandbox } = makeSession({ f: '1\n2\n3\n' });
  for (const [file, text] of [
    ['a', 'a\n'],
    ['f', 'one\n2\n3\n'],
    ['f', '1\n2\n3\n'],
    ['z', 'z\n'],
  ] as const) {
    write(join(sandbox, file), text);
    git(sandbox, 'add', '.');
    git(sandbox, 'commit', '-qm', `${file} ${text[0]}`);
  }
  agtOk(repository, 'accept', 's1', '--include', 'a', '--keep', '-m', 'Part');
  write(join(repository, 'f'), 'uno\n2\n3\n');
  git(repository, 'commit', '-qam', 'By the user');
  agtOk(repository, 'sync', 's1');
  expect(git(sandbox, 'rev-parse', 'HEAD~')).toBe(git(repository, 'rev-parse', 'main'));
  expect(git(sandbox, 'show', '--format=%s', '--name-only')).toBe('z z\n\nz');
  expect(git(sandbox, 'status', '--porcelain')).toBe('');
});
