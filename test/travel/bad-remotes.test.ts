/** Remotes that lose, damage, refuse or go back: agt says so, changes nothing, and names the way on. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { sessionOf, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git, REAL_GIT, run, write } from '../harness/world.ts';
import { factsOf, makeTwo, type Two, workIn } from './two.ts';

let two: Two;
let session: TestSession;

beforeEach(() => {
  two = makeTwo();
  session = workIn(two.here);
});

function refOf(kind: 'head' | 'parts'): { ref: string; oid: string } {
  const [line = ''] = git(
    two.remote,
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    `refs/agt/shared/*/${kind}`,
  ).split('\n');
  const [oid = '', ref = ''] = line.split(' ');
  return { oid, ref };
}

/** Puts another part in the place of the last one. */
function replacePart(change: (part: Buffer) => Buffer): void {
  const { ref, oid } = refOf('parts');
  const part = Buffer.from(
    run(REAL_GIT, ['cat-file', 'blob', `${oid}:part`], { cwd: two.remote }).stdout,
    'latin1',
  );
  const input = change(part);
  const blob = run(REAL_GIT, ['hash-object', '-w', '--stdin'], { cwd: two.remote, input }).stdout.trim();
  const tree = run(REAL_GIT, ['mktree'], {
    cwd: two.remote,
    input: `100644 blob ${blob}\tpart\n`,
  }).stdout.trim();
  const raw = git(two.remote, 'cat-file', 'commit', oid).replace(/^tree .*/, `tree ${tree}`);
  const commit = run(REAL_GIT, ['hash-object', '-t', 'commit', '-w', '--stdin'], {
    cwd: two.remote,
    input: `${raw}\n`,
  });
  git(two.remote, 'update-ref', ref, commit.stdout.trim());
}

function pullRefused(): string {
  const before = git(two.there, 'for-each-ref');
  const head = refOf('head').oid;
  const { exitCode, stderr } = agt(two.there, 'session', 'pull', 's1');
  expect(exitCode).not.toBe(0);
  expect(git(two.there, 'for-each-ref')).toBe(before);
  expect(refOf('head').oid).toBe(head);
  expect(agtOk(two.there, 'session', 'list', '--all')).not.toContain('s1');
  return stderr;
}

test('a part that is lost, cut or changed; --again sends all once more', () => {
  const before = factsOf(session);
  agtOk(two.here, 'session', 'push', 's1', '--release');
  for (const change of [
    (part: Buffer) => part.subarray(0, part.length - 20),
    (part: Buffer) => part.subarray(0, 10),
    (part: Buffer) => Buffer.concat([part.subarray(0, 300), Buffer.from('x'), part.subarray(301)]),
  ]) {
    replacePart(change);
    expect(pullRefused()).toMatch(
      /^error: "origin" has lost a part of the session, or damaged it\nhint: .*--again\n$/,
    );
  }
  const { ref } = refOf('parts');
  git(two.remote, 'update-ref', '-d', ref);
  expect(pullRefused()).toMatch(/^error: "origin" has lost a part of the session, or damaged it\n/);
  // Nobody has it: the one that gave it away sends it again.
  expect(agtOk(two.here, 'session', 'push', 's1', '--again')).toContain('s1 is away here');
  agtOk(two.there, 'session', 'pull', 's1');
  expect(factsOf(sessionOf(two.there, 's1'))).toEqual(before);
});

test('the whole copy is gone: the next push makes a new one', () => {
  agtOk(two.here, 'session', 'push', 's1');
  for (const kind of ['head', 'parts'] as const) git(two.remote, 'update-ref', '-d', refOf(kind).ref);
  write(join(session.sandbox, 'a.txt'), 'more\n');
  agtOk(two.here, 'session', 'push', 's1', '--release');
  agtOk(two.there, 'session', 'pull', 's1');
  expect(factsOf(sessionOf(two.there, 's1'))).toEqual(factsOf(session));
});

test('the whole copy is gone while nobody has the session: it goes on where it was last', () => {
  const before = factsOf(session);
  agtOk(two.here, 'session', 'push', 's1', '--release');
  for (const kind of ['head', 'parts'] as const) git(two.remote, 'update-ref', '-d', refOf(kind).ref);
  expect(agt(two.here, 'session', 'pull', 's1').stderr).toBe(
    'error: "origin" has lost its copy of session "s1"\n' +
      'hint: go on with it as it is here: agt session pull s1 --take\n',
  );
  expect(agtOk(two.here, 'session', 'pull', 's1', '--take')).toMatch(
    /^s1 goes on here as it is; origin has no copy/,
  );
  expect(agtOk(two.here, 'session', 'list')).toMatch(/^s1 +active /m);
  expect(factsOf(session)).toEqual(before);
  agtOk(two.here, 'session', 'push', 's1', '--release');
  agtOk(two.there, 'session', 'pull', 's1');
});

test('the owner notices with a push that the remote has lost the parts, and sends them again', () => {
  agtOk(two.here, 'session', 'push', 's1');
  git(two.remote, 'update-ref', '-d', refOf('parts').ref);
  expect(agtOk(two.here, 'session', 'push', 's1')).toMatch(/^pushed s1 to origin/);
  agtOk(two.there, 'session', 'pull', 's1', '--take');
});

test('a copy on a second remote is one of its own, and the first one goes on', () => {
  const second = `${two.remote}.second`;
  git(two.here, 'init', '-q', '--bare', second);
  for (const remote of ['origin', second, 'origin', second]) {
    write(join(session.sandbox, 'a.txt'), `for ${remote}\n`);
    agtOk(two.here, 'session', 'push', 's1', remote);
  }
  for (const remote of ['origin', second])
    expect(JSON.parse(agtOk(two.there, 'session', 'list', '--remote', remote, '--json'))).toHaveLength(1);
  agtOk(two.there, 'session', 'pull', 's1', second, '--take');
  expect(factsOf(sessionOf(two.there, 's1'))).toEqual(factsOf(session));
});

test('an older state than was seen here', () => {
  agtOk(two.here, 'session', 'push', 's1');
  const old = (['head', 'parts'] as const).map(refOf);
  write(join(session.sandbox, 'a.txt'), 'more\n');
  agtOk(two.here, 'session', 'push', 's1', '--release');
  for (const { ref, oid } of old) git(two.remote, 'update-ref', ref, oid);
  const before = factsOf(session);
  const refused = agt(two.here, 'session', 'pull', 's1', '--take');
  expect(refused.stderr).toMatch(
    /^error: "origin" has an older state of session "s1" than it had before\nhint: push what is here: (.*)\n/,
  );
  expect(factsOf(session)).toEqual(before);
  agtOk(two.here, 'session', 'push', 's1', 'origin', '--again');
  agtOk(two.there, 'session', 'pull', 's1');
  expect(factsOf(sessionOf(two.there, 's1'))).toEqual(before);
});

test('a remote that refuses the refs, and one that is not there', () => {
  write(join(two.remote, 'hooks/pre-receive'), '#!/bin/sh\necho "only branches here"\nexit 1\n', 0o755);
  const refused = agt(two.here, 'session', 'push', 's1');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(/^error: "origin" refuses sessions: pre-receive hook declined\nhint: /);
  expect(refused.stderr).toContain('agt session bundle');
  rmSync(join(two.remote, 'hooks/pre-receive'));
  agtOk(two.here, 'session', 'push', 's1');
  const gone = agt(two.here, 'session', 'push', 's1', '../nowhere.git');
  expect(gone.exitCode).toBe(128);
  expect(gone.stderr).toMatch(/^error: git cannot reach "..\/nowhere.git": .*does not/);
  expect(agtOk(two.here, 'session', 'push', 's1', 'origin')).toBe('origin has all of s1');
});

test('a remote that is unknown, is no repository, or cannot be reached: the list says which, and the next step', () => {
  git(two.here, 'remote', 'add', 'empty', join(two.here, 'dir'));
  git(two.here, 'remote', 'add', 'down', 'https://127.0.0.1:9/x');
  const said = (remote: string) => agt(two.here, 'session', 'list', '--remote', remote).stderr;
  expect(said('orgin')).toBe(
    'error: this repository has no remote "orgin"\n' +
      'hint: did you mean: origin?\nhint: remotes here: down, empty, origin; or give its address\n',
  );
  expect(said('empty')).toMatch(
    /^error: git cannot reach "empty": .*dir' does not appear to be a git repository\nhint: correct its address: git remote set-url empty URL\n$/,
  );
  expect(said('down')).toMatch(/^error: git cannot reach "down": .*\nhint: try it: git ls-remote down\n$/);
});

test('a head that is no head hides no other session', () => {
  agtOk(two.here, 'session', 'push', 's1', '--release');
  const input = 'age-encryption.org/v1\nnothing\n';
  const blob = run(REAL_GIT, ['hash-object', '-w', '--stdin'], { cwd: two.remote, input }).stdout.trim();
  git(two.remote, 'update-ref', 'refs/agt/shared/0123/head', blob);
  const listed = agt(two.there, 'session', 'list', '--remote', 'origin');
  expect(listed.exitCode).toBe(0);
  expect(listed.stdout).toMatch(/^s1 /m);
  expect(listed.stderr).toContain('0123');
  agtOk(two.there, 'session', 'pull', 's1');
});

test('a remote that got another name is the same one; a nested repository is named, and stays', () => {
  agtOk(two.here, 'session', 'push', 's1');
  git(two.here, 'remote', 'rename', 'origin', 'up');
  git(session.sandbox, 'init', '-q', 'inner');
  write(join(session.sandbox, 'inner/file'), 'in it\n');
  expect(agt(two.here, 'session', 'push', 's1', 'origin').stderr).toBe(
    'error: this repository has no remote "origin"\nhint: remotes here: up; or give its address\n',
  );
  const pushed = agt(two.here, 'session', 'push', 's1', '--release');
  expect(pushed.stdout).toMatch(/^pushed s1 to up /);
  expect(pushed.stderr).toMatch(
    /^warning: sandbox\/inner\/\.git stays here: belongs to a nested repository$/m,
  );
  expect(JSON.parse(agtOk(two.there, 'session', 'list', '--remote', '--json'))).toHaveLength(1);
  expect(agtOk(two.here, 'session', 'show', 's1')).toMatch(/^pushed +to up, .*\naway +on up, for anybody$/m);
});

test('that cannot move two refs at once', () => {
  git(two.remote, 'config', 'receive.advertiseAtomic', 'false');
  expect(agt(two.here, 'session', 'push', 's1').stderr).toBe(
    'error: "origin" cannot move two refs at once, as a push of a session does (--atomic)\n' +
      'hint: write the session into a file: agt session bundle ID FILE\n',
  );
});
