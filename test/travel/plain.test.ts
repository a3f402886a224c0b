/** `--plain`: nothing is encrypted, ignored files and the settings of the agent stay here, and no secret leaves. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';
import { agentIn } from '../integrations/agent.ts';
import { chain, factsOf, makeTwo, withoutKey, workIn } from './two.ts';

/** What a snapshot has beside what agt records. */
function pathsIn(repository: string, commit: string): string[] {
  const listed = git(repository, 'ls-tree', '-r', '-z', '--name-only', commit).split('\0');
  return listed.filter((path) => path !== '' && !path.startsWith('_/'));
}

test('a round trip has every moment, without ignored files', () => {
  const { here, there } = makeTwo();
  const session = workIn(here);
  const moments = chain(session);
  const pushed = agt(here, 'session', 'push', 's1', '--plain', '--release');
  expect([pushed.exitCode, pushed.stderr]).toEqual([
    0,
    'note: s1 is not encrypted on origin, and goes there without ignored files\n',
  ]);
  const pulled = agt(there, 'session', 'pull', 's1');
  expect(pulled.stdout).toContain('pulled s1 from origin (3 snapshots)');
  expect(pulled.stderr).toBe(pushed.stderr);
  const moved = sessionOf(there, 's1');
  const sent = chain(moved).slice(0, moments.length);
  const isSent = (path: string) => path.startsWith('sandbox/') && !/^sandbox\/(\.env$|build\/)/.test(path);
  for (const [i, commit] of sent.entries()) {
    expect(pathsIn(there, commit)).toEqual(pathsIn(here, moments[i] as string).filter(isSent));
    const message = (repository: string, name: string) => git(repository, 'log', '-1', '--format=%B', name);
    expect(message(there, commit)).toBe(message(here, moments[i] as string));
  }
  const objects = git(there, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)');
  const secret = git(here, 'rev-parse', `${moments[0]}:sandbox/.env`);
  expect(objects).not.toContain(secret);
  const before = factsOf(session);
  const after = factsOf(moved);
  expect({ ...after, files: 0, status: 0 }).toEqual({ ...before, files: 0, status: 0 });
  expect(existsSync(join(moved.sandbox, 'build'))).toBe(false);
  // Each moment comes back, and agt finds that it is equal.
  for (const commit of sent) {
    const restored = agt(there, 'restore', 's1', commit);
    expect([restored.exitCode, restored.stderr]).toEqual([0, '']);
  }
  expect(readFileSync(join(moved.sandbox, 'b.txt'), 'utf8')).toBe('staged and more\n');
  expect(agtOk(there, 'doctor')).toContain('nothing is wrong');
  expect(git(there, 'fsck', '--strict', '--no-dangling')).toBe('');
});

test('leaves out what git ignores at that moment, by any of its rules, and nothing else', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const { sandbox } = sessionOf(here, 's1');
  write(join(here, '.git/info/exclude'), 'private.txt\n');
  write(join(sandbox, '.gitignore'), 'build/\n*.log\n!keep.log\n/empty/\n:odd\n');
  write(join(sandbox, 'sub/.gitignore'), 'only-here\n');
  for (const path of [
    'build/keep.log',
    'a.log',
    'keep.log',
    'sub/only-here',
    'only-here',
    'private.txt',
    ':odd',
  ])
    write(join(sandbox, path), `${path}\n`);
  mkdirSync(join(sandbox, 'empty/inner'), { recursive: true });
  write(join(sandbox, 'tracked.log'), 'tracked\n', 0o640);
  git(sandbox, 'add', '-f', 'tracked.log');
  agtOk(here, 'autocommit', 's1');
  write(join(sandbox, '.gitignore'), '');
  agtOk(here, 'session', 'push', 's1', '--plain');
  agtOk(there, 'session', 'pull', 's1', '--take');
  const commits = chain(sessionOf(there, 's1'));
  const [first = [], last = []] = [commits[0], commits[1]].map((commit) =>
    git(there, 'ls-tree', '-r', '--name-only', `${commit}:sandbox`).split('\n'),
  );
  const kept = [
    '.gitignore',
    'a.txt',
    'b.txt',
    'dir/c.txt',
    'keep.log',
    'only-here',
    'sub/.gitignore',
    'tracked.log',
  ];
  expect(first).toEqual(kept);
  expect(last).toEqual([...kept, ':odd', 'a.log', 'build/keep.log'].sort());
  const manifest = git(there, 'cat-file', 'blob', `${commits[0]}:_/manifest.json`);
  expect(manifest).toContain('sandbox/tracked.log');
  expect(manifest).not.toMatch(/empty\/inner|build|private/);
});

