/** agt.push: sessions go to the remote by themselves, at most so often, and nobody hears of a remote that is away. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';
import { factsOf, makeTwo, workIn } from './two.ts';

async function until(isTrue: () => boolean): Promise<void> {
  for (const end = Date.now() + 120_000; !isTrue(); await sleep(100))
    expect(Date.now(), 'waited for two minutes').toBeLessThan(end);
}

test('pushes each snapshot, together what comes within the period, and says what the remote does not have', async () => {
  const { remote, here, there } = makeTwo();
  agtOk(here, 'key', 'new');
  agtOk(here, 'config', 'set', 'agt.push', 'origin');
  agtOk(here, 'config', 'set', 'agt.pushEvery', '2 seconds');
  agtOk(here, 'config', 'set', 'agt.pushEvery', 'never');
  agtOk(here, 'session', 'new', '--id', 's0');
  agtOk(here, 'autocommit', 's0');
  const onlyHere = (ids: string) =>
    expect(agtOk(here, 'status')).toContain(` (agt session push --all): ${ids}\n`);
  onlyHere('s0');
  for (const n of [1, 2, 3, 4, 5, 6]) {
    agtOk(here, 'session', 'new', '--id', `more-${n}`);
    agtOk(here, 'autocommit', `more-${n}`);
  }
  onlyHere('s0, more-1, more-2, more-3, more-4, and 2 more');
  expect(agtOk(here, 'status')).toMatch(/^7 sessions on no remote /m);
  for (const id of ['s0', ...[1, 2, 3, 4, 5, 6].map((n) => `more-${n}`)])
    agtOk(here, 'session', 'remove', id, '--delete-branch');
  agtOk(here, 'config', 'set', 'agt.pushEvery', '2 seconds');
  const session = workIn(here);
  const debt = () => JSON.parse(agtOk(here, 'status', '--json')).sessions[0].push;
  await until(() => git(remote, 'for-each-ref', 'refs/agt/shared') !== '' && debt() === null);
  // One push for all of the next seconds, which a busy machine needs.
  agtOk(here, 'config', 'set', 'agt.pushEvery', '20 seconds');
  const parts = () => Number(git(remote, 'rev-list', '--count', '--glob=refs/agt/shared/*/parts', '^main'));
  const before = parts();
  for (const n of [1, 2, 3]) {
    write(join(session.sandbox, 'a.txt'), `${n}\n`);
    agtOk(here, 'autocommit', 's1');
  }
  expect(debt()).toMatchObject({ remote: 'origin', snapshots: 3, failed: null });
  await until(() => debt() === null);
  expect(parts()).toBe(before + 1);
  agtOk(here, 'config', 'set', 'agt.pushEvery', '2 seconds');
  // The remote is away.
  renameSync(remote, `${remote}.away`);
  write(join(session.sandbox, 'a.txt'), 'off-line\n');
  expect(agtOk(here, 'autocommit', 's1')).toMatch(/^s1: captured 1 path/);
  await until(() => debt()?.failed !== null);
  expect(agtOk(here, 'status')).toMatch(
    /^s1 +1 snapshot not on origin \(last push .*; a later one failed: git cannot reach/m,
  );
  expect(agtOk(here, 'doctor')).toContain(
    'the last push in the background to origin failed: git cannot reach',
  );
  renameSync(`${remote}.away`, remote);
  expect(agtOk(here, 'autocommit', 's1')).toMatch(/^s1: nothing changed/);
  await until(() => debt() === null);
  agtOk(there, 'session', 'pull', 's1', '--take');
  expect(factsOf(sessionOf(there, 's1'))).toEqual(factsOf(session));
});

test('sends no copy again that a person has deleted, and tells the end of a session only where it was', async () => {
  const { remote, here } = makeTwo();
  const states = () =>
    (
      JSON.parse(agtOk(here, 'list', '--remote', 'origin', '--json')) as {
        session_id: string;
        state: string;
      }[]
    )
      .map(({ session_id: id, state }) => `${id} ${state}`)
      .sort();
  for (const id of ['deleted', 'rejected', 'never']) agtOk(here, 'session', 'new', '--id', id);
  agtOk(here, 'session', 'push', 'deleted');
  agtOk(here, 'session', 'push', 'rejected');
  agtOk(here, 'session', 'push', 'deleted', '--delete');
  agtOk(here, 'reject', 'never');
  agtOk(here, 'config', 'set', 'agt.pushEvery', '0 seconds');
  agtOk(here, 'config', 'set', 'agt.push', 'origin');
  agtOk(here, 'reject', 'rejected');
  write(join(sessionOf(here, 'deleted').sandbox, 'a.txt'), 'later\n');
  agtOk(here, 'autocommit', 'deleted');
  agtOk(here, 'gc');
  await until(() => states().includes('rejected rejected'));
  await sleep(2000);
  expect(states()).toEqual(['rejected rejected']);
  agtOk(here, 'session', 'push', 'deleted');
  write(join(sessionOf(here, 'deleted').sandbox, 'a.txt'), 'last\n');
  agtOk(here, 'autocommit', 'deleted');
  await until(() => JSON.parse(agtOk(here, 'status', '--json')).sessions[0].push === null);
  agtOk(here, 'session', 'push', 'deleted', '--delete');
  expect(git(remote, 'for-each-ref', 'refs/agt/shared').split('\n')).toHaveLength(2);
});

