/** agt session undo and redo. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autocommit, makeSession } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeRepository, run, write } from '../harness/world.ts';

describe('agt session undo and redo', () => {
  test('say which step one has come to', () => {
    const session = makeSession({ a: '0\n' });
    for (const n of ['1', '2', '3']) {
      write(join(session.sandbox, 'a'), `${n}\n`);
      autocommit(session, '--label', `step ${n}`);
    }
    expect(agtOk(session.repository, 'undo', 's1')).toMatch(
      /^s1: restored 1 path, verified\n {2}M a\nundone: "step 3"\nnow at "step 2", \d+ seconds? ago, step 2 of 3\nto take this back: /,
    );
    const { position } = JSON.parse(agtOk(session.repository, 'undo', 's1', '--json'));
    expect(position).toMatchObject({ label: 'step 1', step: 1, of: 3 });
    expect(agtOk(session.repository, 'redo', 's1')).toContain('now at "step 2", ');
    expect(agtOk(session.repository, 'redo', 's1', '-q')).toBe('');
  });

  test('go back and forward step by step, until the session changes', () => {
    const session = makeSession({ a: '0\n' });
    const text = () => readFileSync(join(session.sandbox, 'a'), 'utf8').trim();
    for (const n of ['1', '2', '3']) {
      write(join(session.sandbox, 'a'), `${n}\n`);
      autocommit(session);
    }
    write(join(session.sandbox, 'a'), '4\n'); // not captured
    const step = (what: string) => {
      agtOk(session.repository, 'session', what, 's1');
      return text();
    };
    expect([step('undo'), step('undo'), step('undo')]).toEqual(['3', '2', '1']);
    expect(step('undo')).toBe('0');
    const first = agt(session.repository, 'session', 'undo', 's1');
    expect(first.exitCode).toBe(1);
    expect(first.stderr).toMatch(/^error: nothing to undo: "s1" is at its start\n/);
    expect([step('redo'), step('redo'), step('redo'), step('redo')]).toEqual(['1', '2', '3', '4']);
    const refusedRedo = () => agt(session.repository, 'session', 'redo', 's1');
    expect(refusedRedo()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^error: nothing to redo: "s1" is at its last step\nhint: to go to any snapshot: /,
      ),
    });
    expect(step('undo')).toBe('3');
    write(join(session.sandbox, 'a'), '5\n');
    expect(refusedRedo().stderr).toContain(
      'nothing to redo: nothing was undone since the last change of "s1"\n',
    );
    expect(text()).toBe('5');
    expect(step('undo')).toBe('3');
    expect(step('redo')).toBe('5');
  });

  test.each(['accept', 'sync'])('no redo goes over %s', (how) => {
    const { repository, sandbox } = makeSession({ a: '0\n' });
    for (const name of ['one', 'two', 'three']) {
      write(join(sandbox, name), name);
      agtOk(repository, 'autocommit', 's1');
    }
    agtOk(repository, 'undo', 's1', '2');
    git(repository, 'commit', '-q', '--allow-empty', '-m', 'other work');
    agtOk(repository, ...(how === 'accept' ? ['accept', '--keep', 's1'] : ['sync', 's1']));
    for (const dryRun of [['-n'], []])
      expect(agt(repository, 'redo', 's1', ...dryRun)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(
          new RegExp(
            `^error: nothing to redo: "s1" was ${how}ed since the undo\nhint: .* (agt restore s1 \\w{10})\n$`,
          ),
        ),
      });
    const { stderr } = agt(repository, 'redo', 's1');
    agtOk(repository, ...(stderr.match(/agt (restore .*)/)?.[1] ?? '').split(' '));
    expect(readdirSync(sandbox)).toContain('three');
  });

  test('take a number of steps, and say if there are fewer', () => {
    const session = makeSession({ a: '0\n' });
    const { repository, sandbox } = session;
    const text = () => readFileSync(join(sandbox, 'a'), 'utf8').trim();
    for (const n of ['1', '2', '3', '4', '3']) {
      write(join(sandbox, 'a'), `${n}\n`);
      autocommit(session);
    }
    write(join(sandbox, 'a'), '5\n'); // not captured
    const go = (cwd: string, ...words: string[]) => {
      agtOk(cwd, ...words);
      return text();
    };
    expect(agtOk(repository, 'undo', 's1', '2', '-n')).toMatch(/^M a\n/);
    expect([go(repository, 'undo', 's1', '2'), go(sandbox, 'undo', '3')]).toEqual(['4', '1']);
    expect([go(sandbox, 'redo', '3'), go(sandbox, 'redo', 's1', '2')]).toEqual(['4', '5']);
    const refused = (...words: string[]) => {
      const { exitCode, stderr } = agt(sandbox, ...words);
      expect(text()).toBe('5');
      return [exitCode, stderr];
    };
    expect(refused('undo', '7')).toEqual([
      1,
      expect.stringMatching(
        /^error: cannot undo 7 steps: only 6 earlier steps of "s1" would change something\n/,
      ),
    ]);
    expect(go(sandbox, 'undo')).toBe('3');
    expect(agt(sandbox, 'redo', '2').stderr).toMatch(
      /^error: cannot redo 2 steps: 1 step brings "s1" to its last step\n/,
    );
    expect(go(sandbox, 'redo')).toBe('5');
    for (const no of ['0', '00'])
      expect(refused('undo', no)).toEqual([2, expect.stringMatching('is no number')]);
    expect(refused('undo', 'two')).toEqual([1, expect.stringMatching(/^error: no session "two"/)]);
    expect(refused('undo', '@{2}')).toEqual([
      2,
      expect.stringMatching(
        /^error: "@\{2\}" is no .*\n.*\nhint: back to a snapshot: agt restore s1 '@\{2\}'\n$/,
      ),
    ]);
    agtOk(repository, 'session', 'new', '2');
    expect(refused('undo', '2')).toEqual([
      2,
      'error: "2" is a session, and a number of steps\n' +
        'hint: for the session: agt undo 2 1, for the steps: agt undo s1 2\n',
    ]);
    expect(go(sandbox, 'undo', 's1', '2')).toBe('4');
  });

  test('treat a restore as one step', () => {
    const session = makeSession({ a: '0\n' });
    for (const n of ['1', '2', '3']) {
      write(join(session.sandbox, 'a'), `${n}\n`);
      autocommit(session, '--label', n);
    }
    agtOk(session.repository, 'session', 'restore', 's1', '--to', '1');
    agtOk(session.sandbox, 'session', 'undo');
    expect(readFileSync(join(session.sandbox, 'a'), 'utf8')).toBe('3\n');
  });

  test('show uncaptured work in a dry run of undo', () => {
    const session = makeSession({ a: '0\n' });
    autocommit(session);
    write(join(session.sandbox, 'a'), '1\n');
    expect(agtOk(session.repository, 'session', 'undo', 's1', '-n')).toMatch(/^M a\n/);
  });

  test('pass over a step that changed nothing that agt captures', () => {
    const session = makeSession();
    const file = join(session.sandbox, 'file');
    for (const content of ['one', 'two']) {
      write(file, content);
      autocommit(session);
    }
    run('mkfifo', [join(session.sandbox, 'pipe')], { cwd: session.sandbox });
    expect(autocommit(session)).toMatchObject({ outcome: 'committed', changes: [] });
    agtOk(session.repository, 'undo', 's1');
    expect(readFileSync(file, 'utf8')).toBe('one');
  });

  test('do not count a label alone as a step', () => {
    const session = makeSession({ a: '0\n' });
    autocommit(session);
    write(join(session.sandbox, 'a'), '1\n');
    autocommit(session);
    autocommit(session, '--label', 'named');
    agtOk(session.sandbox, 'session', 'record', '--tool', 'Bash', '--summary', 'ls');
    expect(agtOk(session.repository, 'session', 'undo', 's1')).toMatch(/^now at .* 1 of 2$/m);
    const text = () => readFileSync(join(session.sandbox, 'a'), 'utf8');
    expect(text()).toBe('0\n');
    autocommit(session, '--label', 'looked around');
    agtOk(session.sandbox, 'session', 'record', '--tool', 'Bash', '--summary', 'ls');
    expect(agtOk(session.repository, 'session', 'redo', 's1')).toMatch(/^now at "named", .* 2 of 2$/m);
    expect(text()).toBe('1\n');
  });

  test('count as steps what no path shows', () => {
    const session = makeSession({ a: '0\n', '.gitignore': '' });
    const { sandbox, repository } = session;
    const acts: (() => unknown)[] = [
      () => chmodSync(join(sandbox, 'a'), 0o600),
      () => mkdirSync(join(sandbox, 'empty')),
      () => git(sandbox, 'update-index', '--assume-unchanged', 'a'),
      () => git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'empty'),
    ];
    autocommit(session, '--label', 'start');
    for (const act of acts) {
      act();
      autocommit(session);
    }
    expect(JSON.parse(agtOk(repository, 'undo', 's1', '--json'))).toMatchObject({
      position: { step: 4, of: 5 },
    });
    expect(git(sandbox, 'log', '-1', '--format=%s')).toBe('first');
    for (const step of [3, 2, 1])
      expect(agtOk(repository, 'undo', 's1')).toMatch(new RegExp(`^now at .* ${step} of 5$`, 'm'));
    expect(lstatSync(join(sandbox, 'a')).mode & 0o777).toBe(0o644);
  });
});

test("an undo in a session with the user's changes goes back to these", () => {
  const repository = makeRepository({ a: 'a\n' });
  write(join(repository, 'a'), 'mine\n');
  const { sandbox } = JSON.parse(agtOk(repository, 'new', 's1', '--with-changes', '--json'));
  write(join(sandbox, 'a'), 'of the agent\n');
  agtOk(repository, 'autocommit', 's1');
  agtOk(repository, 'undo', 's1');
  expect(readFileSync(join(sandbox, 'a'), 'utf8')).toBe('mine\n');
  const [start] = JSON.parse(agtOk(repository, 'session', 'log', 's1', '--json')).slice(-1);
  expect(start).toMatchObject({ label: 'with your changes', author: 'other' });
});

test('an undo names HEAD, the branches and the stash of the session that went back', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  const step = () => agtOk(repository, 'autocommit', 's1');
  const undo = (...options: string[]) => agtOk(repository, 'undo', 's1', ...options);
  write(join(sandbox, 'a'), '1\n');
  step();
  git(sandbox, 'commit', '-q', '-a', '-m', 'one');
  const one = git(sandbox, 'rev-parse', 'HEAD');
  step();
  write(join(sandbox, 'a'), '2\n');
  step();
  run(join(AGT, '../git'), ['stash', '-q'], { cwd: sandbox });
  step();
  git(sandbox, 'switch', '-q', '-c', 'other');
  step();
  expect(undo('-n')).toContain('HEAD: would be on branch agt/s1 (is on branch other)\n');
  expect(undo()).toContain('\n  HEAD: now on branch agt/s1 (was on branch other)\n');
  const stash = run(join(AGT, '../git'), ['rev-parse', '--short=10', 'stash'], { cwd: sandbox });
  expect(undo('-n')).toContain(`the stash: would be deleted (is ${stash.stdout.trim()})\n`);
  expect(undo()).toContain(`\n  the stash: deleted (was ${stash.stdout.trim()})\n`);
  expect(undo()).not.toMatch(/ back | deleted/);
  const { refs } = JSON.parse(undo('--json'));
  const start = git(repository, 'rev-parse', 'main');
  expect(refs).toEqual([{ ref: 'refs/heads/agt/s1', from: one, to: start }]);
  expect(agtOk(repository, 'redo', 's1')).toContain(
    `\n  branch agt/s1: now at ${one.slice(0, 10)} (was ${start.slice(0, 10)})\n`,
  );
});

test('a dry run says in one line that it would bring a session back', () => {
  const { repository } = makeSession({ a: '0\n' });
  agtOk(repository, 'reject', 's1');
  expect(agtOk(repository, 'undo', 's1', '-n')).toMatch(
    /^s1: would bring its folder back, with 1 path, as in \w{10}$/,
  );
  expect(agtOk(repository, 'undo', 's1')).toMatch(/^s1: restored 1 path, verified\n/);
});

test('an undo in a fork takes back no step of the parent', () => {
  const { repository, sandbox } = makeSession({ a: 'a\n' });
  for (const text of ['1\n', '2\n']) {
    write(join(sandbox, 'a'), text);
    agtOk(repository, 'autocommit', 's1');
  }
  const fork = join(JSON.parse(agtOk(repository, 'fork', 's1', '--id', 'f1', '--json')).sandbox, 'a');
  const refused = () => {
    expect(agt(repository, 'undo', 'f1').stderr).toMatch(
      /^error: nothing to undo: "f1" has no step of its own left; .* "s1"\n(?:hint: .*\n)*hint: .*agt restore f1 SNAPSHOT\n$/,
    );
    expect(readFileSync(fork, 'utf8')).toBe('2\n');
  };
  refused();
  write(fork, 'own\n');
  agtOk(repository, 'undo', 'f1');
  refused();
  agtOk(repository, 'redo', 'f1');
  expect(readFileSync(fork, 'utf8')).toBe('own\n');
  agtOk(repository, 'undo', 'f1');
  const first = git(repository, 'rev-parse', 'agtsessions/s1~2');
  expect(agtOk(repository, 'restore', 'f1', first)).not.toContain('HEAD');
  expect(readFileSync(fork, 'utf8')).toBe('1\n');
  agtOk(repository, 'undo', 'f1');
  refused();
});

test.each([true, false])(
  'the agent deletes all in the sandbox, .git too: undo brings it back (in the sandbox: %s)',
  (isInside) => {
    const { repository, sandbox } = makeSession({ a: 'a\n' });
    write(join(sandbox, 'b'), 'b\n');
    agtOk(repository, 'autocommit', 's1');
    for (const name of readdirSync(sandbox)) rmSync(join(sandbox, name), { recursive: true });
    expect(agtOk(isInside ? sandbox : repository, 'undo', ...(isInside ? [] : ['s1']))).toContain(
      's1: restored',
    );
    expect(readFileSync(join(sandbox, 'b'), 'utf8')).toBe('b\n');
    expect(git(sandbox, 'status', '--porcelain')).toBe('?? b');
  },
);
