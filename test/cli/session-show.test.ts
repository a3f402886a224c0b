/** The words of agt session show, of doctor about new sessions, and the fields that metadata always have. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { agt, agtOk, git, makeRepository, REAL_GIT, run, write } from '../harness/world.ts';

test('show names the reason of an end, and in place the last commit; new says that the checkout is shared', () => {
  const repository = makeRepository();
  const made = agtOk(repository, 'session', 'new', 'here', '--working-copy', 'in-place');
  expect(made).toMatch(/^shared {3}your checkout is the sandbox/m);
  write(join(repository, 'a'), 'agent\n');
  git(repository, 'add', 'a');
  git(repository, 'commit', '-q', '-m', 'Change a');
  const info = agtOk(repository, 'session', 'info', 'here');
  expect(info).toMatch(/^last commit +[0-9a-f]+ Change a$/m);
  agtOk(repository, 'session', 'reject', 'here', '--reason', 'wrong file');
  expect(agtOk(repository, 'session', 'show', 'here')).toMatch(
    /^state +rejected: wrong file\nended +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(\d+ seconds? ago\)$/m,
  );
  expect(agtOk(repository, 'session', 'show', 'here')).toMatch(/^created +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
  write(join(repository, 'mine'), 'mine\n');
  const second = agtOk(repository, 'session', 'new', 'again', '--working-copy', 'in-place');
  expect(second).toMatch(/^aside /m);
  expect(second).toMatch(/^shared/m);
});

test('metadata always have profile, from and from_spec; list --failed; doctor says what new sessions get', () => {
  const repository = makeRepository();
  const fields = { profile: null, from: null, from_spec: null };
  expect(JSON.parse(agtOk(repository, 'session', 'new', 's1', '--json'))).toMatchObject(fields);
  const file = () => JSON.parse(readFileSync(join(repository, '.git/agt/sessions/s1.json'), 'utf8'));
  expect(file()).toMatchObject(fields);
  agtOk(repository, 'session', 'fork', 's1', '--id', 'f1');
  expect(JSON.parse(agtOk(repository, 'session', 'show', 'f1', '--json'))).toMatchObject({
    profile: null,
    from: 's1',
  });
  agtOk(repository, 'session', 'fail', 's1', '--reason', 'tests are red');
  const failed = JSON.parse(agtOk(repository, 'session', 'list', '--failed', '--json'));
  expect(failed.map(({ session_id }: { session_id: string }) => session_id)).toEqual(['s1']);
  expect(agtOk(repository, 'session', 'show', 's1')).toMatch(/^state +failed: tests are red$/m);
  const { stdout } = agt(repository, 'doctor', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    new_session: { provider: expect.any(String), working_copy: 'worktree' },
    cow_overlay: { works: expect.any(Boolean), text: expect.any(String) },
  });
  agtOk(repository, 'config', 'set', 'fs.workingCopy', 'in-place');
  agtOk(repository, 'config', 'set', 'fs.snapshots', 'git');
  expect(agt(repository, 'doctor', '-v').stdout).toMatch(
    /^new session {2}provider git, working copy in-place\ncow-overlay {2}(works|cannot work)/m,
  );
});

test('show says of a part that it has landed in part', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n', b: 'b\n' });
  for (const name of ['a', 'b']) write(join(sandbox, name), 'changed\n');
  agtOk(repository, 'accept', 's1', '--include', 'a', '--keep');
  const landed = git(repository, 'rev-parse', '--short=10', 'main');
  const shown = () => /^landed +(.*)$/m.exec(agtOk(repository, 'session', 'show', 's1'))?.[1];
  expect(shown()).toBe(`in part as ${landed} on main`);
  agtOk(repository, 'accept', 's1', '--keep');
  expect(shown()).toBe(`${git(repository, 'rev-parse', '--short=10', 'main')} on main`);
});

test('list says when each session ended, as which commit, and why it ended or failed', () => {
  const repository = makeRepository();
  for (const id of ['taken', 'dropped', 'open']) {
    const { sandbox } = JSON.parse(agtOk(repository, 'session', 'new', id, '--json'));
    write(join(sandbox, id), 'work\n');
    git(sandbox, 'add', id);
    git(sandbox, 'commit', '-q', '-m', id);
  }
  expect(agtOk(repository, 'list')).not.toContain('ENDED');
  agtOk(repository, 'accept', 'dropped', '--keep');
  const before = git(repository, 'rev-parse', '--short=10', 'main');
  agtOk(repository, 'accept', 'taken', '-m', 'taken');
  agtOk(repository, 'reject', 'dropped', '--reason', 'wrong file');
  const commit = git(repository, 'rev-parse', '--short=10', 'main');
  const all = agtOk(repository, 'list', '--all');
  expect(all).toMatch(/ENDED +REASON$/m);
  expect(all).toMatch(new RegExp(`^taken .*  \\d+s ago as ${commit} on main +-$`, 'm'));
  expect(all).toMatch(
    new RegExp(`^dropped .* {2}\\d+s ago, after it landed as ${before} on main +wrong file$`, 'm'),
  );
  const shown = agtOk(repository, 'session', 'show', 'dropped');
  expect(shown).toMatch(/^sandbox .*\/dropped\/sandbox \(removed with the session\)$/m);
  expect(shown).not.toContain('work branch');
  expect(all).toMatch(/^open .* - +-$/m);
  agtOk(repository, 'session', 'fail', 'open', '--reason', 'tests are red');
  for (const words of [['list'], ['list', '--failed'], ['status']])
    expect(agtOk(repository, ...words)).toMatch(/^open .* {2}tests are red$/m);
  const [json] = JSON.parse(agtOk(repository, 'list', '--state', 'accepted', '--json'));
  expect(json).toMatchObject({
    state_at: expect.any(String),
    landed: { commit: git(repository, 'rev-parse', 'main'), onto: 'main' },
  });
});

test('names the branch that the sandbox is on, and the commit of the work branch', () => {
  const { repository, sandbox } = makeSession();
  const tip = git(repository, 'rev-parse', '--short=10', 'agt/s1');
  git(sandbox, 'checkout', '-q', '-b', 'other');
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'x');
  const head = git(sandbox, 'rev-parse', '--short=10', 'HEAD');
  const shown = agtOk(repository, 'session', 'show', 's1');
  expect(shown).toMatch(new RegExp(`^head +other at ${head}\nwork branch +agt/s1 at ${tip}$`, 'm'));
});

test('promises no merge that accept refuses: git has not finished, conflicts, HEAD lacks work, a repository inside', () => {
  const repository = makeRepository({ 'a.txt': 'a\n' });
  const rebasing = sessionIn(repository, 'rebasing').sandbox;
  write(join(rebasing, 'x.txt'), 'x\n');
  git(rebasing, 'add', 'x.txt');
  git(rebasing, 'commit', '-q', '-m', 'x');
  expect(agt(rebasing, 'git', 'rebase', '--exec', 'false', 'HEAD~1').exitCode).toBe(1);
  const popped = sessionIn(repository, 'popped').sandbox;
  write(join(popped, 'a.txt'), 'stashed\n');
  git(popped, 'stash', '-q');
  write(join(popped, 'a.txt'), 'committed\n');
  git(popped, 'commit', '-q', '-a', '-m', 'y');
  expect(run(REAL_GIT, ['stash', 'pop'], { cwd: popped }).exitCode).toBe(1);
  const back = sessionIn(repository, 'back').sandbox;
  git(back, 'commit', '-q', '--allow-empty', '-m', 'z');
  git(back, 'checkout', '-q', '--detach', 'HEAD~1');
  const nesting = sessionIn(repository, 'nesting').sandbox;
  git(nesting, 'init', '-q', 'inner');
  write(join(nesting, 'inner/code'), 'code\n');
  expect(agtOk(repository, 'list')).toMatch(/^nesting +active +- +\+0 +1 .* accept refuses /m);
  for (const { session_id: id, ...one } of JSON.parse(agtOk(repository, 'list', '--json'))) {
    expect([id, one.merge, one.merged]).toEqual([id, 'refused', false]);
    expect(agt(repository, 'accept', id, '-n').exitCode).toBe(1);
  }
  expect(agtOk(repository, 'session', 'show', 'rebasing')).toMatch(
    /^state +in a rebase\ncommits +\+1\ndirty +-\ndiff +\+1 -0\nbehind +-\nmerge +accept refuses$/m,
  );
});
