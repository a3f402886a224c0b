/** A copy on a remote by its share: two repositories have a session of one id there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { AGT, agt, agtOk, git, run, write } from '../harness/world.ts';
import { factsOf, makeTwo, type Two, workIn } from './two.ts';

function sharesOf({ there }: Two): string[] {
  const listed = JSON.parse(agtOk(there, 'list', '--remote', '--json')) as { share: string }[];
  return listed.map(({ share }) => share.slice(0, 8));
}

test('a list of a remote refuses what is for the sessions here', () => {
  const { here } = makeTwo();
  for (const [name, ...value] of [['state', 'active'], ['failed'], ['sort', 'id'], ['watch'], ['folders']])
    expect(agt(here, 'list', '--remote', `--${name}`, ...value)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`error: a remote and --${name} are given\n`),
    });
});

test('where repositories share a remote, the list names them, and the share of the list names one copy', () => {
  const two = makeTwo();
  const { here, there } = two;
  const session = workIn(here);
  agtOk(here, 'session', 'push', 's1');
  const [share = ''] = sharesOf(two);
  expect(agtOk(here, 'list', '--remote')).not.toContain('REPOSITORY');
  expect(agtOk(there, 'list', '--remote')).toMatch(/^SESSION .* REPOSITORY .*\ns1 .*\/here /);
  const other = join(here, '../other');
  git(here, 'clone', '-q', two.remote, other);
  workIn(other);
  agtOk(other, 'session', 'push', 's1');
  const listed = agtOk(there, 'list', '--remote');
  expect(listed).toMatch(/^SESSION +STATE +AT +REPOSITORY +PUSHED/);
  for (const repository of [here, other]) expect(listed).toContain(` ${repository} `);
  const several = agt(there, 'session', 'pull', 's1', '--take');
  expect(several.exitCode).toBe(2);
  expect(several.stderr).toContain(`, in ${here}: agt session pull ${share}`);
  expect(agt(there, 'session', 'pull', share.slice(0, 7), '--take').stderr).toContain('there is no session');
  agtOk(there, 'session', 'pull', share, '--take');
  expect(factsOf(sessionOf(there, 's1'))).toEqual(factsOf(session));
});

test('a copy of another repository goes only by force, also where nobody has pulled it', () => {
  const two = makeTwo();
  const { here, there, remote } = two;
  workIn(here);
  agtOk(here, 'session', 'push', 's1');
  const [share = ''] = sharesOf(two);
  const refs = git(remote, 'for-each-ref');
  for (const name of ['s1', share]) {
    const refused = agt(there, 'session', 'push', name, '--delete');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(
      /^error: session "\w+" on origin is not of this repository: it goes on at \S+, in .*\/here\nhint: take it first: .* --take\nhint: see: agt session list --remote origin\n$/,
    );
  }
  agtOk(there, 'session', 'push', share, '--delete', '--force', '-n');
  expect(git(remote, 'for-each-ref')).toBe(refs);
  expect(agtOk(there, 'session', 'push', share, '--delete', '--force')).toBe(
    `deleted the copy of ${share} on origin`,
  );
  expect(git(remote, 'for-each-ref', 'refs/agt')).toBe('');
  expect(agt(there, 'session', 'push', share, '--delete').stderr).toContain('there is no session');
  expect(agt(here, 'session', 'push', 's1', '--force').exitCode).toBe(2);
  expect(agt(here, 'session', 'push', '--all', '--delete').exitCode).toBe(2);
});

test('a copy that no key here opens goes by force as a list has shown it, and no later state', () => {
  const two = makeTwo();
  const { here, there, remote } = two;
  const { sandbox } = workIn(here);
  agtOk(here, 'session', 'push', 's1');
  const [share = ''] = sharesOf(two);
  const env = { XDG_CONFIG_HOME: join(there, '../other-keys') };
  const other = (...args: string[]) => run(AGT, args, { cwd: there, env });
  const force = () => other('session', 'push', share, '--delete', '--force');
  other('key', 'new');
  other('list', '--remote');
  write(join(sandbox, 'a.txt'), 'newer\n');
  agtOk(here, 'session', 'push', 's1');
  expect(force().stderr).toContain('is not of this repository');
  other('list', '--remote');
  expect(force().exitCode).toBe(0);
  expect(git(remote, 'for-each-ref', 'refs/agt')).toBe('');
});

test('neither the end of a session nor --force deletes what somebody else has pushed since', () => {
  const { here, there, remote } = makeTwo();
  const { sandbox } = workIn(here);
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take', '--as', 's9');
  expect(agt(here, 'session', 'pull', 's1').stderr).toContain('agt session push s9 --release');
  expect(agtOk(there, 'list', '--remote')).toMatch(/^s9 +active /m);
  agtOk(here, 'session', 'pull', 's1', '--take');
  write(join(sandbox, 'a.txt'), 'newer\n');
  agtOk(here, 'session', 'push', 's1');
  const refs = git(remote, 'for-each-ref');
  const held = (name: string) =>
    new RegExp(
      `^error: session "${name}" on origin is not of .*: it goes on at \\S+, in \\S+/here\\nhint: take`,
    );
  for (const more of [[], ['--force']])
    expect(agt(there, 'session', 'push', 's9', '--delete', ...more).stderr).toMatch(held('s9'));
  const hint = /agt (session push s9 origin --delete)$/m;
  const [, words = ''] = hint.exec(agtOk(there, 'remove', 's9', '--delete-branch', '--force')) ?? [];
  for (const more of [['--force'], []])
    expect(agt(there, 'session', 'push', 's1', 'origin', '--delete', ...more).stderr).toMatch(held('s1'));
  expect(agt(there, ...words.split(' ')).stderr).toContain('sessions there: s1');
  write(join(sandbox, 'a.txt'), 'newest\n');
  agtOk(here, 'session', 'push', 's1');
  expect(agt(there, 'session', 'push', 's1', '--delete', '--force').stderr).toMatch(held('s1'));
  expect(git(remote, 'for-each-ref')).not.toBe(refs);
  agtOk(there, 'session', 'push', 's1', '--delete', '--force');
  expect(git(remote, 'for-each-ref', 'refs/agt')).toBe('');
});

test('of copies on two remotes, the one that is named goes, and the other is still known', () => {
  const { here, remote } = makeTwo();
  const { sandbox } = workIn(here);
  const backup = join(here, '../backup.git');
  git(here, 'clone', '-q', '--bare', remote, backup);
  git(here, 'remote', 'add', 'backup', backup);
  agtOk(here, 'session', 'push', 's1', 'backup');
  agtOk(here, 'session', 'push', 's1', 'origin');
  expect(agt(here, 'session', 'push', 's1', 'elsewhere', '--delete').stderr).toMatch(
    /^error: session "s1" has no copy on elsewhere\n/,
  );
  agtOk(here, 'session', 'push', 's1', 'backup', '--delete');
  expect(git(backup, 'for-each-ref', 'refs/agt')).toBe('');
  expect(git(remote, 'for-each-ref', 'refs/agt')).not.toBe('');
  agtOk(here, 'session', 'push', 's1', 'backup');
  agtOk(here, 'session', 'push', 's1', 'backup', '--delete');
  write(join(sandbox, 'a.txt'), 'more\n');
  expect(agtOk(here, 'session', 'push', 's1')).toContain('pushed s1 to origin');
});

test('accept, reject and remove name the remotes that do not know of it', () => {
  const { here, there } = makeTwo();
  for (const id of ['accepted', 'rejected', 'removed', 'gone']) {
    write(join(workIn(here, id).sandbox, id), id);
    agtOk(here, 'session', 'push', id);
  }
  agtOk(here, 'session', 'new', '--id', 'alone');
  expect(agtOk(here, 'reject', 'alone')).not.toContain('remote');
  const line = (id: string, what = 'has not heard that it ended; tell it', more = '') =>
    `\nremote   origin ${what}: agt session push ${id} origin${more}\n`;
  expect(agtOk(here, 'remove', 'removed', '-n')).toContain(
    ' origin would not have heard that it ended; then tell it: ',
  );
  expect(agtOk(here, 'accept', 'accepted', '--untracked=all')).toContain(line('accepted'));
  expect(agtOk(here, 'reject', 'rejected')).toContain(line('rejected'));
  expect(agtOk(here, 'remove', 'removed')).toContain(line('removed'));
  const gone = agtOk(here, 'remove', 'gone', '--delete-branch', '--force');
  expect(gone).toContain(line('gone', 'still has a copy; delete it', ' --delete').trimEnd());
  for (const id of ['accepted', 'rejected', 'removed']) agtOk(here, 'session', 'push', id, 'origin');
  agtOk(here, 'session', 'push', 'gone', 'origin', '--delete');
  const listed = JSON.parse(agtOk(here, 'list', '--remote', '--json')) as { state: string }[];
  expect(listed.map(({ state }) => state).sort()).toEqual(['accepted', 'rejected', 'removed']);
  agtOk(here, 'undo', 'rejected');
  expect(agtOk(here, 'reject', 'rejected', '-n')).not.toContain('remote');
  expect(agtOk(here, 'remove', 'rejected', '-n')).toContain(
    ' origin would still have it as rejected; then tell it: ',
  );
  agtOk(here, 'undo', 'accepted');
  write(join(sessionOf(here, 'accepted').sandbox, 'more'), 'more\n');
  const again = agtOk(here, 'accept', 'accepted', '--untracked=all');
  expect(again).toContain(line('accepted', 'has it as accepted; tell it'));
  agtOk(here, 'undo', 'accepted');
  expect(agtOk(here, 'remove', 'accepted')).toContain(line('accepted', 'has it as accepted; tell it'));
  agtOk(here, 'session', 'push', 'rejected', 'origin');
  agtOk(there, 'session', 'pull', 'rejected', '--take');
  expect(agtOk(here, 'reject', 'rejected')).toContain(line('rejected'));
  expect(agt(here, 'session', 'push', 'rejected', 'origin').stderr).toMatch(
    /^error: session "rejected" is away: it is at .*\/there\nhint: here it stays rejected\n/,
  );
  agtOk(here, 'session', 'pull', 'rejected', '--take');
  agtOk(here, 'config', 'set', 'agt.push', 'origin');
  expect(agtOk(here, 'reject', 'rejected')).not.toContain('remote');
});

test('each hint of a pull keeps what was given, so that one leads to the next', () => {
  const two = makeTwo();
  const { here, there } = two;
  workIn(here);
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'new', '--id', 's1');
  const [share = ''] = sharesOf(two);
  const hint = (...words: string[]) =>
    /agt session pull (\S+ .*--.*)\n$/.exec(agt(there, 'session', 'pull', ...words).stderr)?.[1] ?? '';
  expect(hint('s1')).toBe(`${hint(share).split(' ')[0]} --as ID --take`);
  const other = hint(share, 'origin', '--take');
  expect(other).toMatch(/^[0-9a-f]{20} origin --as ID --take$/);
  const taking = hint(share, '--as', 's9');
  expect(taking).toBe(`${share} --as s9 --take`);
  agtOk(there, 'session', 'pull', ...taking.split(' '));
  expect(agtOk(there, 'session', 'pull', share, '--take')).toBe('s9 is here, and goes on here');
});

test('a session without commits, where the user is behind its start: nobody has exported it', () => {
  const { here, there } = makeTwo();
  git(here, 'commit', '-q', '--allow-empty', '-m', 'second');
  git(here, 'push', '-q', 'origin', 'main');
  agtOk(here, 'session', 'new', '--id', 's1');
  write(join(sessionOf(here, 's1').sandbox, 'a.txt'), 'more\n');
  agtOk(here, 'session', 'push', 's1');
  expect(agtOk(here, 'session', 'push', 's1', '--release')).toMatch(
    /^pushed s1 to origin \(1 snapshot, nothing new to send\)\n/,
  );
  git(there, 'fetch', '-q');
  agtOk(there, 'session', 'pull', 's1');
  expect(agtOk(there, 'list')).not.toContain('exported');
});

test('a word that names no session is one that is mistyped, also in a folder with snapshots of its own', () => {
  const { here } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const unknown = () =>
    ['', ' --delete'].map((end) => agt(here, ...`session push x${end}`.split(' ')).stderr);
  const [pushed, ...more] = unknown();
  expect(pushed).toMatch(/^error: no session "x" in /);
  agtOk(here, 'snapshot');
  expect(unknown()).toEqual([pushed, ...more]);
});

test('a session that was given away goes on here if its copy is deleted before somebody takes it', () => {
  const { here } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'push', 's1', '--release');
  agtOk(here, 'session', 'push', 's1', '--delete', '--force');
  expect(JSON.parse(agtOk(here, 'list', '--json'))).toMatchObject([{ state: 'active', away: null }]);
  agtOk(here, 'session', 'push', 's1');
  expect(agtOk(here, 'list', '--remote')).toMatch(/^s1 +active /m);
});

test('the list of a remote says that somebody has taken a session that is active here', () => {
  const { here, there } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'push', 's1');
  const list = () => agt(here, 'list', '--remote').stderr;
  expect(list()).toBe('');
  agtOk(there, 'session', 'pull', 's1', '--take');
  expect(list()).toMatch(
    /^note: s1 is still active here, but .*, in .*\/there has taken it; a push makes it away here: agt session push s1\n$/,
  );
  expect(agt(here, 'session', 'push', 's1').stderr).toContain('session "s1" is away');
  expect(list()).toBe('');
});

test('a pull and a deletion wait for a push of this session that is under way', async () => {
  const { here } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'push', 's1');
  for (const words of [['pull'], ['push', '--delete']]) {
    const lock = join(here, '.git/agt/locks/.push-s1');
    const holder = spawn(
      process.execPath,
      [join(import.meta.dirname, '../session/hold-lock.ts'), lock, '1500'],
      { stdio: 'pipe' },
    );
    await once(holder.stdout, 'data');
    agtOk(here, 'session', words[0] ?? '', 's1', ...words.slice(1));
    expect(existsSync(lock)).toBe(false);
  }
});
