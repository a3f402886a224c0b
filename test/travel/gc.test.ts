/** agt gc knows which sessions a remote has. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';
import { factsOf, makeTwo, nextSecond, withoutKey, workIn } from './two.ts';

const tipOf = (repository: string, id: string) =>
  git(repository, 'for-each-ref', '--format=%(objectname)', `refs/agt/tip/${id}`);

test('gc --pushed deletes ended sessions that the remote has whole, and a pull brings them back', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 'whole');
  agtOk(here, 'autocommit', 'whole', '--label', 'prompt: do it');
  write(join(sessionOf(here, 'whole').sandbox, '.env'), 'TOKEN=abcdef\n');
  agtOk(here, 'autocommit', 'whole');
  const before = factsOf(sessionOf(here, 'whole'));
  for (const id of ['late', 'plain', 'never', 'active']) agtOk(here, 'session', 'new', '--id', id);
  for (const id of ['late', 'active']) agtOk(here, 'session', 'push', id);
  write(join(sessionOf(here, 'late').sandbox, 'a.txt'), 'work that the remote does not have\n');
  for (const id of ['whole', 'late', 'plain', 'never']) agtOk(here, 'session', 'remove', id);
  agtOk(here, 'session', 'push', 'whole');
  agtOk(here, 'session', 'push', 'plain', '--plain');
  agtOk(there, 'session', 'new', '--id', 'whole');
  agtOk(there, 'session', 'push', 'whole');

  expect(agt(here, 'gc', '--pushed', '-n').stderr).toContain(
    'note: late stays: origin lacks the last of it; to send that: agt session push late\n' +
      'note: plain stays: its copy on origin has no ignored files\n',
  );
  const planned = JSON.parse(agtOk(here, 'gc', '--pushed', '--dry-run', '--json')) as {
    sessions: { session_id: string; action: string; remote: string }[];
  };
  expect(planned.sessions).toMatchObject([{ session_id: 'whole', action: 'drop', remote: 'origin' }]);
  expect(agtOk(here, 'gc')).not.toContain('whole');
  const [, copy = ''] =
    /^whole: deleted \d of \d snapshots \(.*\)\nwhole: deleted agt\/whole \(\w{10}\): .*\nwhole: origin has a copy: agt session pull (\w{20}) origin --take\n/.exec(
      agtOk(here, 'gc', '--pushed'),
    ) ?? [];
  expect(tipOf(here, 'whole')).toBe('');
  for (const id of ['late', 'plain', 'never', 'active']) expect(tipOf(here, id)).not.toBe('');

  agtOk(here, 'gc', '--prune=now');
  expect(agt(here, 'session', 'pull', 'whole', 'origin', '--take').stderr).toContain('2 sessions on origin');
  const back = agtOk(here, 'session', 'pull', copy, 'origin', '--take');
  expect(back).not.toContain('it was at');
  expect(agtOk(here, 'log', '--all-sessions')).toMatch(/[^)] do it$/m);
  agtOk(here, 'undo', 'whole');
  expect(factsOf(sessionOf(here, 'whole'))).toEqual(before);
});

test('the copy keeps what gc deletes beside labelled snapshots, also at later pushes', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'config', 'set', 'agt.push', 'origin');
  agtOk(here, 'config', 'set', 'agt.pushEvery', 'never');
  agtOk(here, 'session', 'new', '--id', 's1');
  for (const n of [1, 2, 3]) {
    write(join(sessionOf(here, 's1').sandbox, 'draft'), `draft ${n}\n`);
    agtOk(here, 'autocommit', 's1', ...(n === 2 ? ['--label', 'keep'] : []));
  }
  agtOk(here, 'remove', 's1');
  agtOk(here, 'session', 'push', 's1');
  agtOk(here, 'config', 'set', 'agt.pushEvery', '1 second');
  const tip = tipOf(here, 's1');
  const skipped = 's1: skipped: a person has labelled some of its snapshots, so all of them stay\n';
  for (const words of [['-n'], []]) expect(agtOk(here, 'gc', '--pushed', ...words)).toContain(skipped);
  expect(tipOf(here, 's1')).toBe(tip);
  agtOk(here, 'config', 'set', 'agt.retention', '0 seconds');
  expect(agtOk(here, 'gc')).toContain('s1: kept the labelled ones, deleted 3 of 4 snapshots');
  expect(agtOk(here, 'session', 'push', 's1', '--later')).toBe('');
  expect(agt(here, 'session', 'push', 's1').stderr).toMatch(
    /^error: "origin" has 4 snapshots of session "s1", and this repository has 1\nhint: .*\nhint: .* --again\n$/,
  );
  agtOk(there, 'session', 'pull', 's1', '--take');
  expect(agtOk(there, 'session', 'cat', 's1', '@{0}:draft')).toBe('draft 3');
});

test('gc --pushed deletes nothing that the remote has lost, or if it cannot be asked', () => {
  const { here, remote } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  agtOk(here, 'session', 'remove', 's1');
  agtOk(here, 'session', 'push', 's1');
  const parts = git(remote, 'for-each-ref', '--format=%(refname)', 'refs/agt/shared/*/parts');
  git(remote, 'update-ref', '-d', parts);
  agtOk(here, 'gc', '--pushed');
  expect(tipOf(here, 's1')).not.toBe('');
  git(here, 'remote', 'set-url', 'origin', '/nowhere');
  const refused = agt(here, 'gc', '--pushed');
  expect([refused.exitCode, refused.stderr]).toEqual([
    128,
    expect.stringMatching(
      /^error: git cannot reach "origin": .*\nhint: correct its address: git remote set-url origin URL\n$/,
    ),
  ]);
  expect(tipOf(here, 's1')).not.toBe('');
});