test('stays plain at later pushes, which send only what is new, and needs no key', () => {
  const { here, there, remote } = makeTwo();
  const session = workIn(here);
  withoutKey(() => {
    agtOk(here, 'session', 'push', 's1', '--plain');
    const oids = () =>
      git(remote, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)').split('\n');
    const first = oids();
    write(join(session.sandbox, 'dir/c.txt'), 'changed\n');
    expect(agt(here, 'session', 'push', 's1').stderr).toContain('note: s1 is not encrypted on origin');
    const added = oids().filter((oid) => !first.includes(oid));
    expect(added).toHaveLength(4);
    expect(Math.max(...added.map((oid) => Number(git(remote, 'cat-file', '-s', oid))))).toBeLessThan(3072);
    expect(agtOk(here, 'session', 'push', 's1')).toBe('origin has all of s1');
    agtOk(there, 'session', 'pull', 's1', '--take');
    write(join(sessionOf(there, 's1').sandbox, 'there.txt'), 'there\n');
    agtOk(there, 'session', 'push', 's1', '--release');
    // What never left stays in a fork.
    expect(agtOk(here, 'session', 'pull', 's1')).toContain('fork     s1-2 has what only this repository had');
    git(here, 'remote', 'rename', 'origin', 'up');
    expect(agt(here, 'session', 'push', 's1').stderr).toContain('note: s1 is not encrypted on up');
  });
  expect(readFileSync(join(session.sandbox, 'there.txt'), 'utf8')).toBe('there\n');
  expect(existsSync(join(session.sandbox, '.env'))).toBe(false);
  expect(readFileSync(join(sessionOf(here, 's1-2').sandbox, '.env'), 'utf8')).toBe('TOKEN=abcdef\n');
});

test('with ignored files has everything, there and back', () => {
  const { here, there } = makeTwo();
  const session = workIn(here);
  const before = factsOf(session);
  agtOk(here, 'session', 'push', 's1', '--plain', '--with-ignored', '--release');
  agtOk(there, 'session', 'pull', 's1');
  expect(factsOf(sessionOf(there, 's1'))).toEqual(before);
  agtOk(there, 'session', 'push', 's1', '--release');
  expect(agtOk(here, 'session', 'pull', 's1')).not.toContain('fork');
  expect(factsOf(session)).toEqual(before);
  expect(agt(here, 'session', 'push', 's1', '--with-ignored').stderr).toMatch(
    /^error: --with-ignored is for --plain\n/,
  );
});

test('after an encrypted push only by --plain; a remote that does so by itself is refused', () => {
  const { here, there } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  agtOk(there, 'session', 'push', 's1', '--plain');
  expect(JSON.parse(agtOk(here, 'session', 'list', '--remote', '--json'))).toMatchObject([
    { encrypted: false },
  ]);
  const refused = agt(here, 'session', 'pull', 's1', '--take');
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^error: session "s1" on origin is no longer encrypted, and agt has not done that here\n/,
    ),
  ]);
});

