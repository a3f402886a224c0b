/** Sessions in the user's own checkout: when they may begin, how they end, and who guards them. */
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import {
  AGT,
  agt,
  agtOk,
  GIT_MODE,
  git,
  makeRepository,
  makeTempDir,
  REAL_GIT,
  run,
  write,
} from '../../harness/world.ts';
import { begin, busyCheckout, FILES, look, metadata, work } from './checkout.ts';

test('refusals change nothing: detached, an operation in progress, conflicts, --from, what agt cannot capture', () => {
  const repository = makeRepository(FILES);
  const refused = (pattern: RegExp, ...options: string[]) => {
    const outcome = agt(repository, 'session', 'new', 's1', '--working-copy', 'in-place', ...options);
    expect(outcome.stderr).toMatch(pattern);
    expect(outcome.exitCode).not.toBe(0);
    expect(existsSync(join(repository, '.git/agt/sessions/s1.json'))).toBe(false);
    expect(git(repository, 'for-each-ref', '--format=%(refname)', 'refs/agt', 'refs/heads/agt*')).toBe('');
  };
  refused(/^error: a session in place starts at the branch of your checkout/, '--from', 'main');
  git(repository, 'checkout', '-q', '--detach');
  refused(/^error: HEAD is detached in your checkout/);
  git(repository, 'checkout', '-q', 'main');
  git(repository, 'checkout', '-q', '-b', 'other');
  write(join(repository, 'a'), 'other\n');
  git(repository, 'commit', '-qam', 'other');
  git(repository, 'checkout', '-q', 'main');
  write(join(repository, 'a'), 'main\n');
  git(repository, 'commit', '-qam', 'main');
  run(REAL_GIT, ['merge', '-q', 'other'], { cwd: repository });
  refused(
    /^error: a merge is in progress in your checkout\nhint: finish it first, or give it up: git merge --abort/,
  );
  rmSync(join(repository, '.git/MERGE_HEAD'));
  refused(/^error: the index of your checkout has conflicts/);
  git(repository, 'reset', '-q', '--hard');
  agtOk(repository, 'config', 'set', 'agt.maxFileSize', '1k');
  write(join(repository, 'large'), Buffer.alloc(2048));
  refused(/^error: cannot capture what is not committed in .*: large\n/);
  expect(lstatSync(join(repository, 'large')).size).toBe(2048);
  expect(git(repository, 'status', '--porcelain')).toBe('?? large');
});

test('no repository; a second session in the same checkout; fs.workingCopy; a sandbox', () => {
  const outside = makeTempDir();
  const off = agt(outside, 'session', 'new', '--working-copy', 'in-place', '--if-repo');
  expect(off).toMatchObject({ exitCode: 0, stdout: 'sessions are off here: this is no git repository\n' });
  expect(agt(outside, 'session', 'new', '--working-copy', 'in-place').exitCode).not.toBe(0);
  const repository = busyCheckout();
  const before = look(repository);
  agtOk(repository, 'config', 'set', 'fs.workingCopy', 'in-place');
  agtOk(repository, 'session', 'new', 's1');
  work(repository);
  const refused = agt(repository, 'session', 'new', 's2', '--no-replace');
  expect(refused.stderr).toMatch(
    /^error: session "s1" works in this checkout\nhint: end it first: agt session remove s1/,
  );
  expect(metadata(repository).state).toBe('active');
  const second = agt(repository, 'session', 'new', 's2');
  expect(second.stderr).toBe('s1: reverted, because a new session began in the same checkout\n');
  expect(metadata(repository)).toMatchObject({ state: 'reverted', working_copy: 'worktree' });
  expect(metadata(repository, 's2').state).toBe('active');
  agtOk(repository, 'session', 'new', 'box', '--working-copy', 'worktree');
  const sandbox = agtOk(repository, 'session', 'path', 'box');
  expect(agt(sandbox, 'session', 'new', 's3').stderr).toMatch(/^error: this is the sandbox of session "box"/);
  // Nobody works in it for half an hour.
  agtOk(repository, 'autocommit', 's2');
  dateLastSnapshot(repository, 's2', '2020-01-01T00:00:00Z');
  const file = join(repository, '.git/agt/sessions/s2.json');
  writeFileSync(
    file,
    JSON.stringify({ ...metadata(repository, 's2'), last_activity_at: '2020-01-01T00:00:00Z' }),
  );
  expect(agt(repository, 'autocommit', '--all').stderr).toMatch(
    /^s2: reverted, because nobody has worked in it for \d+ hours; /,
  );
  expect(look(repository)).toEqual(before);
  const run = agt(repository, 'run', 's3', '--new', '--', 'git', 'branch', '--show-current');
  expect(run).toMatchObject({ exitCode: 0, stdout: 'agt/s3\n' });
  expect(metadata(repository, 's3').working_copy).toBe('in-place');
  expect(agt(repository, 'run', 's4', 's5', '--new', '--', 'true')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^error: several sessions cannot work in one checkout\n/),
  });
});

