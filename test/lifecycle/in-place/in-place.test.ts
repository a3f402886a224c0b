/** Sessions in the user's own checkout: what the user had there comes back byte for byte. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agt, agtOk, git, makeRepository, makeTempDir, REAL_GIT, run, write } from '../../harness/world.ts';
import { begin, busyCheckout, look, metadata, work } from './checkout.ts';

test('uncommitted work of every kind is set aside and comes back, index included; the agent begins with a clean checkout', () => {
  const repository = busyCheckout();
  const before = look(repository);
  expect(begin(repository)).toBe(
    `session  s1\nsandbox  ${repository}\nbranch   agt/s1 at ${before.main.slice(0, 10)} from main\n` +
      'aside    your uncommitted work, until the session ends: a, b, c, dir/d, e.crlf, and 6 more\n' +
      'shared   your checkout is the sandbox: what you change there is part of the session',
  );
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(git(repository, 'symbolic-ref', '--short', 'HEAD')).toBe('agt/s1');
  expect(readFileSync(join(repository, 'ignored.o'), 'utf8')).toBe('ignored\n');
  expect(metadata(repository)).toMatchObject({
    state: 'active',
    working_copy: 'in-place',
    checkout: repository,
  });
  expect(git(repository, 'stash', 'list')).toBe('');
  expect(agtOk(repository, 'session', 'path')).toBe(repository);
  work(repository);
  write(join(repository, 'ignored.o'), 'by the agent\n');
  git(repository, 'add', '--force', 'ignored.o');
  git(repository, 'commit', '-q', '-m', 'an ignored file');
  expect(agtOk(repository, 'run', '--', 'sh', '-c', 'pwd; echo run > by-run; echo $AGT_SANDBOX')).toBe(
    `${repository}\n${repository}`,
  );
  expect(JSON.parse(agtOk(repository, 'doctor', '--json')).findings).toEqual([]);
  expect(agtOk(repository, 'remove', 's1').replace(/bytes-[^,]+/, 'bytes-')).toBe(
    `returned ${repository} to main\n` +
      `brought back your uncommitted work in ${repository}: a, b, bytes-, c, dir/d, and 6 more\n` +
      'kept its snapshots on agtsessions/s1; agt undo s1 brings it back',
  );
  expect(look(repository)).toEqual(before);
  expect(git(repository, 'for-each-ref', 'refs/agt/stash')).toBe('');
  // It comes back with a sandbox of its own.
  agtOk(repository, 'session', 'restore', 's1', '--to', '@{0}');
  const sandbox = `${repository}.agt/sessions/s1/sandbox`;
  expect(readFileSync(join(sandbox, 'left/over'), 'utf8')).toBe('left over\n');
  expect(readFileSync(join(sandbox, 'by-run'), 'utf8')).toBe('run\n');
  expect(git(sandbox, 'log', '-1', '--format=%s')).toBe('an ignored file');
  expect(look(repository)).toEqual(before);
  expect(git(repository, 'fsck', '--strict', '--no-dangling')).toBe('');
});

test('new commits on the user branch: what was set aside comes back on top, or stays under its ref if that conflicts', () => {
  const repository = busyCheckout();
  const before = look(repository);
  const land = (path: string, content: string) => {
    const blob = run(REAL_GIT, ['hash-object', '-w', '--stdin'], {
      cwd: repository,
      input: content,
    }).stdout.trim();
    const index = join(makeTempDir(), 'index');
    const env = { GIT_INDEX_FILE: index };
    run(REAL_GIT, ['read-tree', 'main'], { cwd: repository, env });
    run(REAL_GIT, ['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`], {
      cwd: repository,
      env,
    });
    const tree = run(REAL_GIT, ['write-tree'], { cwd: repository, env }).stdout.trim();
    git(
      repository,
      'update-ref',
      'refs/heads/main',
      git(repository, 'commit-tree', '-p', 'main', '-m', 'landed', tree),
    );
  };
  begin(repository);
  land('landed', 'landed\n');
  agtOk(repository, 'remove', 's1');
  const after = look(repository);
  expect(after.status).toBe(before.status);
  expect(readFileSync(join(repository, 'landed'), 'utf8')).toBe('landed\n');
  expect([...after.files].filter(([path]) => path !== 'project/landed')).toEqual([...before.files]);
  begin(repository, 's2');
  land('a', 'landed too\n');
  const outcome = agt(repository, 'remove', 's2');
  expect(outcome.exitCode).toBe(1);
  const at = `git -C ${repository}`;
  const merging = `${at} diff --binary refs/agt/stash/s2^1 refs/agt/stash/s2 -- a | ${at} apply --3way`;
  expect(outcome.stderr).toBe(
    'error: session "s2" has ended, but the branch has its own a now; yours, as before the session, is set aside, and all else of yours is back\n' +
      `hint: merge your changes into it: ${merging}\n` +
      `hint: when you need it no more: agt git -C ${repository} update-ref -d refs/agt/stash/s2\n`,
  );
  expect(metadata(repository, 's2').state).toBe('removed');
  const but = look(repository);
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('landed too\n');
  expect(git(repository, 'show', 'refs/agt/stash/s2^4:sandbox/a')).toBe('changed');
  for (const { files } of [after, but]) files.delete('project/a');
  expect(but.files).toEqual(after.files);
  expect(but.status).toBe(after.status.replace(' M a\n', ''));
});

test('a file marked skip-worktree follows the user branch, as git does it', () => {
  const repository = makeRepository({ a: 'a\n', b: 'b\n' });
  write(join(repository, 'a'), 'landed\n');
  git(repository, 'commit', '-q', '-am', 'landed');
  const landed = git(repository, 'rev-parse', 'HEAD');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  git(repository, 'update-index', '--skip-worktree', 'a');
  begin(repository);
  git(repository, 'update-ref', 'refs/heads/main', landed);
  agtOk(repository, 'reject', 's1');
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('landed\n');
  expect(git(repository, 'ls-files', '-v')).toBe('S a\nH b');
  expect(git(repository, 'diff', 'HEAD')).toBe('');
});

test('the agent leaves a merge in progress, another branch, or a file in the place of a directory', () => {
  const repository = busyCheckout();
  const before = look(repository);
  begin(repository);
  git(repository, 'switch', '-q', '-c', 'other');
  write(join(repository, 'a'), 'other\n');
  git(repository, 'commit', '-qam', 'other');
  git(repository, 'switch', '-q', 'agt/s1');
  write(join(repository, 'a'), 'mine\n');
  git(repository, 'commit', '-qam', 'mine');
  expect(run(REAL_GIT, ['merge', '-q', 'other'], { cwd: repository }).exitCode).toBe(1);
  write(join(repository, 'new dir'), 'a file\n');
  agtOk(repository, 'remove', 's1');
  expect(look(repository)).toEqual(before);
  expect(existsSync(join(repository, '.git/MERGE_HEAD'))).toBe(false);
});

test('undo and redo in place: files, index, HEAD and work branch; never back to the work of the user', () => {
  const repository = busyCheckout();
  const before = look(repository);
  begin(repository);
  const step = (script: string) =>
    agtOk(repository, 'session', 'exec', '--tool', 'E', '--', 'sh', '-c', script);
  const shown = () => git(repository, 'status', '--porcelain', '--branch');
  step('echo changed >b');
  step(`${REAL_GIT} add b; ${REAL_GIT} commit -q -m agent; rm a ignored.o; echo two >two`);
  const last = shown();
  agtOk(repository, 'undo');
  expect(shown()).toBe('## agt/s1\n M b');
  expect(git(repository, 'log', '-1', '--format=%H', 'agt/s1')).toBe(before.main);
  expect(readFileSync(join(repository, 'ignored.o'), 'utf8')).toBe('ignored\n');
  agtOk(repository, 'undo');
  expect(shown()).toBe('## agt/s1');
  for (const [command, stderr] of [
    [
      ['undo'],
      'error: nothing to undo: "s1" has no earlier step of its own, and an undo stops at the beginning of the session\nhint: see: agt session log s1\n',
    ],
    [
      ['session', 'restore', '--to', 'before the session', '--dry-run'],
      'error: that snapshot has your own work from before session "s1"\n' +
        'hint: end the session, and agt brings it back: agt session reject s1\n',
    ],
  ] as const)
    expect(agt(repository, ...command)).toMatchObject({ exitCode: 1, stderr });
  expect(agtOk(repository, 'redo')).toContain('verified');
  expect(agtOk(repository, 'redo')).toContain('verified');
  expect(shown()).toBe(last);
  agtOk(repository, 'undo');
  agtOk(repository, 'reject', 's1');
  expect(look(repository)).toEqual(before);
});

test('undo after the end makes the session again in a sandbox, and the checkout stays as it is', () => {
  const repository = busyCheckout();
  begin(repository);
  write(join(repository, 'b'), 'by the agent\n');
  agtOk(repository, 'remove', 's1', '--force');
  const after = look(repository);
  agtOk(repository, 'undo', 's1');
  const sandbox = agtOk(repository, 'session', 'path', 's1');
  expect(sandbox).not.toBe(repository);
  expect(existsSync(join(sandbox, '.git'))).toBe(true);
  expect(look(repository)).toEqual(after);
});

test('agt says what it sets aside, as text and as JSON; of a clean checkout it says nothing', () => {
  const repository = makeRepository();
  const lists = { included: [], not_included: [], taken_along: [], left_behind: [] };
  expect(begin(repository)).not.toContain('aside');
  expect(JSON.parse(begin(repository, 's2', '--json'))).toMatchObject({ ...lists, set_aside: [] });
  agtOk(repository, 'remove', 's2');
  write(join(repository, 'deep/loose'), 'loose\n');
  expect(JSON.parse(begin(repository, 's3', '--json'))).toMatchObject({
    ...lists,
    set_aside: ['deep/loose'],
  });
  agtOk(repository, 'remove', 's3');
  agtOk(repository, 'config', 'set', 'fs.workingCopy', 'in-place');
  const ran = agt(repository, 'run', '--new', 's4', '--', 'true');
  expect(ran.stderr).toContain('aside   your uncommitted work, until the session ends: deep/loose\n');
  agtOk(repository, 'remove', 's4');
  expect(readFileSync(join(repository, 'deep/loose'), 'utf8')).toBe('loose\n');
});
