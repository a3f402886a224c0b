/** A branch that has lost commits since: reverted after an acceptance that kept them, or dropped under a session. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, run, write } from '../harness/world.ts';

test('the session is not merged, a sync says what goes, and accept how to land it', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  writeFileSync(join(sandbox, 'new'), 'one\n');
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-qm', 'by the agent');
  agtOk(repository, 'accept', 's1', '--keep-commits');
  git(repository, 'revert', '--no-edit', '-m', '1', 'HEAD');
  const revert = git(repository, 'rev-parse', '--short=10', 'HEAD');
  agtOk(repository, 'undo', 's1');
  const [status] = JSON.parse(agtOk(repository, 'list', '--json'));
  expect(status).toMatchObject({ state: 'active', merged: false });
  expect(agtOk(repository, 'remove', '--merged', '-n')).toBe('');
  const { stderr } = agt(repository, 'accept', 's1');
  expect(stderr).toContain('has all commits of session "s1", and has reverted work of it');
  expect(agtOk(repository, 'sync', 's1', '-n')).toContain(`reverted work of this session (${revert})`);
  expect(agtOk(repository, 'sync', 's1')).toMatch(/it is gone here, too; to have it back: agt undo s1$/m);
  expect(existsSync(join(sandbox, 'new'))).toBe(false);
  agtOk(repository, 'undo', 's1');
  expect(readFileSync(join(sandbox, 'new'), 'utf8')).toBe('one\n');
  const [, way = ''] = /git (revert \w+)$/m.exec(stderr) ?? [];
  git(repository, ...way.split(' '), '--no-edit');
  expect(readFileSync(join(repository, 'new'), 'utf8')).toBe('one\n');
  expect(JSON.parse(agtOk(repository, 'list', '--json'))[0]).toMatchObject({ merged: true });
});

test.each(['amend', 'reset', 'reset alone'])(
  'commits that the user has dropped by %s come back by no acceptance, and by no sync --rebase',
  (how) => {
    const { repository } = makeSession({ a: '1\n' });
    writeFileSync(join(repository, 'note'), 'private\n');
    git(repository, 'add', 'note');
    git(repository, 'commit', '-qm', 'with a note');
    const dropped = `${git(repository, 'rev-parse', '--short', 'HEAD')} with a note`;
    agtOk(repository, 'new', 's2');
    const sandbox = agtOk(repository, 'path', 's2');
    writeFileSync(join(sandbox, 'x'), 'x\n');
    git(sandbox, 'add', 'x');
    git(sandbox, 'commit', '-qm', 'x');
    git(repository, 'rm', '-q', 'note');
    if (how === 'amend') git(repository, 'commit', '-q', '--amend', '--allow-empty', '-m', 'without');
    else git(repository, 'reset', '-q', '--hard', 'HEAD~1');
    if (how !== 'reset alone') {
      writeFileSync(join(repository, 'b'), 'b\n');
      git(repository, 'add', 'b');
      git(repository, 'commit', '-qm', 'b');
    }
    expect(JSON.parse(agtOk(repository, 'list', '--json')).at(-1)).toMatchObject({
      ...{ session_id: 's2', ahead: 1, merge: 'clean', diff: { files: 1, insertions: 1, deletions: 0 } },
    });
    const hunks: { path: string }[] = JSON.parse(agtOk(repository, 'review', 's2', '--json'));
    expect(hunks.map(({ path }) => path)).toEqual(['x']);
    expect(agtOk(repository, 'diff', 's2', '--base', '--name-only')).toBe('x');
    const lost = `${dropped}, which main has dropped`;
    const way = 'agt sync s2 --rebase\n';
    const planned = agt(repository, 'accept', 's2', '-n', '--json');
    expect([planned.stderr, JSON.parse(planned.stdout).files]).toMatchObject(['', [{ path: 'x' }]]);
    expect(agt(repository, 'accept', 's2', '-n', '--keep-commits').stderr).toContain(
      `this brings back ${dropped}, which "main" has dropped; to leave it out: ${way}`,
    );
    expect(`${agtOk(repository, 'sync', 's2', '-n')}\n`).toContain(
      `${lost}, stays in the sandbox, and agt accept leaves it out; to take it out here, too: ${way}`,
    );
    expect(agtOk(repository, 'sync', 's2', '-n', '--rebase')).toContain(`would leave out ${lost}`);
    expect(`${agtOk(repository, 'sync', 's2')}\n`).toContain(`to take it out here, too: ${way}`);
    expect(agtOk(repository, 'sync', 's2', '--rebase')).toContain(`left out ${lost}`);
    expect(agt(repository, 'accept', 's2').stderr).toBe('');
    expect([existsSync(join(repository, 'note')), existsSync(join(repository, 'x'))]).toEqual([false, true]);
  },
);

test('a commit that the user amends under a session is no conflict, in list as in accept', () => {
  const { repository } = makeSession({ a: '1\n' });
  writeFileSync(join(repository, 'f'), 'tpyo\n');
  git(repository, 'add', 'f');
  git(repository, 'commit', '-qm', 'Add f');
  agtOk(repository, 'new', 's2');
  writeFileSync(join(agtOk(repository, 'path', 's2'), 'x'), 'x\n');
  writeFileSync(join(repository, 'f'), 'typo\n');
  git(repository, 'commit', '-qa', '--amend', '--no-edit');
  expect(agtOk(repository, 'list')).toMatch(/^s2 +active +\+0 +1 +\+1 -0 +1 +clean /m);
  expect(agtOk(repository, 'accept', 's2', '--untracked=all')).toContain(
    'accepted s2: 1 file changed, +1 -0',
  );
  expect(readFileSync(join(repository, 'f'), 'utf8')).toBe('typo\n');
});

test('a landing is named by the commit that the branch has after a rebase, which may be reverted', () => {
  const { repository } = makeSession({ a: '1\n' });
  agtOk(repository, 'new', 's2');
  for (const id of ['s1', 's2']) writeFileSync(join(agtOk(repository, 'path', id), id), `${id}\n`);
  const env = { GIT_AUTHOR_DATE: '2026-01-05T12:00:00+0100' };
  for (const id of ['s1', 's2'])
    expect(run(AGT, ['accept', id, '--untracked=all'], { cwd: repository, env }).exitCode).toBe(0);
  const landed = git(repository, 'rev-parse', '--short=10', 'HEAD~1');
  git(repository, 'switch', '-qc', 'other', 'HEAD~2');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'other');
  git(repository, 'rebase', '-q', 'other', 'main');
  const now = git(repository, 'rev-parse', 'HEAD~1');
  const place = `accepted as ${landed}, now ${now.slice(0, 10)} on main`;
  expect(`${agtOk(repository, 'activity')}\n`).toContain(`${place}\n`);
  git(repository, 'revert', '--no-edit', now);
  const by = git(repository, 'rev-parse', 'HEAD');
  expect(agtOk(repository, 'activity')).toContain(`${place}, reverted by ${by.slice(0, 10)}`);
  const rows = JSON.parse(agtOk(repository, 'activity', '--json')) as { session_id: string }[];
  const row = rows.find(({ session_id: id }) => id === 's1');
  expect(row).toMatchObject({ lost: false, elsewhere: false, now_as: now, reverted_by: by });
});

test('below a session the user rewords a commit, and the agent drops one: the rest counts', () => {
  const { repository } = makeSession({ a: '1\n' });
  const commit = (at: string, name: string, ...words: string[]) => {
    writeFileSync(join(at, name), `${name}\n`);
    git(at, 'add', name);
    git(at, 'commit', '-qm', name, ...words);
  };
  for (const name of ['c1', 'c2', 'c3']) commit(repository, name);
  agtOk(repository, 'new', 's2');
  const sandbox = agtOk(repository, 'path', 's2');
  git(sandbox, 'reset', '-q', '--hard', 'HEAD~1');
  commit(sandbox, 'own');
  git(repository, 'reset', '-q', '--hard', 'HEAD~3');
  for (const name of ['c1', 'c2', 'c3']) commit(repository, name, '-m', 'in other words');
  expect(agtOk(repository, 'list')).toMatch(/^s2 +active .* \+1 +- +\+1 -0 +3 +clean /m);
  expect(agtOk(repository, 'sync', 's2', '--rebase')).toContain(
    'rebased 1 commit of s2 onto main, which had 3 new commits; s2 is at ',
  );
  expect(git(sandbox, 'log', '--format=%s', 'main..')).toBe('own');
});

test('a merge that a rebase has taken apart is on the branch as its last commit', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  for (const [i, name] of ['b', 'c'].entries()) {
    writeFileSync(join(sandbox, name), `${name}\n`);
    git(sandbox, 'add', name);
    git(sandbox, 'commit', '-qm', `Add ${name}`, '--date', `2026-01-05T12:00:0${i + 1}+0100`);
  }
  agtOk(repository, 'accept', 's1', '--keep-commits');
  const landed = git(repository, 'rev-parse', '--short=10', 'HEAD');
  git(repository, 'branch', 'reverted');
  git(repository, 'switch', '-qc', 'other', 'main~1');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'other', '--date', '2026-01-05T12:00:09+0100');
  git(repository, 'rebase', '-q', 'other', 'main');
  const now = git(repository, 'rev-parse', '--short=10', 'HEAD');
  expect(git(repository, 'log', '--format=%s', 'HEAD~2..')).toBe('Add c\nAdd b');
  expect(agtOk(repository, 'activity')).toContain(`accepted as ${landed}, now ${now} on main`);
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  expect(agtOk(repository, 'activity')).toContain(`accepted as ${landed}; that commit is no longer on main`);
  git(repository, 'reset', '-q', '--hard', 'reverted');
  git(repository, 'revert', '--no-edit', '-m', '1', 'HEAD');
  git(repository, 'rebase', '-q', 'other');
  const by = git(repository, 'rev-parse', '--short=10', 'HEAD');
  expect(agtOk(repository, 'activity')).toMatch(
    new RegExp(`accepted as ${landed}, now \\w+ on main, reverted by ${by}`),
  );
});

test.each([
  ['fork', 'parent', '--id', 's2'],
  ['new', 's2', '--from', 'parent'],
])('agt %s: commits of the session before are nothing that the branch has dropped', (...words) => {
  const { repository } = makeSession({ a: '1\n' });
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'second');
  agtOk(repository, 'new', 'parent');
  const sandbox = agtOk(repository, 'path', 'parent');
  writeFileSync(join(sandbox, 'before'), 'before\n');
  git(sandbox, 'add', 'before');
  git(sandbox, 'commit', '-qm', 'by the session before');
  agtOk(repository, ...words);
  expect(agt(repository, 'accept', 's2', '-n').stderr).not.toContain('dropped');
  // The branch drops a commit that the sessions began without.
  git(repository, 'commit', '-q', '--amend', '--allow-empty', '-m', 'amended');
  for (const way of [[], ['--rebase']])
    expect(agtOk(repository, 'sync', 's2', '-n', ...way)).not.toContain('by the session before');
  agtOk(repository, 'sync', 's2', '--rebase');
  expect(existsSync(join(agtOk(repository, 'path', 's2'), 'before'))).toBe(true);
});

test('the command that unaccept names for a pushed commit works while something is staged', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  writeFileSync(join(sandbox, 'a'), '2\n');
  agtOk(repository, 'accept', 's1');
  git(makeTempDir(), 'init', '-q', '--bare', join(repository, '../origin.git'));
  git(repository, 'remote', 'add', 'origin', join(repository, '../origin.git'));
  git(repository, 'push', '-q', 'origin', 'main');
  writeFileSync(join(repository, 'staged'), 'mine\n');
  git(repository, 'add', 'staged');
  const hint = /on "main": (git .*)$/m;
  const [, way = ''] = hint.exec(agt(repository, 'unaccept', 's1').stderr) ?? [];
  run('sh', ['-ec', way], { cwd: repository, env: { GIT_EDITOR: 'true' } });
  expect(readFileSync(join(repository, 'a'), 'utf8')).toBe('1\n');
  expect(git(repository, 'status', '--porcelain')).toBe('A  staged');
});

test.each(['amended', 'rebased', 'a merge'])('unaccept repeats no revert of the user: commit %s', (how) => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  for (const name of ['one', 'two']) {
    writeFileSync(join(sandbox, name), `${name}\n`);
    git(sandbox, 'add', name);
    git(sandbox, 'commit', '-qm', name);
  }
  agtOk(repository, 'accept', 's1', ...(how === 'amended' ? [] : ['--keep-commits']));
  if (how === 'amended') git(repository, 'commit', '-q', '--amend', '-m', 'in my words');
  if (how === 'rebased') git(repository, 'rebase', '-q', '--force', 'HEAD^');
  const revert = (...words: readonly string[]) =>
    run('git', ['revert', '--no-edit', ...words], {
      cwd: repository,
      env: { GIT_AUTHOR_DATE: '2001-01-01T00:00:00Z' },
    });
  revert(...(how === 'a merge' ? ['-m', '1', 'HEAD'] : ['HEAD']));
  if (how === 'rebased') {
    const [, oid = ''] = /: git revert (\w+)$/m.exec(agt(repository, 'unaccept', 's1').stderr) ?? [];
    expect(git(repository, 'log', '-1', '--format=%s', oid)).toBe('one');
    revert(oid);
  }
  expect(existsSync(join(repository, 'one')) || existsSync(join(repository, 'two'))).toBe(false);
  expect(agt(repository, 'unaccept', 's1').stderr).toMatch(
    /^error: "main" has taken commit \w+ back already\nhint: bring only the session back: agt undo s1\n$/,
  );
});

test('the command that unaccept names takes back what the agent has taken back itself, too', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  writeFileSync(join(sandbox, 'a'), '2\n');
  git(sandbox, 'commit', '-qam', 'two');
  git(sandbox, 'revert', '--no-edit', 'HEAD');
  writeFileSync(join(sandbox, 'b'), 'b\n');
  git(sandbox, 'add', 'b');
  git(sandbox, 'commit', '-qm', 'b');
  agtOk(repository, 'accept', 's1', '--keep-commits');
  git(repository, 'rebase', '-q', '--force', 'HEAD^');
  const [, way = ''] = /: (git revert .*)$/m.exec(agt(repository, 'unaccept', 's1').stderr) ?? [];
  expect(way.split(' ')).toHaveLength(5);
  expect(run('sh', ['-c', way], { cwd: repository, env: { GIT_EDITOR: 'true' } }).exitCode).toBe(0);
  expect([readFileSync(join(repository, 'a'), 'utf8'), existsSync(join(repository, 'b'))]).toEqual([
    '1\n',
    false,
  ]);
});

test('a branch that was begun anew is no branch to merge, and sync says how to do it all the same', () => {
  const { repository, sandbox } = makeSession({ a: '1\n' });
  write(join(sandbox, 'new'), 'new\n');
  git(sandbox, 'add', 'new');
  git(sandbox, 'commit', '-qm', 'by the agent');
  git(repository, 'checkout', '-q', '--orphan', 'anew');
  git(repository, 'commit', '-qm', 'anew');
  git(repository, 'branch', '-qM', 'main');
  const reason = 'error: the work of the session and the branch have no common history\nhint: ';
  expect(agt(repository, 'accept', 's1').stderr).toBe(`${reason}name another branch with --onto\n`);
  expect(agtOk(repository, 'list')).toContain(' accept refuses ');
  const way = `git -C ${sandbox} merge --allow-unrelated-histories main`;
  for (const words of [['-n'], []])
    expect(agt(repository, 'sync', 's1', ...words).stderr).toBe(`${reason}join them all the same: ${way}\n`);
  expect(run('sh', ['-c', way], { cwd: repository }).exitCode).toBe(0);
  agtOk(repository, 'accept', 's1');
  expect(git(repository, 'show', 'main:new')).toBe('new');
});

test.each(['reverted', 'dropped'])('of two acceptances of one second, the user rebases one, %s', (how) => {
  const lines = Array.from({ length: 30 }, (_, i) => `${i}\n`);
  const { repository } = makeSession({ f: lines.join('') });
  agtOk(repository, 'new', 's2');
  for (const [id, at] of [['s1', 5] as const, ['s2', 25] as const])
    writeFileSync(join(agtOk(repository, 'path', id), 'f'), lines.with(at, `${id}\n`).join(''));
  const env = { GIT_AUTHOR_DATE: '2026-01-05T12:00:00+0100' };
  const message = how === 'dropped' ? ['-m', 'the same words'] : [];
  for (const id of ['s1', 's2'])
    expect(run(AGT, ['accept', id, '--keep', ...message], { cwd: repository, env }).exitCode).toBe(0);
  if (how === 'reverted') {
    git(repository, 'revert', '--no-edit', 'HEAD');
    git(repository, 'switch', '-qc', 'other', 'HEAD~3');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'other');
    git(repository, 'rebase', '-q', 'other', 'main');
  } else git(repository, 'rebase', '-q', '--onto', 'HEAD~2', 'HEAD~1');
  const [lost, kept] = how === 'reverted' ? ['s2', 's1'] : ['s1', 's2'];
  for (const status of JSON.parse(agtOk(repository, 'list', '--json')))
    expect(status).toMatchObject({ merged: status.session_id === kept });
  expect(agtOk(repository, 'list')).toMatch(new RegExp(`^${lost} .* clean, ${how} since `, 'm'));
  expect(agtOk(repository, 'remove', '--merged', '-n')).not.toContain(`/${lost}\n`);
  const rows: { session_id: string }[] = JSON.parse(agtOk(repository, 'activity', '--json'));
  const by = how === 'reverted' ? git(repository, 'rev-parse', 'HEAD') : null;
  expect(rows.find(({ session_id: id }) => id === lost)).toMatchObject({
    ...{ stands: false, reverted_by: by, lost: how === 'dropped' },
  });
});