test('a dry run of a push sends nothing later, either', async () => {
  const { remote, here } = makeTwo();
  agt(here, 'key', 'new');
  workIn(here);
  agtOk(here, 'config', 'set', 'agt.pushEvery', '0 seconds');
  agtOk(here, 'config', 'set', 'agt.push', 'origin');
  for (const words of [['s1'], ['s1', '--release'], ['s1', '--plain'], ['--all']])
    agtOk(here, 'session', 'push', ...words, '-n');
  await sleep(2000);
  expect(git(remote, 'for-each-ref', 'refs/agt/shared')).toBe('');
  expect(existsSync(join(here, '.git/agt/shared/s1.json'))).toBe(false);
});

test('the last snapshot of a session goes as well: it has ended, or went back', async () => {
  const { here, there } = makeTwo();
  agtOk(here, 'config', 'set', 'agt.push', 'origin');
  agtOk(here, 'config', 'set', 'agt.pushEvery', '1 second');
  const { sandbox } = workIn(here);
  write(join(sandbox, 'a.txt'), 'the last words\n');
  agtOk(here, 'session', 'remove', 's1');
  const tip = git(here, 'rev-parse', 'refs/agt/tip/s1');
  const sent = () => JSON.parse(readFileSync(join(here, '.git/agt/shared/s1.json'), 'utf8')).refs?.tip;
  await until(() => existsSync(join(here, '.git/agt/shared/s1.json')) && sent() === tip);
  agtOk(here, 'undo', 's1');
  write(join(sandbox, 'a.txt'), 'lost words\n');
  agtOk(here, 'restore', 's1', '@');
  await until(() => sent() === git(here, 'rev-parse', 'refs/agt/tip/s1'));
  agtOk(there, 'session', 'pull', 's1', '--take');
  expect(readFileSync(join(sessionOf(there, 's1').sandbox, 'a.txt'), 'utf8')).toBe('the last words\n');
});

test('waits for the first snapshot, and ends with the session, its copy or the setting', async () => {
  const { remote, here, there } = makeTwo();
  agt(here, 'key', 'new');
  const all = { fresh: here, deleted: here, gone: here, unset: there };
  const set = (every: string) => {
    for (const repository of [here, there]) {
      agtOk(repository, 'config', 'set', 'agt.pushEvery', every);
      agtOk(repository, 'config', 'set', 'agt.push', 'origin');
    }
  };
  const heads = () => git(remote, 'for-each-ref', 'refs/agt/shared/*/head').split('\n').filter(Boolean);
  const capture = (id: keyof typeof all, content: string) => {
    write(join(sessionOf(all[id], id).sandbox, 'a.txt'), content);
    agtOk(all[id], 'autocommit', id);
  };
  const waits = (id: keyof typeof all) => existsSync(join(all[id], `.git/agt/locks/.push-later-${id}`));
  set('0 seconds');
  for (const [id, repository] of Object.entries(all)) agtOk(repository, 'session', 'new', '--id', id);
  await sleep(2000);
  expect(heads()).toEqual([]);
  for (const id of ['fresh', 'deleted', 'gone', 'unset'] as const) capture(id, 'first\n');
  await until(() => heads().length === 4 && !Object.keys(all).some((id) => waits(id as keyof typeof all)));
  set('15 seconds');
  for (const id of ['deleted', 'gone', 'unset'] as const) capture(id, 'second\n');
  await until(() => waits('deleted') && waits('gone') && waits('unset'));
  agtOk(here, 'session', 'push', 'deleted', '--delete');
  agtOk(here, 'session', 'remove', 'gone', '--delete-branch', '--force');
  agtOk(there, 'config', 'unset', 'agt.push');
  const before = heads();
  expect(before).toHaveLength(3);
  await until(() => !waits('deleted') && !waits('gone') && !waits('unset'));
  expect(heads()).toEqual(before);
  expect(existsSync(join(here, '.git/agt/shared/gone.json'))).toBe(false);
});

