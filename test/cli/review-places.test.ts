/** agt review: the places that a person names, and what it says of them. */
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeSession, type TestSession } from '../harness/session.ts';
import { agt, agtOk, git } from '../harness/world.ts';
import { hook, say } from '../integrations/hooks.ts';

const LINES = Array.from({ length: 20 }, (_, i) => `line ${i}\n`);
const START = { 'src/a': LINES.join(''), gone: 'one\ntwo\n', bin: 'a\0b', tool: '#!\n' };

function begin(): TestSession {
  const session = makeSession(START);
  const put = (name: string, text: string) => writeFileSync(join(session.sandbox, name), text);
  put('src/a', LINES.with(9, 'nine\n').join(''));
  put('src/m', 'm\n');
  put('b', 'b\n');
  return session;
}

const review = ({ repository }: TestSession, ...words: string[]) =>
  agtOk(repository, 'review', 's1', ...words);
const refused = ({ repository }: TestSession, ...words: string[]) =>
  agt(repository, 'review', 's1', ...words).stderr;

test('a line that a whole file does not have is refused', () => {
  const session = begin();
  const { sandbox } = session;
  writeFileSync(join(sandbox, 'empty'), '');
  writeFileSync(join(sandbox, 'bin'), 'a\0c');
  chmodSync(join(sandbox, 'tool'), 0o755);
  rmSync(join(sandbox, 'gone'));
  const hints = {
    'src/m:7': 'the nearest new hunk: src/m:1',
    'gone:3': 'the nearest new hunk: gone:2',
    'src/a:99': 'the nearest new hunk: src/a:13',
    'empty:1': 'leave out the line',
    'bin:1': 'leave out the line',
    'tool:2': 'leave out the line',
  };
  for (const [place, hint] of Object.entries(hints)) {
    const error = `error: nothing new in ${place}\nhint: ${hint}\n`;
    expect(refused(session, '--seen', place)).toBe(error);
    expect(refused(session, '--reject', place, '-m', 'no', '--now')).toBe(error);
  }
  expect(existsSync(join(sandbox, 'src/m'))).toBe(true);
  review(session, '--seen', 'src/m:1', 'gone:2', 'empty');
  expect(refused(session, '--new', 'src/m:7')).toBe(
    'error: nothing marked in src/m:7\nhint: the nearest marked hunk: src/m:1\n',
  );
});

test('a renamed file is one change, whatever the line', () => {
  const session = makeSession(START);
  git(session.sandbox, 'mv', 'src/a', 'c');
  for (const place of ['c:4', 'c:99', 'src/a:99'])
    expect(refused(session, '--seen', place)).toMatch(/a rename is one change\nhint: leave out the line\n/);
});

test('a dot is all below the directory of the user, or all of the sandbox', () => {
  const session = begin();
  const { repository, sandbox } = session;
  const seen = (cwd: string, ...words: string[]) => agtOk(cwd, 'review', 's1', '-n', ...words);
  const all = 's1: would mark 3 hunks in 3 files as seen';
  for (const cwd of [repository, sandbox]) expect(seen(cwd, '--seen', '.')).toBe(all);
  expect(seen(repository, '--seen', sandbox)).toBe(all);
  expect(seen(join(sandbox, 'src'), '--seen', '..')).toBe(all);
  expect(seen(join(sandbox, 'src'), '--seen', '.')).toBe('s1: would mark 2 hunks in 2 files as seen');
  expect(seen(repository, '--all', '--', '.')).toBe(all);
  mkdirSync(join(sandbox, 'none'));
  expect(agt(join(sandbox, 'none'), 'review', 's1', '--seen', '.').stderr).toContain(
    'error: no change in .\n',
  );
  expect(refused(session, '--reject', '', '-m', 'no', '--now')).toMatch(/^error: a path is empty\n/);
  expect(refused(session, '--all', '--', '')).toMatch(/^error: a path is empty\n/);
  review(session, '--reject', '.', '-m', 'no', '--now');
  expect(git(sandbox, 'status', '--porcelain')).toBe('');
  expect(refused(session, '--seen', '.')).toContain('error: no change in .\n');
});

test('rejected places are all named, however many, and of every kind', () => {
  const session = begin();
  const { sandbox } = session;
  const rejects = (...words: string[]) => review(session, '--reject', ...words, '-m', 'no', '-n');
  expect(rejects('src')).toBe('s1: would reject 2 hunks in 2 files (src/a:7-13, all of src/m)');
  expect(rejects('src/m', 'b')).toBe('s1: would reject 2 hunks in 2 files (all of b, all of src/m)');
  writeFileSync(join(sandbox, 'bin'), 'a\0c');
  chmodSync(join(sandbox, 'tool'), 0o755);
  rmSync(join(sandbox, 'gone'));
  expect(rejects('bin', 'tool', 'gone')).toBe('s1: would reject 3 hunks in 3 files (bin, all of gone, tool)');
  for (let i = 0; i < 12; i++) writeFileSync(join(sandbox, `n${i}`), `${i}\n`);
  expect(rejects('.')).toMatch(/^s1: would reject 18 hunks in 18 files \(all of b, bin, .*, and 8 more\)$/);
});

test('rejected hunks: when they go depends on whether the agent is at work', () => {
  const session = begin();
  const { sandbox } = session;
  const rejects = (place: string) => review(session, '--reject', place, '-m', 'no');
  const next = 'when the agent ends its next turn or exits (by its hooks), or now: agt review s1 --now';
  expect(rejects('b')).toBe(
    `s1: rejected 1 hunk in 1 file (all of b); it stays out of agt accept, and goes ${next}`,
  );
  say(sandbox, 'go on');
  expect(rejects('src/m')).toMatch(/and goes when the agent ends its turn, or now: agt review s1 --now$/);
  hook(sandbox, 'Stop');
  expect([existsSync(join(sandbox, 'b')), existsSync(join(sandbox, 'src/m'))]).toEqual([false, false]);
  expect(rejects('src/a')).toContain(`and goes ${next}`);
  hook(sandbox, 'SessionEnd');
  expect(git(sandbox, 'status', '--porcelain')).toBe('');
});
