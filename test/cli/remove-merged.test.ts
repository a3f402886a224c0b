import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, write } from '../harness/world.ts';

test('--merged removes the sessions whose work is merged, and no other', async () => {
  const { repository, sandbox } = makeSession();
  const make = (id: string) => sessionIn(repository, id).sandbox;
  const commit = (path: string, name: string) => {
    write(join(path, name), `${name}\n`);
    git(path, 'add', name);
    git(path, 'commit', '-q', '-m', name);
  };
  const merge = (id: string) => git(repository, 'merge', '-q', '--no-edit', `agt/${id}`);
  for (const id of ['merged', 'dirty', 'elsewhere', 'busy']) {
    commit(make(id), id);
    merge(id);
  }
  write(join(sandbox, '../../dirty/sandbox/more'), 'more\n');
  const elsewhere = join(sandbox, '../../elsewhere/sandbox');
  commit(elsewhere, 'late');
  git(elsewhere, 'checkout', '-q', '--detach', 'main');
  commit(make('open'), 'open');
  commit(make('accepted'), 'accepted');
  agtOk(repository, 'accept', 'accepted', '--keep', '-m', 'accepted');
  const busy = spawn(AGT, ['run', 'busy', '--', 'cat'], {
    cwd: repository,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await vi.waitFor(() => expect(agtOk(repository, 'list', '--state', 'running')).toContain('busy'), 20_000);

  const planned = agtOk(repository, 'remove', '--merged', '-n', '--json');
  expect(JSON.parse(planned).map((one: { session_id: string }) => one.session_id)).toEqual([
    'merged',
    'accepted',
  ]);
  expect(existsSync(join(sandbox, '../../merged'))).toBe(true);
  const outcome = agt(repository, 'remove', '--merged');
  expect(outcome.exitCode).toBe(0);
  expect(outcome.stdout.match(/^removed .*/gm)?.map((line) => basename(line))).toEqual([
    'merged',
    'accepted',
  ]);
  expect(outcome.stderr).toBe(
    'note: elsewhere stays: 1 commit on its work branch neither exported nor merged\nnote: busy stays: running\n',
  );
  busy.stdin.end();
  await once(busy, 'exit');
  expect(agt(repository, 'remove', '--merged').stderr).not.toContain('busy');
  expect(agt(repository, 'remove', '--merged').stderr).toBe(
    'note: elsewhere stays: 1 commit on its work branch neither exported nor merged\n',
  );
  expect(agt(repository, 'remove', '--merged', 's1').exitCode).toBe(2);
  expect(agt(repository, 'remove', '--merged', '--force').exitCode).toBe(2);
  const left = JSON.parse(agtOk(repository, 'list', '--json')) as { session_id: string }[];
  expect(left.map((one) => one.session_id)).toEqual(['s1', 'dirty', 'elsewhere', 'open']);
});

test('what landed with --keep is accepted until something new comes; unaccept comes back to it', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const merge = () => {
    const [view] = JSON.parse(agtOk(repository, 'list', '--json'));
    return { merged: view.merged, merge: view.merge, landed: view.landed?.commit };
  };
  const tip = () => git(repository, 'rev-parse', 'main');
  const accept = (message: string) =>
    agtOk(repository, 'accept', 's1', '-m', message, '--keep', '--untracked=all');
  const subjects = () => git(repository, 'log', '--format=%s').split('\n');
  write(join(sandbox, 'a'), 'by the agent\n');
  write(join(sandbox, 'new'), 'one\n');
  accept('one');
  const one = tip();
  expect(merge()).toEqual({ merged: true, merge: null, landed: one });
  expect(agtOk(repository, 'status')).toContain(' accepted ');
  expect(agtOk(repository, 'remove', '--merged', '-n')).toContain('would remove');

  // The branch has `new` as the session had it: what is new would merge.
  write(join(sandbox, 'new'), 'two\n');
  expect(merge()).toEqual({ merged: false, merge: 'clean', landed: one });
  expect(agt(repository, 'remove', '--merged', '-n').stderr).toContain(
    'no session has all of its work merged',
  );
  accept('two');
  const sources = git(repository, 'rev-list', 'refs/agt/landed/s1');
  agtOk(repository, 'unaccept', 's1');
  expect(sources).toContain(git(repository, 'rev-parse', 'refs/agt/landed/s1'));
  expect(merge()).toEqual({ merged: false, merge: 'clean', landed: one });

  // The same after an acceptance that has ended the session.
  agtOk(repository, 'accept', 's1', '-m', 'two');
  agtOk(repository, 'unaccept', 's1');
  expect(merge()).toEqual({ merged: false, merge: 'clean', landed: one });
  expect(agtOk(repository, 'session', 'show', 's1')).toContain(
    `landed           ${one.slice(0, 10)} on main`,
  );
  expect(accept('two')).toContain('1 file changed');
  expect(subjects()).toEqual(['two', 'one', 'first']);
  git(sandbox, 'add', '.');
  git(sandbox, 'commit', '-q', '-m', 'the same, committed');
  expect(agtOk(repository, 'remove', '--merged')).toContain('removed ');
});

test('a session without its folder is not merged as long as only a snapshot has some of its files', () => {
  const { repository, sandbox } = makeSession({ '.gitignore': 'key*\nlibraries/\n' });
  const merge = () => {
    const [view] = JSON.parse(agtOk(repository, 'list', '--all', '--json'));
    return [view.merged, / merged /.test(agtOk(repository, 'list', '--all'))];
  };
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'of the agent');
  git(repository, 'merge', '-q', 'agt/s1');
  for (const ignored of ['key', 'in/key', 'libraries/one/file', 'in/libraries/two'])
    write(join(sandbox, ignored), 'ignored\n');
  agtOk(repository, 'autocommit', 's1');
  rmSync(sandbox, { recursive: true });
  expect(merge()).toEqual([true, true]);
  agtOk(repository, 'restore', 's1', '@');
  write(join(sandbox, 'in/open'), 'in no commit\n');
  agtOk(repository, 'autocommit', 's1');
  rmSync(sandbox, { recursive: true });
  expect(merge()).toEqual([false, false]);
  agtOk(repository, 'remove', 's1');
  expect(merge()).toEqual([false, false]);
});

