/** How accepted work leaves a branch, and rejections of sessions that were accepted in part or rejected before. */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, sessionIn } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';

test('a session that is rejected after an acceptance says that its work stays, and how it goes', () => {
  const session = makeSession();
  const { repository } = session;
  writeFileSync(join(session.sandbox, 'new'), 'new\n');
  agtOk(repository, 'accept', 's1', '--keep');
  expect(agtOk(repository, 'reject', 's1')).toContain(
    'stays    its work on main, accepted before; to take it off: agt undo s1, then agt unaccept s1',
  );
  for (const words of [[], ['-n']])
    expect(agt(repository, 'unaccept', 's1', ...words)).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr:
        'error: session "s1" is rejected; agt cannot unaccept it\n' +
        'hint: bring it back, and leave main as it is: agt undo s1\n',
    });
  agtOk(repository, 'undo', 's1');
  git(repository, 'update-ref', 'refs/remotes/origin/main', 'main');
  const revert = `git revert ${git(repository, 'rev-parse', '--short=12', 'main')}`;
  expect(agtOk(repository, 'reject', 's1')).toContain(`undo it by a new commit, on "main": ${revert}`);
  git(repository, 'update-ref', '-d', 'refs/remotes/origin/main');
  agtOk(repository, 'undo', 's1');
  agtOk(repository, 'unaccept', 's1');
  expect(existsSync(join(repository, 'new'))).toBe(false);
});

test('work that stands on several branches: each of them is named, with what takes the work off it', () => {
  const { repository, sandbox } = makeSession();
  git(repository, 'branch', 'release');
  writeFileSync(join(sandbox, 'new'), 'new\n');
  agtOk(repository, 'accept', 's1', '--keep', '--onto', 'release');
  agtOk(repository, 'accept', 's1', '--keep', '--onto', 'main');
  const stays = () => agtOk(repository, 'reject', 's1', '-n').match(/^stays.*$/gm);
  const tip = (branch: string, digits = 10) => git(repository, 'rev-parse', `--short=${digits}`, branch);
  expect(stays()).toEqual([
    'stays    its work on main, accepted before; to take it off: agt undo s1, then agt unaccept s1',
    'stays    its work on release, accepted before; to take it off: agt unaccept s1 once more',
  ]);
  expect(agtOk(repository, 'session', 'show', 's1')).toMatch(
    new RegExp(`^landed +${tip('main')} on main\n +${tip('release')} on release$`, 'm'),
  );
  git(repository, 'update-ref', 'refs/remotes/origin/main', 'main');
  expect(stays()?.[1]).toContain(
    `accepted before; undo it by a new commit, on "release": git revert ${tip('release', 12)}`,
  );
  git(repository, 'update-ref', '-d', 'refs/remotes/origin/main');
  agtOk(repository, 'unaccept', 's1');
  expect(stays()).toEqual([
    'stays    its work on release, accepted before; to take it off: agt undo s1, then agt unaccept s1',
  ]);
});

test('the command names every acceptance that the branch still has, the newest first', () => {
  const { repository, sandbox } = makeSession();
  const tip = () => git(repository, 'rev-parse', '--short=12', 'main');
  const land = (name: string, ...words: string[]) => {
    writeFileSync(join(sandbox, name), `${name}\n`);
    agtOk(repository, 'accept', 's1', '--keep', '-m', name, ...words);
    return tip();
  };
  const one = land('one');
  const two = land('two');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'Mine');
  const way = () => / on "main": (.*)/.exec(agt(repository, 'reject', 's1', '-n').stdout)?.[1] ?? '';
  expect(way()).toBe(`git revert ${two} ${one}`);
  expect(agt(repository, 'unaccept', 's1').stderr).toContain(`: git revert ${two} ${one}\n`);
  git(repository, 'revert', '--no-edit', two);
  expect(agtOk(repository, 'reject', 's1', '-n')).toContain(
    `accepted before; undo earlier acceptances by a new commit, on "main": git revert ${one}`,
  );
  const merge = land('three', '--keep-commits');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'Mine');
  expect(way()).toBe(`git revert -m 1 ${merge} && git revert ${one}`);
  execFileSync('sh', ['-c', way()], { cwd: repository, env: { ...process.env, GIT_EDITOR: 'true' } });
  expect(['one', 'two', 'three'].filter((name) => existsSync(join(repository, name)))).toEqual([]);
  expect(way()).toBe('');
});