test('in a linked worktree, and in an agt clone', () => {
  const repository = makeRepository(FILES);
  const linked = join(makeTempDir(), 'linked');
  git(repository, 'worktree', 'add', '-q', '-b', 'side', linked);
  write(join(linked, 'a'), 'changed\n');
  git(linked, 'add', 'a');
  write(join(linked, 'untracked'), 'untracked\n');
  begin(linked);
  expect(git(linked, 'status', '--porcelain')).toBe('');
  write(join(linked, 'b'), 'agent\n');
  agtOk(linked, 'session', 'record', '--tool', 'Edit');
  write(join(linked, 'b'), 'agent again\n');
  const shim = makeTempDir('shim');
  agtOk(repository, 'shim', 'install', '--dir', shim);
  run(join(shim, 'git'), ['reset', '-q', '--hard'], { cwd: linked });
  expect(agtOk(linked, 'session', 'cat', 's1', '@{0}:b')).toBe('agent again');
  agtOk(linked, 'remove', 's1');
  expect(git(linked, 'status', '--porcelain')).toBe('M  a\n?? untracked');
  expect(git(linked, 'symbolic-ref', '--short', 'HEAD')).toBe('side');
  const parent = makeTempDir();
  agtOk(parent, 'clone', repository, '--path', join(parent, 'clone'));
  const found = spawnSync('find', [parent, '-name', 'main', '-type', 'd', '-not', '-path', '*.git/*'], {
    encoding: 'utf8',
  });
  const main = found.stdout.split('\n')[0] as string;
  write(join(main, 'a'), 'changed\n');
  begin(main);
  write(join(main, 'b'), 'agent\n');
  agtOk(main, 'remove', 's1');
  expect(git(main, 'status', '--porcelain')).toBe(' M a');
});

