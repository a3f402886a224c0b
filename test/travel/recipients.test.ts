/** Two people, each with a repository, a key and settings of their own. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sessionOf } from '../harness/session.ts';
import { agt, agtOk, git, write } from '../harness/world.ts';
import { factsOf, makeTwo, withoutKey, workIn } from './two.ts';

test('a session that was accepted here, and comes back with work of somebody else, has its acceptance', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  write(join(sessionOf(here, 's1').sandbox, 'a.txt'), 'one, by the agent\n');
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  write(join(sessionOf(there, 's1').sandbox, 'a.txt'), 'one, by the agent, and bob\n');
  agtOk(there, 'session', 'push', 's1');
  agtOk(here, 'accept', 's1');
  const main = git(here, 'rev-parse', '--short=10', 'main');
  expect(agtOk(here, 'session', 'pull', 's1', '--take')).toContain(
    `accepted as ${main} on main here; it is active again`,
  );
  expect(agtOk(here, 'log', '--all-sessions')).toMatch(/ {2}accepted as .* on main/); // not "(pulled)"
  expect(agtOk(here, 'list')).not.toContain('conflict');
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  agtOk(here, 'session', 'pull', 's1', '--take');
  agtOk(here, 'accept', 's1');
  expect(readFileSync(join(here, 'a.txt'), 'utf8')).toBe('one, by the agent, and bob\n');
});

test('what a pull leaves as a fork stays on the branch where it was accepted, also in a file of both', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  const { sandbox } = sessionOf(here, 's1');
  const commit = (at: string, files: Record<string, string>) => {
    for (const [path, content] of Object.entries(files)) write(join(at, path), content);
    git(at, 'add', '-A');
    git(at, 'commit', '-qm', 'by the agent');
  };
  commit(sandbox, { 'b.txt': '1\n2\n3\n4\n' });
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  commit(sandbox, { 'b.txt': '1\n2\n3\n4, late\n', late: 'late\n' });
  agtOk(here, 'accept', 's1');
  commit(sessionOf(there, 's1').sandbox, { 'b.txt': '1, new\n2\n3\n4\n', new: 'new\n' });
  agtOk(there, 'session', 'push', 's1');
  agtOk(here, 'session', 'pull', 's1', '--take');
  expect(JSON.parse(agtOk(here, 'list', '--json'))).toMatchObject([
    { session_id: 's1', landed: null, merge: 'clean', diff: { insertions: 2, deletions: 1 } },
    { session_id: 's1-2', landed: { lost: false }, merged: true },
  ]);
  agtOk(here, 'remove', '--merged');
  expect(agt(here, 'accept', 's1').stderr).toBe('');
  expect(git(here, 'show', '--format=', '--name-status')).toBe('M\tb.txt\nA\tnew');
  expect(readFileSync(join(here, 'b.txt'), 'utf8')).toBe('1, new\n2\n3\n4, late\n');
});

test('a session that somebody takes stays encrypted for its owner, who learns who has it', () => {
  const { here, there } = makeTwo();
  workIn(here);
  agt(here, 'key', 'new');
  const ann = agtOk(here, 'key', 'show');
  const { env } = process;
  withoutKey(() => {
    const bob = env['XDG_CONFIG_HOME'];
    const settings = join(env['HOME'] ?? '', '.agtconfig');
    write(settings, `[agt]\n\trecipients = ${agtOk(there, 'key', 'new')}\n`);
    const asAnn = <T>(action: () => T): T => {
      delete env['XDG_CONFIG_HOME'];
      try {
        return action();
      } finally {
        env['XDG_CONFIG_HOME'] = bob;
      }
    };
    asAnn(() => agtOk(here, 'session', 'push', 's1'));
    rmSync(settings);
    expect(agt(there, 'session', 'pull', 's1', '--take').stderr).toBe(
      `note: origin has s1 encrypted for somebody else as well, such as who pushed it: ${ann}\n` +
        'note: to encrypt it for you and your agt.recipients alone: agt session push s1 --again\n',
    );
    write(join(sessionOf(there, 's1').sandbox, 'c.txt'), 'work of bob\n');
    agtOk(there, 'session', 'push', 's1');
    const theirs = factsOf(sessionOf(there, 's1'));
    asAnn(() => {
      expect(agt(here, 'session', 'push', 's1').stderr).toMatch(/"s1" is away: it is at \S+, in .*\/there\n/);
      agtOk(here, 'session', 'pull', 's1', '--take');
      expect(factsOf(sessionOf(here, 's1'))).toEqual(theirs);
    });
    agtOk(there, 'session', 'pull', 's1', '--take');
    expect(agtOk(there, 'session', 'push', 's1', '--again')).toMatch(/^pushed/);
    asAnn(() => {
      const away = agt(here, 'session', 'push', 's1').stderr;
      expect(away).toMatch(
        /^error: session "s1" is away: somebody else has it on origin, encrypted for other keys\n(?:hint: 1 snapshot here .*\n)?hint: to take it: .*\nhint: or go on .*: agt session fork s1\n$/,
      );
      expect(agt(here, 'session', 'push', 's1', '--again').stderr).toContain('encrypted for other keys');
      expect(agt(here, 'session', 'pull', 's1', '--take').stderr).toContain('encrypted for other keys');
      agtOk(here, 'session', 'fork', 's1');
    });
    write(settings, `[agt]\n\trecipients = ${ann}\n`);
    agtOk(there, 'session', 'push', 's1');
    rmSync(settings);
    asAnn(() => agtOk(here, 'session', 'pull', 's1', '--take'));
  });
});

test('what was seen and rejected in agt review goes along, both ways', () => {
  const { here, there } = makeTwo();
  agtOk(here, 'session', 'new', '--id', 's1');
  for (const name of ['seen', 'no', 'open']) write(join(sessionOf(here, 's1').sandbox, name), `${name}\n`);
  const marks = (cwd: string) => JSON.parse(agtOk(cwd, 'review', 's1', '--json')) as object;
  agtOk(here, 'review', 's1', '--seen', 'seen');
  agtOk(here, 'review', 's1', '--reject', 'no', '-m', 'not this one');
  const before = marks(here);
  agtOk(here, 'session', 'push', 's1');
  agtOk(there, 'session', 'pull', 's1', '--take');
  expect(marks(there)).toEqual(before);
  agtOk(there, 'review', 's1', '--seen', 'open');
  const after = marks(there);
  expect(after).not.toEqual(before);
  agtOk(there, 'session', 'push', 's1', '--release');
  agtOk(here, 'session', 'pull', 's1');
  expect(marks(here)).toEqual(after);
});

test.each([[[]], [['--keep']]])(
  'the work of a session that is away goes off the branch again (%s)',
  (keep) => {
    const { here, there } = makeTwo();
    agtOk(here, 'session', 'new', '--id', 's1');
    write(join(sessionOf(here, 's1').sandbox, 'a.txt'), 'one, by the agent\n');
    agtOk(here, 'session', 'push', 's1');
    const before = git(here, 'rev-parse', 'main');
    agtOk(here, 'accept', 's1', ...keep);
    agtOk(there, 'session', 'pull', 's1', '--take');
    expect(agt(here, 'session', 'push', 's1').stderr).toContain('"s1" is away');
    const record = join(here, '.git/agt/sessions/s1.json');
    const state = () => (JSON.parse(readFileSync(record, 'utf8')) as { state: string }).state;
    expect(state()).toBe(keep.length === 0 ? 'accepted' : 'away');
    const refused = agt(here, 'reject', 's1').stderr;
    expect(refused).toContain('hint: bring it here: agt session pull s1 --take\n');
    expect(refused).not.toContain('agt undo');
    expect(agtOk(here, 'unaccept', 's1')).toContain('s1 stays away');
    expect([git(here, 'rev-parse', 'main'), git(here, 'status', '--porcelain')]).toEqual([before, '']);
    expect(state()).toBe(keep.length === 0 ? 'removed' : 'away');
    agtOk(here, 'session', 'pull', 's1', '--take');
    agtOk(here, 'accept', 's1');
    expect(agtOk(here, 'doctor')).toContain('nothing is wrong');
  },
);

test('a session that is given away, and that nobody else can open: agt says so, and the way that it names works', () => {
  const { here, there } = makeTwo();
  workIn(here);
  agt(here, 'key', 'new');
  const { env } = process;
  const note = /note: only your key opens it; for others: (.*) KEY && (.*)\n/;
  expect(agt(here, 'session', 'push', 's1').stderr).not.toMatch(note);
  const [, add = '', again = ''] = note.exec(agt(here, 'session', 'push', 's1', '--release').stderr) ?? [];
  const settings = join(env['HOME'] ?? '', '.agtconfig');
  const key = withoutKey(() => [env['XDG_CONFIG_HOME'], agtOk(there, 'key', 'new')] as const);
  agtOk(here, ...add.split(' ').slice(1), key[1]);
  expect(agt(here, ...again.split(' ').slice(1))).toMatchObject({ exitCode: 0, stderr: '' });
  rmSync(settings);
  withoutKey(() => {
    env['XDG_CONFIG_HOME'] = key[0];
    agtOk(there, 'session', 'pull', 's1');
  });
});