test('agt accept of pushed work says how it goes, as agt unaccept would', () => {
  const { repository, sandbox } = makeSession();
  writeFileSync(join(sandbox, 'new'), 'new\n');
  agtOk(repository, 'accept', 's1');
  const again = () => agtOk(repository, 'accept', 's1').split('\n')[1];
  expect(again()).toBe('undo     agt session unaccept s1');
  git(repository, 'update-ref', 'refs/remotes/origin/main', 'main');
  const revert = `git revert ${git(repository, 'rev-parse', '--short=12', 'main')}`;
  expect(again()).toBe(`undo it by a new commit, on "main": ${revert}`);
});

test('unaccept takes several, the newest first, and names those that have to go before', () => {
  const { repository } = makeSession();
  for (const id of ['s2', 's3', 's4']) {
    writeFileSync(join(sessionIn(repository, id).sandbox, 'same'), `${id}\n`);
    agtOk(repository, 'accept', id, '-m', id);
  }
  const refused = () => agt(repository, 'unaccept', 's2').stderr;
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'Mine');
  expect(refused()).not.toContain('landed since');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  expect(refused()).toMatch(
    /git revert \w+\nhint: or first take back what has landed since: agt unaccept s4 s3\n/,
  );
  git(repository, 'update-ref', 'refs/remotes/origin/main', 'main~2');
  expect(refused()).not.toContain('landed since'); // that would not free the commit, which is pushed
  git(repository, 'update-ref', '-d', 'refs/remotes/origin/main');
  const back = (...words: string[]) =>
    agtOk(repository, 'unaccept', 's3', 's2', 's4', ...words).match(/^\w.* back the acceptance of \w+/gm);
  expect(back('-n')).toEqual(['s4', 's3', 's2'].map((id) => `would take back the acceptance of ${id}`));
  expect(back()).toEqual(['s4', 's3', 's2'].map((id) => `took back the acceptance of ${id}`));
  expect(existsSync(join(repository, 'same'))).toBe(false);
});

test('unaccept names an earlier acceptance only while the branch has it, and counts the commits', () => {
  const { repository, sandbox } = makeSession();
  const land = (name: string, ...words: string[]) => {
    writeFileSync(join(sandbox, name), `${name}\n`);
    agtOk(repository, 'accept', 's1', '--keep', ...(words.length === 0 ? ['-m', name] : words));
  };
  const back = (...words: string[]) => agtOk(repository, 'unaccept', 's1', ...words);
  const earlier = (name: string) =>
    `earlier  ${git(repository, 'rev-parse', '--short=10', 'main')} ${name}: accepted before, and still on main`;
  land('first');
  git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  land('second');
  for (const words of [['-n'], []]) expect(back(...words)).not.toContain('first');
  land('third');
  git(repository, 'commit', '-q', '--amend', '-m', 'Third');
  const there = earlier('Third');
  land('fourth');
  for (const words of [['-n'], []]) expect(back(...words)).toContain(there);
  for (const name of ['A', 'B']) {
    git(sandbox, 'add', '-A');
    git(sandbox, 'commit', '-q', '--allow-empty', '-m', name);
    land(name);
    git(repository, 'reset', '-q', '--hard', 'HEAD~1');
  }
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-q', '-m', 'C');
  agtOk(repository, 'accept', 's1', '--keep', '--commits', 'HEAD~2..HEAD');
  const commit = `commit   ${git(repository, 'rev-parse', '--short=10', 'main')} C, and 1 before it`;
  expect(back('-n')).toContain(commit);
  expect(back()).toContain(`${commit}\nbranch   main is back at`);
});

test('the reason of a later agt reject is kept', () => {
  const { repository } = makeSession();
  agtOk(repository, 'reject', 's1', '--reason', 'early');
  const reason = () => JSON.parse(agtOk(repository, 'session', 'show', 's1', '--json')).state_reason;
  expect(agtOk(repository, 'reject', 's1', '--reason', 'late', '-n')).toContain('would take the new reason');
  expect([agtOk(repository, 'reject', 's1'), reason()]).toEqual([
    expect.not.stringContaining('reason'),
    'early',
  ]);
  expect(agtOk(repository, 'reject', 's1', '--reason', 'late')).toBe(
    's1: rejected before; took the new reason; bring it back: agt undo s1',
  );
  expect(reason()).toBe('late');
});