test('a remote that has a new name has all: the push ends, and knows the copy by that name', () => {
  const { here } = makeTwo();
  workIn(here);
  agtOk(here, 'session', 'push', 's1');
  agtOk(here, 'config', 'set', 'agt.push', 'origin');
  git(here, 'remote', 'rename', 'origin', 'hub');
  expect(agt(here, 'session', 'push', 's1').stderr).toBe(
    'error: agt.push names "origin", and this repository has no such remote\nhint: agt config set agt.push hub\n',
  );
  agtOk(here, 'config', 'unset', 'agt.push');
  expect(agtOk(here, 'session', 'push', 's1')).toBe('hub has all of s1');
  git(here, 'remote', 'rename', 'hub', 'up');
  agtOk(here, 'config', 'set', 'agt.pushEvery', '1 second');
  agtOk(here, 'config', 'set', 'agt.push', 'up');
  expect(agtOk(here, 'session', 'push', 's1', '--later')).toBe('');
  const [{ pushed }] = JSON.parse(agtOk(here, 'list', '--json'));
  expect(pushed.remote).toBe('up');
  expect(JSON.parse(agtOk(here, 'status', '--json')).sessions[0].push).toBe(null);
});

test('if one session is on a remote, those on none are named without agt.push, also ended ones with work', () => {
  const { here } = makeTwo();
  const begin = (id: string) => {
    agtOk(here, 'session', 'new', '--id', id);
    write(join(sessionOf(here, id).sandbox, id), `${id}\n`);
    agtOk(here, 'autocommit', id);
  };
  for (const id of ['away', 'open', 'gone', 'landed', 'refused']) begin(id);
  agtOk(here, 'session', 'new', '--id', 'empty');
  write(join(here, '.git/info/exclude'), 'ignored\n');
  write(join(sessionOf(here, 'empty').sandbox, 'ignored'), 'never lands\n');
  agtOk(here, 'remove', 'gone', 'empty');
  agtOk(here, 'accept', 'landed', '--untracked=all');
  agtOk(here, 'reject', 'refused');
  begin('part');
  write(join(sessionOf(here, 'part').sandbox, 'rest'), 'has not landed\n');
  agtOk(here, 'accept', 'part', '--untracked=all', '--exclude', 'rest');
  agtOk(here, 'session', 'new', '--id', 'sent');
  const { sandbox } = sessionOf(here, 'sent');
  for (const path of ['sent', 'rest']) write(join(sandbox, path), 'on a branch of the remote\n');
  git(sandbox, 'add', '-A');
  git(sandbox, 'commit', '-qm', 'sent');
  agtOk(here, 'export', 'sent');
  agtOk(here, 'accept', 'sent', '--exclude', 'rest');
  expect(agtOk(here, 'status')).not.toContain('on no remote');
  agtOk(here, 'session', 'push', 'away');
  agtOk(here, 'session', 'new', '--id', 'unsaved');
  write(join(sessionOf(here, 'unsaved').sandbox, 'x'), 'in no snapshot yet\n');
  expect(agtOk(here, 'status')).toContain(
    '2 sessions on no remote (agt session push --all): open, unsaved\n' +
      '2 ended sessions on no remote, with work that no branch has (agt session push ID): gone, part\n',
  );
  const ended = () => JSON.parse(agtOk(here, 'status', '--json')).ended_on_no_remote;
  expect(ended()).toEqual(['gone', 'part']);
  for (const id of ended()) agtOk(here, 'session', 'push', id);
  expect(ended()).toEqual([]);
  git(here, 'branch', 'topic');
  for (const [id, branch] of [
    ['reset', 'main'],
    ['topic', 'topic'],
  ] as const) {
    begin(id);
    agtOk(here, 'accept', id, '--onto', branch, '--untracked=all');
  }
  expect(ended()).toEqual([]);
  git(here, 'reset', '-q', '--hard', 'HEAD~1');
  git(here, 'branch', '-qD', 'topic');
  expect(ended().toSorted()).toEqual(['reset', 'topic']);
});

test('doctor names damaged facts about the copy on a remote, and checks the rest', () => {
  const { here } = makeTwo();
  agtOk(here, 'new', 's1');
  agtOk(here, 'session', 'push', 's1');
  writeFileSync(join(here, '.git/agt/shared/s1.json'), 'no JSON');
  const { stdout, stderr } = agt(here, 'doctor');
  expect(stdout).toContain('shared/s1.json is damaged\n');
  expect(stdout).toContain('move it away');
  expect(stderr).toBe('');
});
