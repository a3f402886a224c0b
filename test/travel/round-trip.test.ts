/** A session goes to another repository by a remote, goes on there, and comes back: equal at every moment. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { Decrypter, generateHybridIdentity, identityToRecipient } from 'age-encryption';
import { describe, expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { AGT, agt, agtOk, git, makeTempDir, REAL_GIT, run, write } from '../harness/world.ts';
import { chain, factsOf, makeTwo, withoutKey, workIn } from './two.ts';

describe('a round trip', () => {
  test.each(['sha1', 'sha256'])('has every moment at both ends (%s)', (format) => {
    const { here, there, remote } = makeTwo(format);
    const session = workIn(here);
    const before = factsOf(session);
    const moments = chain(session);
    expect(agtOk(here, 'session', 'push', 's1', '--release')).toMatch(
      /^pushed s1 to origin \(\d+ snapshots, .*\)\ns1 is away/,
    );
    expect(JSON.parse(agtOk(there, 'session', 'list', '--remote', '--json'))).toMatchObject([
      { session_id: 's1', state: 'active', holder: null, encrypted: true, problem: null },
    ]);
    expect(agtOk(there, 'session', 'pull', 's1')).toMatch(
      /^pulled s1 from origin \(3 snapshots\)\nsandbox {2}/,
    );
    const moved = sessionOf(there, 's1');
    expect(factsOf(moved)).toEqual(before);
    expect(chain(moved).slice(0, moments.length)).toEqual(moments);
    // It goes on: to an earlier moment, with new work, a fork, and home.
    agtOk(there, 'restore', 's1', 'before the commit');
    expect(readFileSync(join(moved.sandbox, 'a.txt'), 'utf8')).toBe('one\nand more\n');
    expect(git(moved.sandbox, 'log', '--format=%s')).toBe('first');
    agtOk(there, 'undo', 's1');
    expect(factsOf(moved)).toEqual(before);
    write(join(moved.sandbox, 'there.txt'), 'there\n');
    agtOk(there, 'session', 'fork', 's1', '--id', 'forked');
    agtOk(there, 'session', 'push', 's1', '--release');
    const after = factsOf(moved);
    agtOk(here, 'session', 'pull', 's1');
    expect(factsOf(session)).toEqual(after);
    expect(agt(here, 'session', 'accept', 's1', '--untracked=all').stderr).toBe('');
    expect(readFileSync(join(here, 'there.txt'), 'utf8')).toBe('there\n');
    for (const repository of [here, there]) {
      expect(git(repository, 'fsck', '--strict', '--no-dangling')).toBe('');
      expect(agtOk(repository, 'doctor')).toContain('nothing is wrong');
    }
    expect(git(remote, 'for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/tags')).toBe(
      'refs/heads/main',
    );
  });

  test('to a remote from which nobody has fetched leaves out what its branches have', () => {
    const { here, remote } = makeTwo();
    write(join(here, 'large'), randomBytes(100_000));
    git(here, 'add', 'large');
    git(here, 'commit', '-q', '-m', 'large');
    git(here, 'push', '-q', remote, 'main');
    agtOk(here, 'session', 'new', '--id', 's1');
    const { bytes } = JSON.parse(agtOk(here, 'session', 'push', 's1', remote, '--json')) as { bytes: number };
    expect(bytes).toBeLessThan(10_000);
  });

  test('sends only what is new, and nothing if nothing is', () => {
    const { here, remote } = makeTwo();
    const session = workIn(here);
    agtOk(here, 'session', 'push', 's1');
    expect(agtOk(here, 'session', 'push', 's1')).toBe('origin has all of s1');
    const oids = () =>
      git(remote, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)').split('\n');
    const first = oids();
    write(join(session.sandbox, 'dir/c.txt'), 'changed\n');
    agtOk(here, 'session', 'push', 's1');
    const added = oids().filter((oid) => !first.includes(oid));
    // Head, part, tree and commit.
    expect(added).toHaveLength(4);
    const size = (oid: string) => Number(git(remote, 'cat-file', '-s', oid));
    expect(added.reduce((sum, oid) => sum + size(oid), 0)).toBeLessThan(3072);
  });

  test('leaves no object here, also where every ref of the remote is fetched', () => {
    const { here } = makeTwo();
    workIn(here);
    git(here, 'config', 'remote.origin.fetch', '+refs/*:refs/remotes/all/*');
    const state = () => git(here, 'count-objects', '-v') + git(here, 'for-each-ref');
    agtOk(here, 'autocommit', 's1');
    const before = state();
    agtOk(here, 'session', 'push', 's1');
    expect(state()).toBe(before);
    git(here, 'fetch', '-q');
    write(join(sessionOf(here, 's1').sandbox, 'a.txt'), 'more\n');
    agtOk(here, 'session', 'push', 's1');
    expect(git(here, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  test('of an ended session keeps it ended, and an undo brings it back there', () => {
    const { here, there } = makeTwo();
    const session = workIn(here);
    const before = factsOf(session);
    agtOk(here, 'session', 'reject', 's1');
    agtOk(here, 'session', 'push', 's1');
    agtOk(there, 'session', 'pull', 's1', '--take');
    expect(agtOk(there, 'session', 'list', '--all')).toMatch(/^s1 +rejected /m);
    agtOk(there, 'undo', 's1');
    expect(factsOf(sessionOf(there, 's1'))).toEqual(before);
  });

  test('into a repository that has another session of that name: under another id', () => {
    const { here, there } = makeTwo();
    const before = factsOf(workIn(here));
    agtOk(here, 'session', 'push', 's1', '--release');
    agtOk(there, 'session', 'new', '--id', 's1');
    const refused = agt(there, 'session', 'pull', 's1');
    expect(refused.stderr).toMatch(
      /^error: session "s1" is another one here\nhint: .*agt session pull [0-9a-f]{20} --as ID\n$/,
    );
    agtOk(there, 'session', 'pull', 's1', '--as', 's9');
    const { branch: _, status: __, ...moved } = factsOf(sessionOf(there, 's9'));
    expect(before).toMatchObject(moved);
    agtOk(there, 'session', 'push', 's9', '--release');
    expect(agtOk(there, 'session', 'list', '--remote', 'origin')).toMatch(/^s9 +free /m);
  });

  test.each([0, 100_000])('of many pushes joins parts, and each pull has all (after %i bytes)', (size) => {
    const { here, there, remote } = makeTwo();
    const session = workIn(here);
    write(join(session.sandbox, 'first'), randomBytes(size));
    for (let n = 0; n < 30; n++) {
      write(join(session.sandbox, 'dir/c.txt'), `${n}\n`);
      agtOk(here, 'session', 'push', 's1');
    }
    const [parts = ''] = git(remote, 'for-each-ref', '--format=%(refname)', 'refs/agt/shared/*/parts').split(
      '\n',
    );
    expect(Number(git(remote, 'rev-list', '--count', parts, '^main'))).toBeLessThan(25);
    agtOk(there, 'session', 'pull', 's1', '--take');
    expect(factsOf(sessionOf(there, 's1'))).toEqual(factsOf(session));
    expect(chain(sessionOf(there, 's1')).slice(0, -1)).toEqual(chain(session));
  });

  test.each(['--depth=1', '--filter=blob:none'])('in clones with %s', (kind) => {
    const { here, there, remote } = makeTwo();
    write(join(here, 'a.txt'), 'later\n');
    git(here, 'commit', '-qam', 'second');
    git(here, 'push', '-q', 'origin', 'main');
    git(remote, 'config', 'uploadpack.allowFilter', 'true');
    git(remote, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
    for (const path of [here, there]) {
      rmSync(path, { recursive: true });
      git(join(path, '..'), 'clone', '-q', kind, `file://${remote}`, path);
    }
    const session = workIn(here);
    agtOk(here, 'session', 'push', 's1', '--release');
    agtOk(there, 'session', 'pull', 's1');
    expect(factsOf(sessionOf(there, 's1'))).toEqual(factsOf(session));
    expect(existsSync(join(there, '.git/shallow'))).toBe(kind === '--depth=1');
  });
});