test('a creation that fails leaves everything as it was', () => {
  const repository = busyCheckout();
  const before = look(repository);
  const hook = join(makeTempDir('bin'), 'git');
  // A git that cannot check out the branch of the session.
  writeFileSync(
    hook,
    `#!/bin/sh\ncase "$*" in *symbolic-ref*HEAD*agt/s1*) echo "fatal: disk full" >&2; exit 128;; esac\nexec ${REAL_GIT} "$@"\n`,
  );
  chmodSync(hook, 0o755);
  const env = { AGT_GIT_PATH: hook, PATH: `${join(hook, '..')}:${process.env['PATH']}` };
  const outcome = run(AGT, ['session', 'new', 's1', '--working-copy', 'in-place'], { cwd: repository, env });
  expect(outcome.stderr).toMatch(/^error: git symbolic-ref failed: disk full\n/);
  expect(look(repository)).toEqual(before);
  expect(existsSync(join(repository, '.git/agt/sessions/s1.json'))).toBe(false);
  expect(git(repository, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});

test('accept brings the work of the agent to the user branch as one commit, and the user has the rest as before', () => {
  const repository = makeRepository(FILES);
  write(join(repository, 'b'), 'staged\n');
  git(repository, 'add', 'b');
  write(join(repository, 'untracked'), 'untracked\n');
  const before = git(repository, 'status', '--porcelain');
  begin(repository);
  for (const n of [1, 2, 3]) {
    write(join(repository, `by-agent-${n}`), `${n}\n`);
    agtOk(repository, 'session', 'record', '--tool', 'Edit');
  }
  agtOk(repository, 'accept', 's1', '-m', 'by the agent');
  expect(git(repository, 'log', '--format=%s', 'main')).toBe('by the agent\nfirst');
  expect(git(repository, 'diff', '--name-only', 'main~1', 'main')).toBe('by-agent-1\nby-agent-2\nby-agent-3');
  expect(git(repository, 'status', '--porcelain')).toBe(before);
  expect(git(repository, 'for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/agt/stash')).toBe(
    'refs/heads/agtsessions/s1\nrefs/heads/main',
  );
  const tip = git(repository, 'rev-parse', 'main');
  begin(repository, 's2');
  for (const n of [1, 2, 3, 4, 5]) {
    write(join(repository, 'b'), `${n}\n`);
    agtOk(
      repository,
      'session',
      'exec',
      '--tool',
      'Bash',
      '--',
      'sh',
      '-c',
      'echo x >> a; git commit -qam x',
    );
  }
  agtOk(repository, 'reject', 's2', '--reason', 'no');
  expect(git(repository, 'rev-parse', 'main')).toBe(tip);
  expect(git(repository, 'status', '--porcelain')).toBe(before);
  expect(readFileSync(join(repository, 'b'), 'utf8')).toBe('staged\n');
  expect(metadata(repository, 's2')).toMatchObject({ state: 'rejected', state_reason: 'no' });
});

test('the guard makes a snapshot before git destroys work in the checkout, by the executable and by the shim', () => {
  const repository = makeRepository(FILES);
  begin(repository);
  const held = () => agtOk(repository, 'session', 'cat', 's1', '@{0}:a');
  write(join(repository, 'a'), 'first\n');
  run(GIT_MODE, ['reset', '-q', '--hard'], { cwd: join(repository, 'dir') });
  expect(held()).toBe('first');
  write(join(repository, 'a'), 'second\n');
  agtOk(repository, 'run', 's1', '--', 'git', 'checkout', '-q', 'a');
  expect(agtOk(repository, 'session', 'cat', 's1', '@{1}:a')).toBe('second');
  agtOk(repository, 'remove', 's1');
  write(join(repository, 'a'), 'after\n');
  run(GIT_MODE, ['reset', '-q', '--hard'], { cwd: repository });
  expect(JSON.parse(agtOk(repository, 'session', 'log', 's1', '--json'))[0].label).toMatch(/^before remove/);
});

test('a lock that a killed git left in the checkout stops neither the end of a session nor the next one', () => {
  const repository = busyCheckout();
  const before = look(repository);
  begin(repository);
  work(repository);
  for (const name of ['index.lock', 'HEAD.lock']) write(join(repository, '.git', name), '');
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
});

test('where the branch has other files, those of the user stay under the ref, and all else is back', () => {
  const repository = makeRepository(FILES);
  write(join(repository, 'untracked'), 'precious\n', 0o600);
  write(join(repository, 'folder/file'), 'precious\n');
  write(join(repository, 'other'), 'other\n', 0o600);
  write(join(repository, 'b'), 'staged\n');
  write(join(repository, 'intent'), 'to add\n');
  git(repository, 'add', 'b');
  git(repository, 'add', '-N', 'intent');
  write(join(repository, 'a'), 'staged\n');
  git(repository, 'add', 'a');
  begin(repository);
  for (const path of ['untracked', 'folder', 'a']) write(join(repository, path), 'agent\n');
  const ref = 'refs/agt/stash/s1';
  const accepted = agt(repository, 'accept', 's1', '-m', '1');
  expect(accepted.stderr).toContain(
    'error: session "s1" has ended, but the branch has its own a, folder/file, untracked now; yours, ',
  );
  expect(git(repository, 'status', '--porcelain')).toBe('M  b\n A intent\n?? other');
  expect(statSync(join(repository, 'other')).mode & 0o777).toBe(0o600);
  for (const [path, content] of Object.entries({
    a: 'staged',
    'folder/file': 'precious',
    untracked: 'precious',
  }))
    expect(git(repository, 'show', `${ref}^4:sandbox/${path}`)).toBe(content);
  agtOk(repository, 'session', 'remove', 's1', '--delete-branch', '--force');
  const held = git(repository, 'rev-parse', ref);
  const before = look(repository);
  const refused = agt(repository, 'session', 'new', 's1', '--working-copy', 'in-place');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(
    /^error: refs\/agt\/stash\/s1 still has uncommitted work of yours from before an earlier session "s1"\n/,
  );
  agtOk(repository, 'session', 'new', 's1', '--working-copy', 'worktree');
  const [finding] = JSON.parse(agt(repository, 'doctor', '--json').stdout).findings;
  agtOk(repository, 'session', 'remove', 's1', '--delete-branch', '--force');
  expect(finding.mend).toContain(`git show ${ref}^4:sandbox/PATH >PATH`);
  expect(look(repository)).toEqual(before);
  begin(repository, 's2');
  agtOk(repository, 'reject', 's2');
  expect(git(repository, 'rev-parse', ref)).toBe(held);
  const hints = (name: string) => new RegExp(`^hint: ${name}: (.*)$`, 'm').exec(refused.stderr)?.[1] ?? '';
  const shell = (line: string) =>
    run('sh', ['-c', `agt() { ${AGT} "$@"; }; git() { ${REAL_GIT} "$@"; }; ${line}`], { cwd: repository });
  expect(shell(hints('see which files it has')).stdout.split('\n')).toContain('folder/file');
  expect(shell(hints('when you need it no more'))).toMatchObject({ exitCode: 0 });
  expect(git(repository, 'for-each-ref', 'refs/agt/stash')).toBe('');
  begin(repository);
});

test('two sessions that begin at once in one checkout: one comes after the other', async () => {
  const repository = busyCheckout();
  const before = look(repository);
  const start = (id: string, ...options: string[]) =>
    promisify(execFile)(AGT, ['session', 'new', id, '--working-copy', 'in-place', ...options], {
      cwd: repository,
      env: { ...process.env, AGT_GIT_PATH: REAL_GIT },
    });
  const both = await Promise.all(['s1', 's2'].map((id) => start(id)));
  const reverted = both.map(({ stderr }) => stderr).join('');
  expect(reverted).toMatch(/^s[12]: reverted, because a new session began in the same checkout\n$/);
  const [first, last] = reverted.startsWith('s1') ? ['s1', 's2'] : ['s2', 's1'];
  expect(metadata(repository, first).state).toBe('reverted');
  expect(metadata(repository, last).state).toBe('active');
  agtOk(repository, 'reject', last);
  expect(look(repository)).toEqual(before);
  const outcomes = await Promise.allSettled(['s3', 's4'].map((id) => start(id, '--no-replace')));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refused).toHaveLength(1);
  expect(refused[0]?.reason.stderr).toMatch(/^error: session "s[34]" works in this checkout\n/);
  agtOk(repository, 'reject');
  expect(look(repository)).toEqual(before);
});

/** As if agt had made the last snapshot at that time. */
function dateLastSnapshot(repository: string, id: string, date: string): void {
  const seconds = Date.parse(date) / 1000;
  const commit = git(repository, 'cat-file', 'commit', `agtsessions/${id}`);
  const dated = commit.replace(/^(author|committer)(.*) \d+ (.*)$/gm, `$1$2 ${seconds} $3`);
  const options = { cwd: repository, input: `${dated}\n` };
  const { stdout } = run(REAL_GIT, ['hash-object', '-t', 'commit', '-w', '--stdin'], options);
  for (const ref of [`refs/heads/agtsessions/${id}`, `refs/agt/tip/${id}`])
    git(repository, 'update-ref', ref, stdout.trim());
}
