/** One repository has a session at a time; the other one says where it is, and loses nothing. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withSessionLock } from '../../src/session/lock.ts';
import { ownerOf } from '../../src/session/owner.ts';
import { openSession } from '../harness/opened.ts';
import { sessionOf } from '../harness/session.ts';
import { AGT, agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';
import { chain, factsOf, makeTwo, workIn } from './two.ts';

const bundle = join(import.meta.dirname, '../../dist/failure-points/main.cjs');

test('a session that goes on elsewhere is not taken by chance; where it was, it is readable and not changed', () => {
  const { here, there } = makeTwo();
  const session = workIn(here);
  agtOk(here, 'session', 'push', 's1');
  const refused = agt(there, 'session', 'pull', 's1');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(
    /^error: session "s1" goes on at \S+@\S+, in .*\/here\nhint: give it away there: agt session push s1 --release\nhint: or take it, .*: agt session pull s1 --take\n$/,
  );
  for (const words of [
    ['accept', 's1'],
    ['session', 'show', 's1'],
    ['du', 's1'],
    ['autocommit', 's1'],
  ])
    expect(agt(there, ...words).stderr).toBe(
      `error: no session "s1" in ${there}/.git\n` +
        'hint: a remote has it; to go on with it here: agt session pull s1\n' +
        `hint: another repository has a session of this name: agt -C ${here} list --all\n`,
    );
  expect(agt(there, 'accept', 's2').stderr).not.toContain('pull');
  agtOk(there, 'session', 'pull', 's1', '--take');
  for (const more of [[], ['--release']])
    expect(agt(here, 'session', 'push', 's1', '-n', ...more)).toMatchObject({ exitCode: 1, stdout: '' });
  // It does not know yet, and goes on.
  expect(agtOk(here, 'session', 'list')).toMatch(/^s1 +active /m);
  write(join(session.sandbox, 'a.txt'), 'work that only this side has\n');
  const lost = agt(here, 'session', 'push', 's1');
  expect(lost.exitCode).toBe(1);
  expect(lost.stderr).toMatch(
    /^error: session "s1" is away: it is at \S+, in .*\/there\nhint: 1 snapshot of this repository is not on origin; a pull makes a fork of it\nhint: bring it here: agt session pull s1 --take\nhint: or go on .*: agt session fork s1\n$/,
  );
  expect(agtOk(here, 'session', 'list')).toMatch(/^s1 +away /m);
  expect(agtOk(here, 'session', 'list')).not.toMatch(/clean|conflict/);
  agtOk(here, 'session', 'log', 's1');
  const before = factsOf(session);
  for (const words of [
    ['session', 'accept', 's1', '--untracked=all'],
    ['session', 'reject', 's1'],
    ['session', 'fail', 's1', '--reason', 'x'],
    ['session', 'sync', 's1'],
    ['restore', 's1', '@{1}'],
    ['undo', 's1'],
    ['session', 'run', 's1', '--', 'true'],
    ['session', 'push', 's1'],
  ]) {
    const outcome = agt(here, ...words);
    expect([words, outcome.exitCode, outcome.stderr]).toEqual([
      words,
      1,
      expect.stringMatching(/session "s1" is away/),
    ]);
  }
  expect(factsOf(session)).toEqual(before);
  // An agent that still works there loses nothing.
  write(join(session.sandbox, 'b.txt'), 'and later work\n');
  agtOk(here, 'autocommit', 's1');
  expect(agtOk(here, 'status')).toMatch(/^s1 +2 snapshots not on origin /m);
  const own = factsOf(session);
  write(join(sessionOf(there, 's1').sandbox, 'c.txt'), 'work of the other side\n');
  agtOk(there, 'session', 'push', 's1');
  const theirs = factsOf(sessionOf(there, 's1'));
  expect(agtOk(here, 'session', 'pull', 's1', '--take', '-n')).toContain(
    'fork     s1-2 would have what only this repository has',
  );
  expect(agtOk(here, 'session', 'pull', 's1', '--take')).toContain(
    'fork     s1-2 has what only this repository had',
  );
  expect(factsOf(session)).toEqual(theirs);
  const { branch: _, status: __, ...forked } = factsOf(sessionOf(here, 's1-2'));
  expect(own).toMatchObject(forked);
  expect(agt(there, 'session', 'push', 's1').stderr).toContain('session "s1" is away');
  expect(agtOk(here, 'doctor')).toContain('nothing is wrong');
});

test('given away and not taken, anybody may have it again, also its giver', () => {
  const { here } = makeTwo();
  const session = workIn(here);
  const before = factsOf(session);
  agtOk(here, 'session', 'push', 's1', '--release');
  expect(agt(here, 'session', 'accept', 's1').stderr).toContain('hint: bring it here: agt session pull s1\n');
  agtOk(here, 'session', 'pull', 's1');
  expect(factsOf(session)).toEqual(before);
  expect(agtOk(here, 'session', 'pull', 's1')).toBe('s1 is here, and goes on here');
  expect(agtOk(here, 'session', 'list')).toMatch(/^s1 +active /m);
  expect(agt(here, 'session', 'push', 's1', '--delete')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('a session that has ended is not given away: anybody may pull it', () => {
  const { here, there } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'reject', 's1');
  expect(agtOk(here, 'session', 'push', 's1', '--release')).toMatch(/\ns1 is rejected: anybody may pull it$/);
  expect(agtOk(here, 'session', 'show', 's1')).not.toContain('away');
  const known = agtOk(here, 'session', 'pull', 's1', '--take');
  expect(known).toBe('s1 is here\nended    it is rejected; bring it back: agt undo s1');
  agtOk(there, 'session', 'pull', 's1');
});

test('each round of takes without work in between leaves no fork', () => {
  const { here, there } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'push', 's1');
  for (const [taker, giver] of [
    [there, here],
    [here, there],
    [there, here],
  ] as const) {
    expect(agtOk(taker, 'session', 'pull', 's1', '--take')).not.toContain('fork');
    expect(agt(giver, 'session', 'push', 's1').stderr).toContain('is away');
  }
});

test.each(['remove', 'reject', 'accept --untracked=all'])(
  'a session that ended here by %s, and went on elsewhere, leaves a fork of what only this side had',
  (end) => {
    const { here, there } = makeTwo();
    const session = workIn(here);
    git(session.sandbox, 'merge', '--quit');
    agtOk(here, 'session', 'push', 's1');
    agtOk(there, 'session', 'pull', 's1', '--take');
    write(join(session.sandbox, 'only-here.txt'), 'only here\n');
    agtOk(here, 'autocommit', 's1');
    agtOk(here, ...end.split(' '), 's1');
    write(join(sessionOf(there, 's1').sandbox, 'c.txt'), 'work of the other side\n');
    agtOk(there, 'session', 'push', 's1');
    expect(agtOk(here, 'session', 'pull', 's1', '--take', '-n')).toContain('fork     s1-2 would have');
    expect(agtOk(here, 'session', 'pull', 's1', '--take')).toContain('fork     s1-2 has');
    const { sandbox } = sessionOf(here, 's1-2');
    expect(readFileSync(join(sandbox, 'only-here.txt'), 'utf8')).toBe('only here\n');
  },
);

test('a session that comes back under another id is the one that is here', () => {
  const { here, there } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--as', 's9', '--take');
  agtOk(there, 'session', 'push', 's9', '--release');
  expect(agt(here, 'session', 'pull', 's9').stderr).toBe(
    'error: session "s9" on origin is already here, under the id "s1"\nhint: pull it under that id: agt session pull s1 origin\n',
  );
  agtOk(here, 'session', 'pull', 's1');
  expect(agtOk(here, 'session', 'list')).toMatch(/^s1 +active /m);
  agtOk(here, 'session', 'push', 's1');
});

test('of two that take it at once, one has it', async () => {
  const { remote, here, there } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'push', 's1', '--release');
  const third = join(there, '../third');
  git(join(there, '..'), 'clone', '-q', remote, third);
  const results = await Promise.all(
    [there, third].map(
      (cwd) =>
        new Promise<{ code: number | null; stderr: string }>((resolve) => {
          const child = spawn(AGT, ['session', 'pull', 's1'], {
            cwd,
            env: { ...process.env, AGT_GIT_PATH: REAL_GIT },
            stdio: ['ignore', 'ignore', 'pipe'],
          });
          let stderr = '';
          child.stderr.on('data', (chunk) => {
            stderr += chunk;
          });
          child.on('close', (code) => resolve({ code, stderr }));
        }),
    ),
  );
  const [won, lost] = results.toSorted((a, b) => (a.code ?? 0) - (b.code ?? 0));
  expect(won?.code).toBe(0);
  expect(lost?.stderr).toMatch(/has taken session "s1" meanwhile|session "s1" goes on at/);
  expect(lost?.code).not.toBe(0);
  const holders = [there, third].filter((path) => agt(path, 'session', 'push', 's1').exitCode === 0);
  expect(holders).toHaveLength(1);
  for (const path of [there, third]) {
    expect(agtOk(path, 'doctor')).toContain('nothing is wrong');
    expect(agt(path, 'status').stdout).not.toContain('did not bring');
  }
});

test('a dry run says what it would do, and changes nothing on either side', () => {
  const { remote, here, there } = makeTwo();
  const session = workIn(here);
  write(join(session.sandbox, 'a.txt'), 'not captured\n');
  const moments = chain(session);
  expect(agt(here, 'session', 'push', 's1', '-n')).toMatchObject({
    stdout: 'would push s1 to origin\n',
    stderr: 'note: 1 changed file has no snapshot yet; a push captures them first\n',
  });
  expect(agt(here, 'session', 'push', 's1', '--plain', '-n').stderr).toContain(
    'note: 1 changed file has no snapshot yet; a push captures them first, and refuses if they have secrets\n',
  );
  expect(chain(session)).toEqual(moments);
  expect(git(remote, 'for-each-ref', 'refs/agt')).toBe('');
  const gives = 'would push s1 to origin\ns1 would be away here';
  expect(agtOk(here, 'session', 'push', 's1', '--release', '-n')).toBe(gives);
  expect(agtOk(here, 'session', 'push', '--all', '--release', '-n')).toBe(gives);
  agtOk(here, 'session', 'push', 's1', '--release');
  expect(agtOk(there, 'session', 'pull', 's1', '-n')).toBe('would pull s1 from origin (4 snapshots)');
  expect(git(there, 'for-each-ref', 'refs/agt', 'refs/heads/agt')).toBe('');
  expect(readFileSync(join(session.sandbox, 'a.txt'), 'utf8')).toBe('not captured\n');
});

test('the copy on a remote goes on demand, but not under another repository', () => {
  const { remote, here, there } = makeTwo();
  workIn(here);
  expect(agt(here, 'session', 'push', 's1', '--delete').stderr).toMatch(/^error: session "s1" has no copy\n/);
  agtOk(here, 'session', 'push', 's1');
  expect(agtOk(here, 'session', 'push', 's1', '--delete', '-n')).toBe(
    'would delete the copy of s1 on origin',
  );
  const taking = [bundle, 'session', 'pull', 's1', 'origin', '--take'];
  const env = { AGT_TEST_KILL_AT: 'pull: moved#1' };
  expect(run(process.execPath, taking, { cwd: there, env }).exitCode).toBe(null);
  agtOk(there, 'session', 'pull', 's1', '--take');
  expect(agt(here, 'session', 'push', 's1', '--delete').stderr).toContain(
    'session "s1" on origin is not of this repository: it goes on at ',
  );
  agt(here, 'session', 'push', 's1');
  for (const more of [['-n'], []])
    expect(agt(there, 'session', 'push', 's1', '--delete', ...more).stderr).toMatch(
      /^error: \S+@\S+, in \S+\/here, may not know that session "s1" is here now\nhint: .* when it pushes next, .*\nhint: .*: --force\n$/,
    );
  const [{ share }] = JSON.parse(agtOk(there, 'list', '--remote', '--json'));
  expect(agt(there, 'session', 'push', share, '--delete').stderr).toContain('may not know that session "s1"');
  expect(agt(there, 'session', 'push', 's1', '--delete', '--force')).toMatchObject({
    stdout: 'deleted the copy of s1 on origin\n',
    stderr: `warning: s1 came from ${sessionOf(here, 's1').sandbox}: nobody can pull it back there without a copy\n`,
  });
  expect(agt(here, 'session', 'pull', 's1', 'origin').stderr).toMatch(
    /^error: "origin" has lost its copy of session "s1", which is with \S+@\S+, in .*\/there\nhint: go on with it as it is here: agt session pull s1 origin --take\n$/,
  );
  expect(git(remote, 'for-each-ref', 'refs/agt')).toBe('');
  expect(agtOk(there, 'session', 'list')).toMatch(/^s1 +active /m);
});

test('a pull waits for the agent that works here, and leaves a shell inside where it is', async () => {
  const { here, there } = makeTwo();
  const session = workIn(here);
  const { sandbox } = session;
  agtOk(here, 'session', 'push', 's1', '--release');
  agtOk(there, 'session', 'pull', 's1');
  const { repository, id } = openSession(session);
  await withSessionLock({ repository, id }, async () => {
    agtOk(here, 'session', 'list', '--remote');
    expect(JSON.parse(readFileSync(join(here, '.git/agt/sessions/s1.json'), 'utf8')).away).toEqual({
      remote: 'origin',
    });
  });
  agtOk(here, 'session', 'list', '--remote');
  expect(agt(here, 'session', 'push', 's1').stderr).toMatch(/is away: it is at \S+, in \S+\/there\n/);
  agtOk(there, 'session', 'push', 's1', '--release');
  const record = join(here, '.git/agt/sessions/s1.json');
  const known = JSON.parse(readFileSync(record, 'utf8')) as object;
  write(record, JSON.stringify({ ...known, owner: ownerOf(process.pid, 'an agent', new Date()) }));
  const refused = agt(here, 'session', 'pull', 's1');
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^error: "an agent" runs in session "s1" \(process \d+\)\nhint: wait until it has ended, or end it\n$/,
    ),
  ]);
  write(record, JSON.stringify(known));
  expect(agt(sandbox, 'session', 'pull', 's1')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('words that mean nothing are refused: --all and a session, agt.push without a remote', () => {
  const { here } = makeTwo();
  workIn(here);
  expect(agt(here, 'session', 'push', '--all', 's1')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^error: --all and session "s1" are given\n/),
  });
  expect(agt(here, 'config', 'set', 'agt.push', 'nowhere')).toMatchObject({
    exitCode: 1,
    stderr:
      'error: there is no remote "nowhere" here\nhint: see: git remote -v\nhint: or add it: git remote add nowhere URL\n',
  });
});