test('the conversation goes along: agt resume has it with the paths of its new place', () => {
  const { here, there } = makeTwo();
  const { sandbox, folder } = workIn(here);
  const [id, bin, home] = ['f94c118e-c09e-4fad-9acf-05a14a0c730f', makeTempDir('bin'), makeTempDir('home')];
  write(join(bin, 'claude'), '#!/bin/sh\necho "in $PWD: $*"\n', 0o755);
  agtOk(sandbox, 'snapshot', '--agent', 'claude', '--conversation', id, '--label', 'prompt: first');
  const line = {
    type: 'user',
    message: { content: `look at ${sandbox}/a.txt` },
    cwd: sandbox,
    sessionId: id,
  };
  write(join(folder, 'xdg/claude-code', `${id}.jsonl`), `${JSON.stringify(line)}\n`);
  agtOk(here, 'session', 'push', 's1', '--release');
  agtOk(there, 'session', 'pull', 's1');
  const moved = sessionOf(there, 's1').sandbox;
  const env = { HOME: home, CLAUDE_CONFIG_DIR: undefined, PATH: `${bin}:${process.env['PATH']}` };
  const { stdout } = run(AGT, ['resume', 's1'], { cwd: there, env });
  const copy = /--resume ([0-9a-f-]{36})/.exec(stdout)?.[1] ?? '';
  expect(stdout).toContain(`in ${moved}: --resume ${copy}`);
  const file = join(home, '.claude/projects', moved.replace(/[^A-Za-z0-9]/g, '-'), `${copy}.jsonl`);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    message: { content: `look at ${moved}/a.txt` },
    cwd: moved,
    sessionId: copy,
  });
});