test('a version that is only staged is not merged, although the file is', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n', b: 'b\n' });
  write(join(sandbox, 'a'), 'staged\n');
  git(sandbox, 'add', 'a');
  for (const folder of [repository, sandbox]) write(join(folder, 'a'), 'same\n');
  git(repository, 'commit', '-qam', 'same');
  agtOk(repository, 'remove', '--merged', '--delete-branch');
  expect(agt(repository, 'remove', 's1', '--delete-branch').exitCode).toBe(1);
  expect(git(sandbox, 'show', ':a')).toBe('staged');
});

test('uncommitted work in a submodule is not merged', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const allow = ['-c', 'protocol.file.allow=always'];
  git(sandbox, ...allow, 'submodule', 'add', '-q', makeRepository({ f: 'f\n' }), 'sub');
  git(sandbox, 'commit', '-qm', 'sub');
  git(repository, ...allow, 'merge', '-q', 'agt/s1');
  write(join(sandbox, 'sub/f'), 'only here\n');
  for (const folder of [repository, sandbox]) write(join(folder, 'a'), 'same\n');
  git(repository, 'commit', '-qam', 'same');
  agtOk(repository, 'remove', '--merged', '--delete-branch');
  expect(readFileSync(join(sandbox, 'sub/f'), 'utf8')).toBe('only here\n');
});

test('commits of the work branch are not merged by what a detached HEAD has', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'precious'), 'precious\n');
  git(sandbox, 'add', 'precious');
  git(sandbox, 'commit', '-qm', 'precious');
  git(sandbox, 'checkout', '-q', '--detach', 'main');
  for (const folder of [repository, sandbox]) write(join(folder, 'same'), 'same\n');
  git(repository, 'add', 'same');
  git(repository, 'commit', '-qm', 'same');
  const [view] = JSON.parse(agtOk(repository, 'list', '--json'));
  expect(view).toMatchObject({ merge: 'refused', merged: false });
  agtOk(repository, 'remove', '--merged', '--delete-branch');
  expect(agt(repository, 'remove', 's1', '--delete-branch').exitCode).toBe(1);
  expect(git(repository, 'show', 'agt/s1:precious')).toBe('precious');
});

test('agt list names the branch of accept --onto, which is not that of the session', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  git(repository, 'branch', 'other');
  write(join(sandbox, 'a'), 'by the agent\n');
  agtOk(repository, 'accept', 's1', '--onto', 'other', '--keep');
  expect(agtOk(repository, 'list')).toMatch(/^s1 .* accepted on other /m);
  write(join(sandbox, 'a'), 'again\n');
  expect(agtOk(repository, 'list')).toMatch(/^s1 .* clean for main, accepted before on other /m);
});

test('a session is not merged by a sync before its first commit, and stays merged by one after', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const row = () => JSON.parse(agtOk(repository, 'list', '--json'))[0];
  const goOn = () => git(repository, 'commit', '-q', '--allow-empty', '-m', 'main');
  for (const _ of [1, 2]) {
    goOn();
    agtOk(repository, 'sync', 's1');
    expect(row()).toMatchObject({ ahead: 0, behind: 0, merged: false });
  }
  expect(agt(repository, 'remove', '--merged', '-n').stderr).toContain(
    'no session has all of its work merged',
  );
  write(join(sandbox, 'b'), 'b\n');
  git(sandbox, 'add', 'b');
  git(sandbox, 'commit', '-qm', 'work');
  git(repository, 'merge', '-q', '--ff-only', 'agt/s1');
  goOn();
  agtOk(repository, 'sync', 's1');
  expect(row()).toMatchObject({ ahead: 0, behind: 0, merged: true });
});

