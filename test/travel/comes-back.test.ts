/** A pull into the folder that is already here: what no snapshot has stays, as in a restore. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { chain, factsOf, makeTwo, workIn } from './two.ts';

const LEFT = ['node_modules/p', 'n/.git/HEAD', 'large'];

function withLeftFiles() {
  const two = makeTwo();
  const session = workIn(two.here);
  const { sandbox, folder } = session;
  agtOk(two.here, 'config', 'set', 'agt.maxFileSize', '1k');
  write(join(folder, '.agtignore'), 'sandbox/node_modules/\n');
  write(join(sandbox, 'node_modules/p'), 'p\n');
  write(join(sandbox, 'large'), 'x'.repeat(2000));
  git(sandbox, 'init', '-q', 'n');
  write(join(sandbox, 'n/x'), 'x\n');
  const missing = () => LEFT.filter((path) => !existsSync(join(sandbox, path)));
  return { ...two, session, missing };
}

test('files that no snapshot has stay where a session comes back to', () => {
  const { here, there, session, missing } = withLeftFiles();
  const { sandbox, folder } = session;
  agtOk(here, 'session', 'push', 's1', '--release');
  const moments = chain(session);
  agtOk(here, 'session', 'pull', 's1');
  expect(missing()).toEqual([]);
  expect(chain(session).slice(0, -1)).toEqual(moments);
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  const moved = sessionOf(there, 's1');
  write(join(moved.sandbox, 'n/x'), 'changed there\n');
  rmSync(join(moved.sandbox, 'build'), { recursive: true });
  write(join(moved.folder, '.agtignore'), 'sandbox/node_modules/\nsandbox/cache/\n');
  write(join(moved.sandbox, 'large'), 'small there\n');
  agtOk(there, 'session', 'push', 's1', '--release');
  write(join(sandbox, 'mine.txt'), 'only here\n');
  const back = agt(here, 'session', 'pull', 's1');
  expect(back).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('fork     s1-2 has') });
  expect(back.stderr).toMatch(/^warning: large is not as in the snapshot\n$/);
  expect(missing()).toEqual([]);
  expect(readFileSync(join(sandbox, 'large'), 'utf8')).toHaveLength(2000);
  expect(readFileSync(join(sandbox, 'n/x'), 'utf8')).toBe('changed there\n');
  expect(readFileSync(join(folder, '.agtignore'), 'utf8')).toContain('cache');
  expect(['build', 'mine.txt'].filter((path) => existsSync(join(sandbox, path)))).toEqual([]);
  expect(readFileSync(join(sessionOf(here, 's1-2').sandbox, 'mine.txt'), 'utf8')).toBe('only here\n');
  expect(agtOk(here, 'session', 'list')).toMatch(/^s1 +active /m);
  expect(agtOk(here, 'doctor')).toContain('nothing is wrong');
});

test('a session that has ended elsewhere ends here only without a loss, or as the hint says', () => {
  const { here, there, missing } = withLeftFiles();
  agtOk(here, 'session', 'push', 's1', '--release');
  agtOk(there, 'session', 'pull', 's1');
  agtOk(there, 'session', 'reject', 's1');
  agtOk(there, 'session', 'push', 's1');
  expect(agt(here, 'session', 'pull', 's1', '--take').stderr).toMatch(
    /^error: cannot capture 2 files of session "s1"\n(.*\n)*.*together with the session here: agt session remove s1 --force\n$/,
  );
  expect(missing()).toEqual([]);
  agtOk(here, 'session', 'remove', 's1', '--force');
  agtOk(here, 'session', 'pull', 's1', '--take');
  expect(agtOk(here, 'session', 'list', '--all')).toMatch(/^s1 +rejected /m);
});

test('a sandbox without its link is one again', () => {
  const { here, session } = withLeftFiles();
  const before = factsOf(session);
  agtOk(here, 'session', 'push', 's1', '--release');
  rmSync(join(session.sandbox, '.git'));
  agtOk(here, 'session', 'pull', 's1');
  expect(factsOf(session)).toEqual(before);
});

test('work that was accepted elsewhere is on the branch here, or no longer, only after that came', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const { sandbox } = sessionOf(here, 's1');
  write(join(sandbox, 'one'), 'one\n');
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-qm', 'One');
  agtOk(here, 'session', 'push', 's1', '--release');
  agtOk(there, 'session', 'pull', 's1');
  agtOk(there, 'accept', 's1');
  agtOk(there, 'session', 'push', 's1');
  git(there, 'push', '-q', 'origin', 'main');
  const landed = git(there, 'rev-parse', '--short=10', 'main');
  agtOk(here, 'session', 'pull', 's1', '--take');
  expect(run(REAL_GIT, ['branch', '--list', 'agt/*'], { cwd: here }).stdout).toBe('');
  const place = (words: string) => {
    const asked = [['activity'], ['list', '-a'], ['session', 'show', 's1']].map((one) => agtOk(here, ...one));
    for (const text of asked) expect(`${text}\n`).toContain(`${landed}${words}\n`);
    return JSON.parse(agtOk(here, 'activity', '--json'))[0];
  };
  expect(place(', not on main here')).toMatchObject({ lost: false, elsewhere: true, stands: true });
  agtOk(here, 'new', 's2');
  const other = agtOk(here, 'path', 's2');
  git(other, 'pull', '-q', 'origin', 'main');
  const warning = (end: string) =>
    ` comes along, a commit of session "s1", which "main" does not have${end}\n`;
  expect(agt(here, 'accept', 's2', '-n').stderr).toContain(warning(''));
  git(here, 'pull', '-q', 'origin', 'main');
  expect(place(' on main')).toMatchObject({ lost: false, elsewhere: false });
  git(here, 'reset', '-q', '--hard', 'HEAD~1');
  expect(place('; that commit is no longer on main')).toMatchObject({
    lost: true,
    elsewhere: false,
    stands: false,
  });
  expect(agt(here, 'accept', 's2', '-n').stderr).toContain(warning(' any more'));
  agtOk(here, 'undo', 's1');
  expect(git(sessionOf(here, 's1').sandbox, 'log', '-1', '--format=%s', 'agt/s1')).toBe('One');
});

test('what a session that came brings has not been accepted before here', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  for (const name of ['one', 'two']) write(join(sessionOf(here, 's1').sandbox, name), `${name}\n`);
  agtOk(here, 'accept', 's1', '--keep', '--include', 'one');
  agtOk(here, 'session', 'push', 's1', '--release');
  agtOk(there, 'session', 'pull', 's1');
  expect(agtOk(there, 'list')).toContain(' clean, accepted elsewhere ');
  git(there, 'pull', '-q', here, 'main');
  expect(agtOk(there, 'list')).toContain(' clean, accepted in part ');
});

test('an acceptance that was taken back elsewhere is not lost here; away, table and JSON have no merge', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  write(join(sessionOf(here, 's1').sandbox, 'one'), 'one\n');
  agtOk(here, 'accept', 's1', '--keep', '--untracked=all');
  agtOk(here, 'unaccept', 's1');
  const rows = (at: string) => JSON.parse(agtOk(at, 'activity', '--json')).slice(0, 2);
  const back = (lost: boolean) =>
    ['unaccepted', 'accepted'].map((outcome) => ({ outcome, lost, elsewhere: !lost, stands: false }));
  expect(rows(here)).toMatchObject(back(true));
  agtOk(here, 'session', 'push', 's1', '--release');
  agtOk(there, 'session', 'pull', 's1');
  expect(rows(there)).toMatchObject(back(false));
  expect(agtOk(there, 'activity')).toMatch(
    / unaccepted \w+, not on main here\n.* accepted as \w+, not on main here\n/,
  );
  expect(JSON.parse(agtOk(here, 'list', '--json'))).toMatchObject([{ state: 'away', merge: null }]);
});

test('a session that is away, and then removed: each command that agt names brings its work back', () => {
  const { here, there } = makeTwo();
  const { sandbox } = workIn(here);
  const pushed = () => JSON.parse(agtOk(here, 'session', 'show', 's1', '--json')).pushed;
  expect(pushed()).toBe(null);
  agtOk(here, 'session', 'push', 's1');
  expect(pushed()).toEqual({ remote: 'origin', at: expect.stringMatching(/Z$/) });
  agtOk(there, 'session', 'pull', 's1', '--take');
  const { sessions } = JSON.parse(agtOk(there, 'status', '--json'));
  expect(sessions).toMatchObject([{ push: null, pushed: pushed() }]);
  expect(agtOk(there, 'status')).not.toContain('not on origin');
  write(join(sandbox, 'mine.txt'), 'only here\n');
  agt(here, 'session', 'push', 's1');
  const [pull, fork] = ['agt session pull s1 --take', 'agt session fork s1'];
  expect(agtOk(here, 'remove', 's1')).toMatch(new RegExp(`: ${pull}, or go on .*: ${fork}$`));
  expect(agt(here, 'remove', 's1', '--delete-branch').stderr).toMatch(
    new RegExp(`\nhint: .*: ${pull}\nhint: .*: ${fork}\nhint: or lose the work: add --force\n$`),
  );
  agtOk(here, ...fork.split(' ').slice(1), '--id', 'f1');
  expect(readFileSync(join(sessionOf(here, 'f1').sandbox, 'mine.txt'), 'utf8')).toBe('only here\n');
  expect(agt(here, 'session', 'pull', 's1', '--as', 'other').stderr).toBe(
    'error: session "s1" on origin is already here, under the id "s1"\n' +
      'hint: pull it under that id: agt session pull s1 origin --take\n',
  );
  agtOk(here, ...pull.split(' ').slice(1));
  expect(agtOk(here, 'list')).toMatch(/^s1 +active /m);
});

test('a commit that only this side has stays as a fork, also one without a change of files', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const { sandbox } = sessionOf(here, 's1');
  write(join(sandbox, 'a.txt'), 'staged\n');
  git(sandbox, 'add', '-A');
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  git(sandbox, 'commit', '-q', '-m', 'only here');
  agtOk(here, 'autocommit', 's1');
  const words = ['session', 'pull', 's1', '--take'];
  expect(agtOk(here, ...words, '-n')).toContain('fork     s1-2 would have');
  expect(agtOk(here, ...words)).toContain('fork     s1-2 has');
  expect(git(here, 'log', '-1', '--format=%s', 'agt/s1-2')).toBe('only here');
});

test('a fork is named, also one that was there before or after a commit on the branch', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const { sandbox } = sessionOf(here, 's1');
  write(join(sandbox, 'mine.txt'), 'pushed\n');
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  write(join(sandbox, 'mine.txt'), 'only here\n');
  agtOk(here, 'autocommit', 's1');
  git(here, 'commit', '-q', '--allow-empty', '-m', 'meanwhile');
  const words = ['session', 'pull', 's1', '--take'];
  expect(agtOk(here, ...words, '-n')).toContain('fork     s1-2 would have');
  expect(agtOk(here, ...words)).toContain('fork     s1-2 has');
  agtOk(there, ...words);
  write(join(sandbox, 'mine.txt'), 'again\n');
  agtOk(here, 'session', 'fork', 's1', '--id', 'own');
  expect(agtOk(here, ...words)).toContain('fork     own has');
  expect(agtOk(here, 'list')).not.toContain('s1-3');
});

test('a push announces a fork only if a pull makes one', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const { sandbox } = sessionOf(here, 's1');
  write(join(sandbox, 'a.txt'), 'changed\n');
  agtOk(here, 'session', 'push', 's1');
  const take = (cwd: string) => agtOk(cwd, 'session', 'pull', 's1', '--take');
  take(there);
  for (const content of ['once', 'twice']) {
    write(join(sandbox, 'a.txt'), `${content}\n`);
    agtOk(here, 'autocommit', 's1');
  }
  expect(agt(here, 'session', 'push', 's1').stderr).toContain(
    '\nhint: 2 snapshots of this repository are not on origin; a pull makes a fork of them\n',
  );
  expect(take(here)).toContain('fork     s1-2 has');
  agtOk(here, 'session', 'push', 's1');
  take(there);
  agtOk(here, 'accept', 's1', '--keep');
  agtOk(here, 'autocommit', 's1', '--label', 'the same files');
  expect(agt(here, 'session', 'push', 's1').stderr).not.toMatch(/^hint: \d/m);
  expect(take(here)).not.toContain('fork');
});

test('turns that only this repository had are those of the fork, in blame and in the list', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const work = (cwd: string, name: string) => {
    const { sandbox } = sessionOf(cwd, 's1');
    const agent = agentIn(sandbox, 'claude-code', 'c');
    agent.says(name);
    agent.begins(name);
    write(join(sandbox, name), 'changed\n');
    git(sandbox, 'commit', '-qam', name);
    agent.ends(name);
  };
  work(here, 'a.txt');
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  work(there, 'b.txt');
  agtOk(there, 'session', 'push', 's1');
  work(here, 'dir/c.txt');
  agtOk(here, 'session', 'pull', 's1', '--take');
  const originOf = (cwd: string, name: string) => JSON.parse(agtOk(cwd, 'blame', '--json', name))[0].origin;
  const told = (cwd: string) => [originOf(cwd, 'a.txt'), originOf(cwd, 'dir/c.txt')];
  const expected = [{ session: 's1' }, { session: 's1-2', turn: 2, prompt: 'dir/c.txt' }];
  expect(told(sessionOf(here, 's1-2').sandbox)).toMatchObject(expected);
  expect(JSON.parse(agtOk(here, 'session', 'list', '--json'))).toMatchObject([
    { session_id: 's1', last_prompt: 'b.txt', moved: { elsewhere: [] } },
    { agent: 'claude', last_prompt: 'dir/c.txt', agent_state: { state: 'done' } },
  ]);
  agtOk(here, 'accept', 's1-2');
  expect(told(here)).toMatchObject(expected);
});

test('a session that its repository has lost comes back there without --take', () => {
  const { here, there } = makeTwo();
  const session = workIn(here);
  const before = factsOf(session);
  agtOk(here, 'session', 'push', 's1');
  for (const loss of ['remove s1 --delete-branch --force', 'uninstall --force']) {
    agtOk(here, ...loss.split(' '));
    expect(agt(there, 'session', 'pull', 's1').stderr).toContain('session "s1" goes on at ');
    agtOk(here, 'session', 'pull', 's1');
    expect(factsOf(session)).toEqual(before);
  }
});

test('a session of a branch that is not here: pull says so, and doctor how to make it', () => {
  const { here, there } = makeTwo();
  git(here, 'switch', '-qc', 'feature');
  git(here, 'push', '-q', 'origin', 'feature');
  workIn(here);
  agtOk(here, 'session', 'push', 's1', '--release');
  git(there, 'fetch', '-q');
  expect(agt(there, 'session', 'pull', 's1').stderr).toBe(
    'note: its work is for feature, a branch that is not here; see: agt doctor\n',
  );
  expect(agt(there, 'doctor').stdout).toContain(
    'git branch feature origin/feature, or agt sync s1 --from BRANCH',
  );
  git(there, 'branch', 'feature', 'origin/feature');
  expect(agtOk(there, 'doctor')).toContain('nothing is wrong');
});