test('gc --pushed deletes nothing that no key here opens, and has no hint that is refused', () => {
  const { here, there } = makeTwo();
  for (const id of ['s1', 's2']) {
    agtOk(here, 'session', 'new', '--id', id);
    agtOk(here, 'session', 'push', id);
  }
  write(join(sessionOf(here, 's2').sandbox, 'a.txt'), 'work that the remote does not have\n');
  for (const id of ['s1', 's2']) agtOk(here, 'session', 'remove', id);
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's2', '--take');
  expect(agt(here, 'session', 'push', 's2').stderr).toContain('is away');
  const away = expect.stringMatching(
    /s2 stays: it is at \S+, in .*there, and origin lacks the last of what is/,
  );
  withoutKey(() => {
    const kept = 'note: s1 stays: no key here opens the copy on origin';
    const notes = () => agt(here, 'gc', '--pushed').stderr.split('\n');
    expect(notes()).toEqual([kept, away, '']);
    agtOk(here, 'key', 'new');
    expect(notes()).toEqual([kept, away, '']);
  });
  expect(tipOf(here, 's1')).not.toBe('');
  expect(agt(here, 'gc', '--pushed').stderr).toEqual(away);
  expect([tipOf(here, 's1'), tipOf(here, 's2')]).toEqual(['', expect.stringMatching(/./)]);
});

test('a pull after gc --pushed takes up the work branch that gc has kept, but no other one of this name', () => {
  const { here } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  git(sessionOf(here, 's1').sandbox, 'commit', '-q', '--allow-empty', '-m', 'by the agent');
  const before = factsOf(sessionOf(here, 's1'));
  agtOk(here, 'session', 'remove', 's1');
  agtOk(here, 'session', 'push', 's1');
  expect(agtOk(here, 'gc', '--pushed')).toMatch(/^s1: kept agt\/s1 \(\w{10}\), which has commits/m);
  const kept = git(here, 'rev-parse', 'agt/s1');
  git(here, 'branch', '--force', 'agt/s1', 'main');
  expect(agt(here, 'session', 'pull', 's1', 'origin', '--take').stderr).toContain('"agt/s1" already exists');
  git(here, 'branch', '--force', 'agt/s1', kept);
  agtOk(here, 'session', 'pull', 's1', 'origin', '--take');
  agtOk(here, 'undo', 's1');
  expect(factsOf(sessionOf(here, 's1'))).toEqual(before);
});

test('a push sends the session whole if commits of the last part are gone here', () => {
  const { here, there } = makeTwo();
  const session = workIn(here);
  agtOk(here, 'session', 'push', 's1');
  const file = join(here, '.git/agt/shared/s1.json');
  const known = JSON.parse(readFileSync(file, 'utf8')) as { parts: object[] };
  // As after gc --thin, which writes the history anew.
  const parts = known.parts.map((part) => ({ ...part, tips: ['1'.repeat(40)] }));
  writeFileSync(file, JSON.stringify({ ...known, parts }));
  write(join(session.sandbox, 'a.txt'), 'later\n');
  expect(agtOk(here, 'session', 'push', 's1', '--release')).toMatch(/^pushed s1 to origin \(4 snapshots, /);
  agtOk(there, 'session', 'pull', 's1');
  expect(factsOf(sessionOf(there, 's1'))).toEqual(factsOf(session));
});

test('a turn that came with a session stays one after gc --pushed and a pull', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const work = (repository: string, prompt: string) => {
    agtOk(repository, 'autocommit', 's1', '--label', `prompt: ${prompt}`);
    write(join(sessionOf(repository, 's1').sandbox, prompt), '');
    agtOk(repository, 'autocommit', 's1');
  };
  const turns = () => {
    const rows = JSON.parse(agtOk(there, 'activity', '--json')) as { prompt: string; pulled: boolean }[];
    return rows.flatMap(({ prompt, pulled }) => (prompt === null ? [] : [[prompt, pulled]]));
  };
  work(here, 'one');
  agtOk(here, 'remove', 's1');
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1');
  for (let n = 1; n <= 2; n++) {
    expect(turns()).toEqual([['one', true]]);
    expect(JSON.parse(agtOk(there, 'list', '--all', '--json'))).toMatchObject([{ last_prompt: 'one' }]);
    agtOk(there, 'gc', '--pushed');
    expect(turns()).toEqual([]);
    agtOk(there, 'session', 'pull', 's1', 'origin', '--take');
  }
  nextSecond();
  agtOk(there, 'undo', 's1');
  work(there, 'two');
  agtOk(there, 'remove', 's1');
  agtOk(there, 'session', 'push', 's1');
  agtOk(there, 'gc', '--pushed');
  agtOk(there, 'session', 'pull', 's1', 'origin', '--take');
  expect(turns()).toEqual([
    ['two', false],
    ['one', true],
  ]);
});