describe('keys', () => {
  test('without the key a pull says which command brings it; another key opens nothing', () => {
    const { here, there } = makeTwo();
    const before = factsOf(workIn(here));
    agtOk(here, 'session', 'push', 's1', '--release');
    const secret = agtOk(here, 'key', 'export');
    withoutKey(() => {
      expect(agt(there, 'session', 'pull', 's1')).toMatchObject({
        exitCode: 1,
        stderr:
          'error: you have no key yet\n' +
          'hint: bring that of another machine; there: agt key export | ssh THIS-MACHINE agt key import -\n' +
          'hint: or make one: agt key new; if somebody else sent it: let who has it now type: agt config add --global agt.recipients WHAT-IT-PRINTS && agt session push ID --again\n',
      });
      for (const command of ['show', 'export'])
        expect(agt(there, 'key', command).stderr).toMatch(
          /^error: you have no key yet\nhint: bring that of another machine; there: agt key export .*\nhint: or make one: agt key new\n$/,
        );
      expect(agt(there, 'list', '--remote').stderr).toMatch(
        /1 session there is encrypted, and you have no key yet\nhint: bring the key of another machine of yours: /,
      );
      const own = agtOk(there, 'key', 'new');
      expect(agtOk(there, 'key', 'show')).toBe(own);
      expect(agt(there, 'session', 'pull', 's1').stderr).toMatch(
        /^error: there is no session "s1" on origin that a key here can open\nhint: 1 session there is encrypted for other keys; import .*: agt key import FILE; or let .*: agt config add --global agt.recipients age1\w+ && agt session push s1 --again\n$/,
      );
      const file = join(makeTempDir(), 'key');
      write(file, secret);
      expect(agtOk(there, 'key', 'import', file)).toMatch(/^1 key added/);
      agtOk(there, 'session', 'pull', 's1');
    });
    expect(factsOf(sessionOf(there, 's1'))).toEqual(before);
  });

  test('that is lost is not replaced in silence, and one that others can read is not used', () => {
    const { here } = makeTwo();
    workIn(here);
    agtOk(here, 'session', 'push', 's1');
    write(join(sessionOf(here, 's1').sandbox, 'a.txt'), 'more\n');
    withoutKey(() => {
      const lost = agt(here, 'session', 'push', 's1');
      expect([lost.exitCode, lost.stderr]).toEqual([
        1,
        expect.stringMatching(
          /^error: your key, with which "origin" has the session, is not in \S+\/agt\/key\nhint: bring it back: agt key import FILE\nhint: or go on with a new one: agt key new\n$/,
        ),
      ]);
      agtOk(here, 'key', 'new');
      const { file } = JSON.parse(agtOk(here, 'key', 'show', '--json')) as { file: string };
      chmodSync(file, 0o644);
      const open = agt(here, 'session', 'push', 's1');
      expect([open.exitCode, open.stderr]).toEqual([
        1,
        `error: others can read your key, ${file}\nhint: chmod 600 ${file}\n`,
      ]);
      chmodSync(file, 0o600);
      expect(agtOk(here, 'session', 'push', 's1')).toMatch(/^pushed s1 to origin/);
    });
  });

  test('of a recipient open what was pushed for it', () => {
    const { here, there } = makeTwo();
    const before = factsOf(workIn(here));
    withoutKey(() => {
      const recipient = agtOk(there, 'key', 'new');
      const settings = join(process.env['HOME'] ?? '', '.agtconfig');
      write(settings, `[agt]\n\trecipients = ${recipient}\n`);
      const mine = process.env['XDG_CONFIG_HOME'];
      withoutKey(() => agtOk(here, 'session', 'push', 's1', '--release'));
      rmSync(settings);
      expect(process.env['XDG_CONFIG_HOME']).toBe(mine);
      agtOk(there, 'session', 'pull', 's1');
    });
    expect(factsOf(sessionOf(there, 's1'))).toEqual(before);
  });

  test('of another kind than agt makes open what was pushed for them', async () => {
    const { here, remote } = makeTwo();
    agtOk(here, 'session', 'new', '--id', 's1');
    const identity = await generateHybridIdentity();
    const settings = join(process.env['HOME'] ?? '', '.agtconfig');
    write(settings, `[agt]\n\trecipients = ${await identityToRecipient(identity)}\n`);
    agtOk(here, 'session', 'push', 's1');
    rmSync(settings);
    const head = git(remote, 'for-each-ref', '--format=%(refname)', 'refs/agt/shared/*/head');
    const sealed = execFileSync(REAL_GIT, ['cat-file', 'blob', head], { cwd: remote });
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    expect(inflateSync(await decrypter.decrypt(sealed)).toString()).toContain('"session_id":"s1"');
  });

  test('of a recipient that came later open all parts after the next push', () => {
    const { here, there } = makeTwo();
    const session = workIn(here);
    agtOk(here, 'session', 'push', 's1');
    const settings = join(process.env['HOME'] ?? '', '.agtconfig');
    withoutKey(() => {
      const theirs = process.env['XDG_CONFIG_HOME'];
      write(settings, `[agt]\n\trecipients = ${agtOk(there, 'key', 'new')}\n`);
      delete process.env['XDG_CONFIG_HOME'];
      agtOk(here, 'session', 'push', 's1', '--release');
      process.env['XDG_CONFIG_HOME'] = theirs;
      agtOk(there, 'session', 'pull', 's1');
    });
    expect(factsOf(sessionOf(there, 's1'))).toEqual(factsOf(session));
    write(settings, '[agt]\n\trecipients = age1bogus\n');
    expect(agt(there, 'session', 'push', 's1').stderr).toMatch(
      /^error: "age1bogus" in agt.recipients is no public key/,
    );
    rmSync(settings);
  });
});