test('a fork whose commits and uncommitted files landed with another session is merged', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n', b: 'b\n' });
  write(join(sandbox, 'a'), 'committed\n');
  git(sandbox, 'commit', '-qam', 'a');
  write(join(sandbox, 'b'), 'not yet\n');
  write(join(sandbox, 'new'), 'new\n');
  for (const id of ['same', 'more']) agtOk(repository, 'fork', 's1', '--id', id);
  write(join(sandbox, '../../more/sandbox/more'), 'more\n');
  agtOk(repository, 'accept', 's1', '-m', 'work');
  expect(agt(repository, 'accept', 'same', '-n').stderr).toContain('has all work of session "same"');
  const listed = agtOk(repository, 'list').replaceAll(/ +/g, ' ');
  expect(listed).toMatch(/^same active \+0 2 - 1 merged /m);
  expect(listed).toMatch(/^more active \+0 3 \+\d -\d 1 clean /m);
  const planned: { session_id: string }[] = JSON.parse(
    agtOk(repository, 'remove', '--merged', '--delete-branch', '--json'),
  );
  expect(planned.map((one) => one.session_id)).toEqual(['same']);
});

test('a session that had landed is accepted also once it is removed', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'b\n');
  agtOk(repository, 'accept', 's1', '--keep');
  const view = () => agtOk(repository, 'list', '--all').split('\n')[1];
  expect(view()).toMatch(/^s1 +active .* accepted +\d/);
  agtOk(repository, 'remove', '--merged');
  expect(view()).toMatch(/^s1 +removed .* accepted +\d/);
  agtOk(repository, 'undo', 's1');
  write(join(sandbox, 'a'), 'more\n');
  agtOk(repository, 'remove', 's1', '--force');
  expect(view()).toMatch(/^s1 +removed .* accepted before +\d/);
});

test('what has landed as a whole is no work that the end of the branch would lose', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  write(join(sandbox, 'a'), 'a\nb\n');
  git(sandbox, 'commit', '-qam', 'b');
  write(join(sandbox, 'a'), 'a\nb\nc\n');
  agtOk(repository, 'accept', 's1');
  const { stderr } = agt(repository, 'remove', 's1', '--delete-branch');
  expect(stderr).not.toContain('neither exported nor merged');
});

test('the row of a removed session is about its last snapshot: merged by hand, or still to be merged', () => {
  const { repository, sandbox } = makeSession();
  const other = sessionIn(repository, 's2');
  write(join(sandbox, 'one'), '1\n');
  git(sandbox, 'add', '.');
  git(sandbox, 'commit', '-q', '-m', 'one');
  for (const at of [sandbox, repository]) write(join(at, 'two'), '2\n');
  write(join(repository, 'one'), '1\n');
  git(repository, 'add', '.');
  git(repository, 'commit', '-q', '-m', 'by hand');
  write(join(other.sandbox, 'open'), 'open\n');
  agtOk(repository, 'remove', 's1', 's2');
  const rows = JSON.parse(agtOk(repository, 'list', '--all', '--json'));
  expect(rows).toMatchObject([
    { session_id: 's1', merge: null, merged: true, diff: { files: 0 } },
    { session_id: 's2', merge: 'clean', merged: false, diff: { files: 1, insertions: 1 } },
  ]);
});

test('a fork is merged for agt list and agt remove once its parent has landed with more in the same lines', () => {
  const { repository, sandbox } = makeSession({ f: 'a\nb\nc\n' });
  write(join(sandbox, 'f'), 'a\nB\nc\n');
  git(sandbox, 'commit', '-qam', 'B');
  agtOk(repository, 'fork', 's1', '--id', 's2');
  write(join(sandbox, 'f'), 'a\nB\nC\n');
  agtOk(repository, 'accept', 's1');
  const planned = () => agt(repository, 'remove', '--merged', '-n');
  expect(planned()).toMatchObject({ stdout: expect.stringMatching(/^would remove .*s2$/m), stderr: '' });
  const fork = join(sandbox, '../../s2/sandbox');
  write(join(fork, 'f'), 'a\nB\nown\n');
  git(fork, 'commit', '-qam', 'own');
  git(fork, 'checkout', '-q', '--detach', 'HEAD~1');
  expect(planned().stdout).toBe('');
  const deleted = agt(repository, 'remove', 's2', '--delete-branch');
  expect(deleted.stderr).toContain('2 commits on its work branch neither exported nor merged');
});

test('commits of which nothing is left are merged, but do not go with their branch unasked', () => {
  const { repository, sandbox } = makeSession();
  write(join(sandbox, 'one'), '1\n');
  git(sandbox, 'add', '.');
  git(sandbox, 'commit', '-q', '-m', 'one');
  rmSync(join(sandbox, 'one'));
  expect(agtOk(repository, 'list')).toMatch(/^s1 +active +\+1 +1 +- +- +merged /m);
  expect(agt(repository, 'accept', 's1', '-n').stderr).toContain('nothing to accept');
  expect(agt(repository, 'remove', 's1', '--delete-branch').stderr).toContain('1 commit on its HEAD');
  expect(agtOk(repository, 'remove', '--merged')).toMatch(/^removed .*s1$/m);
});