test('an undo of one turn, a restore and its undo name the snapshots that the other repository has', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const { sandbox } = sessionOf(here, 's1');
  write(join(sandbox, '.env'), 'MODE=test\n');
  const agent = agentIn(sandbox, 'claude-code', 'c-1');
  agent.says('first');
  for (const call of ['1', '2']) {
    write(join(sandbox, `person-${call}`), 'of a person\n');
    agent.begins(call);
    write(join(sandbox, `agent-${call}`), 'of the agent\n');
    agent.ends(call);
  }
  agent.stops();
  agtOk(sandbox, 'undo', '--turn', '1');
  agtOk(sandbox, 'restore', 's1', '@{2}');
  const trailers = (repository: string) =>
    git(repository, 'log', '--first-parent', '--format=%B', 'refs/agt/tip/s1').match(
      /^Agt-(Restored|Undone): .*/gm,
    );
  expect(trailers(here)?.join()).toMatch(/Undone: \w+ \w+/);
  agtOk(here, 'session', 'push', 's1', '--plain', '--release');
  agtOk(there, 'session', 'pull', 's1');
  const sent = chain(sessionOf(there, 's1'));
  const renamed = chain(sessionOf(here, 's1')).reduce(
    (text, commit, i) => text.replaceAll(commit, sent[i] as string),
    `${trailers(here)}`,
  );
  // The pull has made one more.
  expect(`${trailers(there)?.slice(1)}`).toBe(renamed);
  const moved = sessionOf(there, 's1').sandbox;
  const present = () => ['agent-1', 'agent-2', 'person-2'].filter((name) => existsSync(join(moved, name)));
  expect(present()).toEqual(['agent-1', 'person-2']);
  agtOk(there, 'undo', 's1');
  expect(present()).toEqual(['person-2']);
  agtOk(there, 'undo', 's1');
  expect(present()).toEqual(['agent-1', 'agent-2', 'person-2']);
});

test('a commit on top of a snapshot would bring the ignored files along, so it is refused', () => {
  const { here, remote } = makeTwo();
  const { sandbox } = workIn(here);
  git(sandbox, 'checkout', '-q', '-f', '--detach', 'refs/agt/tip/s1');
  git(sandbox, 'commit', '-q', '--allow-empty', '-m', 'on a snapshot');
  const refused = agt(here, 'session', 'push', 's1', '--plain');
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^error: commit \w+ is on top of a snapshot, so it has the ignored files too\nhint: /,
    ),
  ]);
  expect(git(remote, 'for-each-ref', 'refs/agt')).toBe('');
});

test('in the background: a plain session stays plain, and a secret stops it', async () => {
  const { here, remote } = makeTwo();
  const session = workIn(here);
  agtOk(here, 'session', 'push', 's1', '--plain');
  agtOk(here, 'config', 'set', 'agt.push', 'origin');
  agtOk(here, 'config', 'set', 'agt.pushEvery', '1 second');
  const before = git(remote, 'for-each-ref', 'refs/agt');
  write(join(session.sandbox, 'notes'), `ghp_${'a1B2'.repeat(9)}\n`);
  agtOk(here, 'autocommit', 's1');
  const debt = () => JSON.parse(agtOk(here, 'status', '--json')).sessions[0].push;
  for (let n = 0; debt()?.failed == null; n++) {
    expect(n, 'waited for 20 seconds').toBeLessThan(200);
    await sleep(100);
  }
  expect(debt().failed.reason).toBe('1 secret would leave session "s1" in plain text, and nothing was sent');
  expect(git(remote, 'for-each-ref', 'refs/agt')).toBe(before);
  const [, again = ''] =
    /\nhint: to send all of it encrypted: (.*)\n/.exec(agt(here, 'session', 'push', 's1').stderr) ?? [];
  for (const words of again.split(' && ')) agtOk(here, ...words.split(' ').slice(1));
  expect(JSON.parse(agtOk(here, 'list', '--remote', '--json'))).toMatchObject([{ encrypted: true }]);
});
